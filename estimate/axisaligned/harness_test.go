package axisaligned

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/knowncov"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// fresh is noise from the operating system.
var fresh = kerneltest.Options{Fresh: true}

const (
	delta = 1e-6
	good  = .15 // the total variation below which a run succeeds
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// variation is the total variation of a fit from the truth; a refusal and no release count as 1.
func variation(t testing.TB, truth *model.Mixture, f estimatetest.Fit, rng *rand.Rand) float64 {
	t.Helper()
	if f.Model == nil {
		return 1
	}
	tv, _ := estimatetest.TV(t, truth, f.Model, 4000, rng)
	return tv
}

// tested is the method as people use it.
var tested = New(knowncov.New(), program.OneGaussian{Estimator: gaussian.New(), Steps: gaussian.Steps, FitSubBudget: gaussian.FitSubBudget})
