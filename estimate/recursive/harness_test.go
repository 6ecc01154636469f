package recursive

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// ofRows is a run that knows the number of rows and nothing else.
func ofRows(n float64) program.Run { return program.Run{Columns: &program.Columns{Rows: n}} }
