package separated

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/component"
)

var (
	shapes    = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
)

// muOne is the mu of (1, 1e-6).
var muOne = privacy.MuOf(1, 1e-6)

// fresh is noise from the operating system.
var fresh = kerneltest.Options{Fresh: true}

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// ofRows is a run that knows the number of rows and nothing else.
func ofRows(n float64) program.Run { return program.Run{Columns: &program.Columns{Rows: n}} }

// gaussAt is a round component in d coordinates.
func gaussAt(weight, sd float64, mean ...float64) component.Gaussian {
	cov := mat.NewSymDense(len(mean), nil)
	cov.ScaleSym(sd*sd, symmetric.Identity(len(mean)))
	return component.Gaussian{Weight: weight, Mean: mean, Cov: cov, Uncertainty: component.StartUncertainty()}
}

func agree(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
