package kssu19

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestExpectSaysHowFarApart: what a refusal after a fit asks for, a plan says for free.
func TestExpectSaysHowFarApart(t *testing.T) {
	p := estimate.Problem{Columns: 2, Components: 2, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(10, 1e-6), Budget: privacy.Budget{Epsilon: 10, Delta: 1e-6}}
	for name, want := range map[string]string{vempalaWang: "sixty sds apart", "": "ten sds apart"} {
		p.Learner = name
		if got := strings.Join(NewSampleAggregate(Practical()).Expect(p).Notes, "; "); !strings.Contains(got, want) {
			t.Errorf("%q: no %q in %q", name, want, got)
		}
	}
}

// TestBlocksGrowWithRows: 16 times the rows make 4 times the blocks, each 4 times as large: with a
// fixed number of blocks their noise, and so the error, stays where it is however many rows there
// are. Of few rows, blocks have the least size.
func TestBlocksGrowWithRows(t *testing.T) {
	e := NewSampleAggregate(Practical())
	p := estimate.Problem{Columns: 3, Components: 2, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(3, 1e-6), Budget: privacy.Budget{Epsilon: 3, Delta: 1e-6}}
	need := e.rowsNeeded(p)
	if got, want := e.blocksOf(p, need), e.blocksNeeded(p); math.Abs(float64(got)-want) > 1 {
		t.Errorf("%.0f rows: %d blocks, want %.0f", need, got, want)
	}
	few, many := e.blocksOf(p, 2*need), e.blocksOf(p, 32*need)
	if ratio := float64(many) / float64(few); math.Abs(ratio-4) > .05 {
		t.Errorf("16 times the rows make %.2f times the blocks, want 4", ratio)
	}
	if got := e.blocksOf(p, 1e300); got > maxEstimates/2 {
		t.Errorf("%d blocks are more than can be pooled", got)
	}
}
