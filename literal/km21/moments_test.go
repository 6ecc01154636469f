package km21

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Pairs (x-x')/sqrt2 have the bound on the moments that ofPairs says, for laws on three points with
// any odd moments; at k = 2 exactly, and it is more than C where C < 3.
//
// Shows: [TALK] Norms.
func TestPairsKeepMoments(t *testing.T) {
	rng := newRand(t)
	nearest := map[int]float64{}
	for range 30000 {
		var at, share [3]float64
		total, mean := 0.0, 0.0
		for i := range at {
			at[i], share[i] = math.Exp(rng.NormFloat64())*float64(1-2*rng.IntN(2)), math.Exp(2*rng.NormFloat64())
			total += share[i]
		}
		for i := range at {
			share[i] /= total
			mean += share[i] * at[i]
		}
		moment := func(p int) (m, ofPairs float64) {
			for i := range at {
				m += share[i] * math.Pow(at[i]-mean, float64(p))
				for j := range at {
					ofPairs += share[i] * share[j] * math.Pow((at[i]-at[j])/math.Sqrt2, float64(p))
				}
			}
			return m, ofPairs
		}
		variance, _ := moment(2)
		for _, k := range []int{2, 3, 4, 5} {
			m, ofPairs := moment(2 * k)
			unit := math.Pow(variance, float64(k))
			want := class{k, math.Log(m / unit)}.ofPairs()
			quotient := ofPairs / unit / math.Exp(want.bound)
			if quotient > 1+1e-6 || k == 2 && quotient < 1-1e-6 {
				t.Fatalf("k = %d: pairs have %v times the bound, of a law with C = %v", k, quotient, m/unit)
			}
			nearest[k] = math.Max(nearest[k], quotient)
		}
	}
	for k, x := range nearest {
		if x < .5 {
			t.Errorf("k = %d: nowhere nearer to the bound than %v of it", k, x)
		}
	}
	if c := (class{2, math.Log(1.8)}).ofPairs(); math.Abs(math.Exp(c.bound)-2.4) > 1e-9 {
		t.Errorf("pairs of uniform columns have %v, want 2.4", math.Exp(c.bound))
	}
}

// The bound on the moments that is stated is the one that is reckoned with, of rows and of pairs,
// and a smaller one needs fewer rows. A Gaussian's own stated outright is as good as none for rows.
func TestMomentBound(t *testing.T) {
	e := New(Practical())
	problem := func(order int, bound, within float64) estimate.Problem {
		f := knowing(10, 1, within)
		f.Moments, f.MomentBound = order, bound
		return estimate.Problem{Columns: 2, Relation: privacy.ReplaceOne, Mu: 1, Components: 1, Facts: f}
	}
	for _, within := range []float64{0, 10} {
		last := 0.0
		for _, bound := range []float64{1, 1.8, 3, 9, 100} {
			n := e.needed(problem(4, bound, within))
			if !(n > last) {
				t.Errorf("within %v: a bound of %v needs %v rows, a smaller one %v", within, bound, n, last)
			}
			last = n
		}
	}
	if a, b := e.design(problem(4, 0, 0), 1e5).class, e.design(problem(4, 3, 0), 1e5).class; math.Abs(a.bound-b.bound) > 1e-12 {
		t.Errorf("a Gaussian's own: %v and %v", a, b)
	}
	if x := e.design(problem(8, 105, 5), 1e5); x.k != 4 { // without a bound pairs are told of order 6 at most
		t.Errorf("order 8 with a bound of pairs: k = %d", x.k)
	}
	if got := estimate.Unused(e, problem(4, 9, 0)); got != nil {
		t.Errorf("%v is said to be unused", got)
	}
}
