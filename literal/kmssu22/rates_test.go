package kmssu22

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The rates: the eigenvalues need d^1.5/epsilon rows and one gap in the middle of the spectrum
// d^2/epsilon, up to logarithms, here measured on the numbers of rows that the method asks for.
//
// Shows: [KMSSU22] Theorem 3.1; Theorem 5.1.
func TestRates(t *testing.T) {
	at := func(d int, eps float64) (eigenvalues, gap float64) {
		p := estimate.Problem{Columns: d, Mu: privacy.MuOf(eps, delta), Budget: privacy.Budget{Epsilon: eps, Delta: delta}}
		m := Practical().means(p)
		return m.leastNeeded(p.Mu), m.gapNeeded(p.Mu)
	}
	slope := func(x1, y1, x2, y2 float64) float64 { return math.Log(y2/y1) / math.Log(x2/x1) }
	e1, g1 := at(50, .1)
	e2, g2 := at(400, .1)
	ofEigenvalues, ofGap := slope(50, e1, 400, e2), slope(50, g1, 400, g2)
	e3, g3 := at(50, .01)
	byEpsilon, gapByEpsilon := slope(.1, e1, .01, e3), slope(.1, g1, .01, g3)
	t.Logf("eigenvalues d^%.3f epsilon^%.3f, a gap d^%.3f epsilon^%.3f", ofEigenvalues, byEpsilon, ofGap, gapByEpsilon)
	if math.Abs(ofEigenvalues-1.5) > .1 || math.Abs(ofGap-2) > .1 || math.Abs(byEpsilon+1) > .1 || math.Abs(gapByEpsilon+1) > .1 {
		t.Errorf("eigenvalues d^%.3f epsilon^%.3f, a gap d^%.3f epsilon^%.3f", ofEigenvalues, byEpsilon, ofGap, gapByEpsilon)
	}
}
