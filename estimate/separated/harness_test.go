package separated

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
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
