package gaussian

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// long reports that the statistical tests that take minutes were asked for.
func long() bool { return os.Getenv("GAUZE_LONG") != "" }

// tableMu is that of (1, 1e-6), for which the rows needed were measured.
const tableMu = .2367

// tableRows are those of the table of rows needed by d columns.
func tableRows(d int) int {
	return int(math.Round(rowsNeeded(estimate.Problem{Columns: d, Relation: privacy.ReplaceOne, Mu: tableMu}) / 1.25))
}

// rowsNeeded is what the estimator says.
func rowsNeeded(p estimate.Problem) float64 { return New().Expect(p).RowsNeeded }

// world is one random Gaussian: y = scale*(Q sqrt(lambda) z + mean).
type world struct {
	d     int
	a     *mat.Dense // Q sqrt(lambda)
	q     *mat.Dense
	sd    []float64 // sqrt lambda
	mean  []float64
	scale []float64
}

// newWorld draws a geometric spectrum of condition number kappa, a random rotation and a mean at
// offset top sds.
func newWorld(rng *rand.Rand, d int, kappa, offset float64, rank int) world {
	w := world{d: d, a: mat.NewDense(d, d, nil), sd: make([]float64, d), mean: make([]float64, d), scale: make([]float64, d)}
	g := mat.NewDense(d, d, nil)
	norm := 0.0
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
		w.mean[i] = rng.NormFloat64()
		norm = math.Hypot(norm, w.mean[i])
		w.scale[i] = 1
	}
	var qr mat.QR
	qr.Factorize(g)
	w.q = new(mat.Dense)
	qr.QTo(w.q)
	for i := range d {
		w.mean[i] *= offset / norm
		switch {
		case i >= rank:
			w.sd[i] = 0
		case d > 1:
			w.sd[i] = math.Pow(kappa, -.5*float64(i)/float64(rank-1+b2i(rank == 1)))
		default:
			w.sd[i] = math.Pow(kappa, -.5)
			w.mean[i] *= w.sd[i]
		}
		for j := range d {
			w.a.Set(j, i, w.q.At(j, i)*w.sd[i])
		}
	}
	return w
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w world) row(rng *rand.Rand, x []float64) {
	z := make([]float64, w.d)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	for j := range w.d {
		s := w.mean[j]
		for i, v := range z {
			s += w.a.At(j, i) * v
		}
		x[j] = s * w.scale[j]
	}
}

func (w world) rows(rng *rand.Rand, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, w.d)
		w.row(rng, out[i])
	}
	return out
}

// errors are the covariance error |A^-1 S A^-T - I|_F on the range of the world, the mean's
// |A^-1(m'-m)|, and the largest sd in a null direction.
func (w world) errors(o estimate.Outcome) (cov, mean, null float64) {
	g := o.Model.Components[0]
	f := g.Cov.Factor()
	d := w.d
	var rel mat.Dense
	scaled := mat.DenseCopyOf(f)
	dm := make([]float64, d)
	for j := range d {
		for i := range d {
			scaled.Set(j, i, f.At(j, i)/w.scale[j])
		}
		dm[j] = g.Mean[j]/w.scale[j] - w.mean[j]
	}
	rel.Mul(w.q.T(), scaled)
	proj := mat.NewVecDense(d, nil)
	proj.MulVec(w.q.T(), mat.NewVecDense(d, dm))
	rank := 0
	for i := range d {
		if w.sd[i] == 0 {
			null = math.Max(null, mat.Norm(mat.NewVecDense(d, rel.RawRowView(i)), 2))
			continue
		}
		rank++
		for j := range d {
			rel.Set(i, j, rel.At(i, j)/w.sd[i])
		}
		mean += math.Pow(proj.AtVec(i)/w.sd[i], 2)
	}
	var s mat.Dense
	s.Mul(&rel, rel.T())
	for i := range rank {
		for j := range rank {
			e := s.At(i, j)
			if i == j {
				e--
			}
			cov += e * e
		}
	}
	return math.Sqrt(cov), math.Sqrt(mean), null
}

// setting is one line of a table of simulations.
type setting struct {
	d, n   int
	rel    privacy.Relation
	eps    float64
	rho    float64 // instead of eps
	cov    estimate.CovarianceType
	method estimate.Estimator // New() if nil
	seed   uint64             // of the noise, which is fresh if 0
	sample func(rng *rand.Rand) (rows [][]float64, score func(estimate.Outcome) float64)
}

func (s setting) budget() privacy.Budget {
	switch {
	case s.rho > 0:
		return privacy.Budget{Rho: s.rho}
	case s.eps > 0:
		return privacy.Budget{Epsilon: s.eps, Delta: 1e-6}
	}
	return privacy.Budget{Epsilon: 1, Delta: 1e-6}
}

func (s setting) problem() estimate.Problem {
	p := estimate.Problem{Columns: s.d, Relation: s.rel, Mu: privacy.MuOfRho(s.rho), Components: 1, Covariance: s.cov}
	if b := s.budget(); s.rho == 0 {
		p.Mu = privacy.MuOf(b.Epsilon, b.Delta)
	}
	if s.rel == privacy.ReplaceOne {
		p.Rows = s.n
	}
	return p
}

// fit runs the estimator on rows with fresh, unseeded noise and checks that the plan held.
func (s setting) fit(t testing.TB, rows [][]float64) estimate.Outcome {
	p, method := s.problem(), s.method
	if method == nil {
		method = New()
	}
	plan, err := method.Plan(p)
	if err != nil {
		return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: err.Error(), Advice: "refused"}}
	}
	terms := kernel.Terms{Relation: s.rel, Budget: s.budget(), Engine: kernel.LocalEngine{Workers: 1}}
	session := kerneltest.Open(t, kerneltest.Table(rows, s.d, terms.Relation), plan, terms, kerneltest.Options{Fresh: s.seed == 0, Seed: s.seed})
	out, err := method.Fit(context.Background(), session, p)
	if err != nil {
		t.Errorf("fit: %v", err)
	}
	return out
}

// result counts what became of the runs of a setting.
type result struct {
	runs, ok, good, bad int
	unresolved          int     // of ok; those say that the spread in some direction is not seen
	sum                 float64 // over the others
	reasons             map[string]int
}

func (r result) String() string {
	return fmt.Sprintf("runs %d released %d within2x %d (%.0f%%) beyond4x %d mean x%.2f %v", r.runs, r.ok, r.good,
		100*float64(r.good)/float64(r.runs), r.bad, r.sum/math.Max(1, float64(r.ok-r.unresolved)), r.reasons)
}

// simulate repeats a setting with fresh random data.
func simulate(t testing.TB, s setting, runs int) result {
	res := result{runs: runs, reasons: map[string]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan int, runs)
	for i := range runs {
		next <- i
	}
	close(next)
	for range 2 {
		wg.Go(func() {
			for range next {
				rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
				rows, score := s.sample(rng)
				out := s.fit(t, rows)
				mu.Lock()
				if out.NoRelease != nil {
					res.reasons[strings.Trim(out.NoRelease.Reason, "about 0123456789")]++
				} else {
					x := score(out)
					res.ok++
					if slices.ContainsFunc(out.Diagnostics.Flags, func(f estimate.Flag) bool { return f.Code == flags.Unresolved }) {
						res.unresolved++
					} else {
						res.sum += x
					}
					res.good += b2i(x <= 2)
					res.bad += b2i(!(x <= 4))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return res
}

// gaussianSetting is a random Gaussian; the score is the covariance error over the non-private
// sqrt(d(d+1)/n).
func gaussianSetting(d, n int, rel privacy.Relation, kappa, offset float64) setting {
	return setting{d: d, n: n, rel: rel, sample: func(rng *rand.Rand) ([][]float64, func(estimate.Outcome) float64) {
		w := newWorld(rng, d, kappa, offset, d)
		return w.rows(rng, n), func(o estimate.Outcome) float64 {
			cov, _, _ := w.errors(o)
			return cov / math.Sqrt(float64(d*(d+1))/float64(n))
		}
	}}
}

// diagonalSetting is a random Gaussian of uncorrelated columns, in wild units unless spherical; the
// score is the error of the variances over the non-private one.
func diagonalSetting(cov estimate.CovarianceType, d, n int, rel privacy.Relation) setting {
	return setting{d: d, n: n, rel: rel, cov: cov, sample: func(rng *rand.Rand) ([][]float64, func(estimate.Outcome) float64) {
		w := world{d: d, a: mat.DenseCopyOf(symmetric.Identity(d)), mean: make([]float64, d), scale: make([]float64, d)}
		for j := range d {
			w.scale[j] = 1
			if cov == estimate.Diagonal {
				w.scale[j] = math.Exp(10 * rng.NormFloat64())
			}
			w.mean[j] = 10 * rng.NormFloat64()
		}
		return w.rows(rng, n), func(o estimate.Outcome) float64 {
			sum := 0.0
			for j := range d {
				v := o.Model.Components[0].Cov.At(j, j)/w.scale[j]/w.scale[j] - 1
				sum += v * v
			}
			if cov == estimate.Spherical { // one variance from d n values, seen d times
				return math.Sqrt(sum/float64(d)) / math.Sqrt(2/float64(d*n))
			}
			return math.Sqrt(sum / (2 * float64(d) / float64(n)))
		}
	}}
}
