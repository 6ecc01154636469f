package km21

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

var (
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	shapes    = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

func newRand(t testing.TB) *rand.Rand {
	return rand.New(rand.NewPCG(stattest.Seed(t), 21))
}

// A law is a distribution of mean 0 and covariance I, made of a standard Gaussian vector times an
// independent number.
type law func(rng *rand.Rand) float64

func gaussian(*rand.Rand) float64 { return 1 }

// student is the law of a multivariate t with nu degrees of freedom, scaled to covariance I.
func student(nu int) law {
	return func(rng *rand.Rand) float64 {
		chi2 := 0.0
		for range nu {
			z := rng.NormFloat64()
			chi2 += z * z
		}
		return math.Sqrt(float64(nu-2) / chi2)
	}
}

// rowsOf are n rows of mean and covariance of g.
func rowsOf(rng *rand.Rand, g model.Gaussian, n int, l law) [][]float64 {
	f := g.Cov.Factor()
	d, width := f.Dims()
	rows := make([][]float64, n)
	z := mat.NewVecDense(width, nil)
	x := mat.NewVecDense(d, nil)
	for i := range rows {
		scale := l(rng)
		for j := range width {
			z.SetVec(j, scale*rng.NormFloat64())
		}
		x.MulVec(f, z)
		rows[i] = make([]float64, d)
		for j := range d {
			rows[i][j] = g.Mean[j] + x.AtVec(j)
		}
	}
	return rows
}

// truthOf is a random Gaussian whose covariance has geometric eigenvalues from top/kappa to top,
// and whose mean has the given length.
func truthOf(t testing.TB, rng *rand.Rand, d int, kappa, top, offset float64) model.Gaussian {
	t.Helper()
	q := rotation(rng, d)
	mean := make([]float64, d)
	for i := range d {
		mean[i] = offset * q.At(i, 0)
	}
	turn := rotation(rng, d)
	for j := range d {
		sd := math.Sqrt(top)
		if d > 1 {
			sd *= math.Pow(kappa, -.5*float64(j)/float64(d-1))
		} else {
			sd /= math.Pow(kappa, .25) // in the middle of the bounds
		}
		for i := range d {
			turn.Set(i, j, turn.At(i, j)*sd)
		}
	}
	cov, err := model.FullFromFactor(turn)
	if err != nil {
		t.Fatal(err)
	}
	return model.Gaussian{Mean: mean, Cov: cov}
}

func rotation(rng *rand.Rand, d int) *mat.Dense {
	g, q := mat.NewDense(d, d, nil), new(mat.Dense)
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	qr.QTo(q)
	return q
}

// knowing is what is known of truthOf: bounds on the eigenvalues, and on the mean if it is not the
// origin.
func knowing(kappa, top, within float64) estimate.Facts {
	return estimate.Facts{KnowsMean: true, MeanWithin: within, Eigenvalues: [2]float64{top / kappa, top}, Moments: 4}
}

// errorsOf are the errors of mean and covariance, relative to the truth's covariance.
func errorsOf(truth model.Gaussian, f estimatetest.Fit) (mean, cov float64) {
	got := f.Model.Components[0]
	return madeup.Distances(truth, got)
}
