package general

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var (
	shapes    = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
)

// muOne is the mu of (1, 1e-6).
var muOne = privacy.MuOf(1, 1e-6)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// tested is the method as people use it.
var tested = New(program.OneGaussian{Estimator: gaussian.New(), Steps: gaussian.Steps, FitSubBudget: gaussian.FitSubBudget})
