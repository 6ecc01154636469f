package gaussian

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/clip"
)

// TestConsistency: the defining equation in d = 1 has the Cauchy scale of a Gaussian, c = s^2 with
// E[2q/(c+q)] = 1.
func TestConsistency(t *testing.T) {
	if c := consistency(1, 1); math.Abs(math.Sqrt(c)-.6120) > 1e-3 {
		t.Errorf("d=1: sqrt c = %v, want .6120", math.Sqrt(c))
	}
	for _, d := range []int{1, 5, 50} {
		if a, b := consistency(d, 1), consistency(d, float64(d)); !(a > 0 && a < 1 && b > 0 && b < 1) {
			t.Errorf("d=%d: c = %v, %v, want in (0, 1)", d, a, b)
		}
	}
	if c := consistency(4, 1e9); math.Abs(c-1) > 1e-6 {
		t.Errorf("nu to infinity is the Gaussian: c = %v, want 1", c)
	}
}

// TestInvert: the inversion finds the Gaussian whose clipped moments (by other points) it is given.
func TestInvert(t *testing.T) {
	const d, r2 = 3, 4.0
	delta := []float64{.1, -.2, 0}
	cov := mat.NewSymDense(d, []float64{1.3, .2, 0, .2, .8, -.1, 0, -.1, 1})
	_, root := symmetric.FlooredRoot(cov, leastEigen)
	rng := rand.New(rand.NewPCG(1, 2))
	fresh := clip.Points{D: d, Z: make([]float64, 400000*d)}
	for i := range fresh.Z {
		fresh.Z[i] = rng.NormFloat64()
	}
	mean, second := fresh.Moments(delta, root, r2)
	gotDelta, gotRoot := invert(last{mean: mean, second: second, r2: r2, meanSD: 1, secondSD: 1}, nil)
	var got mat.Dense
	got.Mul(gotRoot, gotRoot)
	for i := range d {
		if math.Abs(gotDelta[i]-delta[i]) > .02 {
			t.Errorf("delta %v, want %v", gotDelta, delta)
		}
		for j := range d {
			if math.Abs(got.At(i, j)-cov.At(i, j)) > .04 {
				t.Errorf("covariance (%d,%d) = %v, want %v", i, j, got.At(i, j), cov.At(i, j))
			}
		}
	}
}

// TestReplay: everything is a function of released values: the answers of one table, replayed on
// another (with another n where n is private), give the same queries, costs and outcome.
func TestReplay(t *testing.T) {
	for _, cov := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
		for _, d := range []int{3, 9} {
			for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
				const n = 6000
				other := n
				if rel == privacy.AddRemoveOne {
					other = 10
				}
				p := setting{d: d, n: n, rel: rel, cov: cov}.problem()
				plan, err := New().Plan(p)
				if err != nil {
					t.Fatal(err)
				}
				terms := kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
				var first, second kerneltest.Transcript
				a := kerneltest.Open(t, kerneltest.Table(filled(n, d, func(i, j int) float64 { return rand.NormFloat64() }), d, terms.Relation), plan, terms, kerneltest.Options{Fresh: true, Record: &first})
				outA, err := New().Fit(context.Background(), a, p)
				if err != nil {
					t.Fatal(err)
				}
				b := kerneltest.Open(t, kerneltest.Table(filled(other, d, func(i, j int) float64 { return 1e9 }), d, terms.Relation), plan, terms, kerneltest.Options{Fresh: true, Record: &second, Replay: &first})
				outB, err := New().Fit(context.Background(), b, p)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(outA, outB) || !reflect.DeepEqual(first.Mus, second.Mus) || !reflect.DeepEqual(first.Steps, second.Steps) {
					t.Errorf("%v d=%d %v: the replay differs", cov, d, rel)
				}
				if outA.Model == nil {
					t.Errorf("%v d=%d %v: %+v", cov, d, rel, outA.NoRelease)
				}
			}
		}
	}
}

// TestSpendsAll: the last release leaves nothing, and the whole never exceeds the total.
func TestSpendsAll(t *testing.T) {
	p := setting{d: 2, n: 3000, rel: privacy.ReplaceOne}.problem()
	plan, _ := New().Plan(p)
	terms := kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(filled(3000, 2, func(i, j int) float64 { return rand.NormFloat64() }), 2, terms.Relation), plan, terms, kerneltest.Options{Fresh: true})
	if _, err := New().Fit(context.Background(), s, p); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, m := range s.Measurements() {
		sum += float64(m.Count) * m.Mu * m.Mu
	}
	if total := s.Mu() * s.Mu(); sum > total*(1+1e-12) || sum < total*(1-1e-9) {
		t.Errorf("spent mu^2 = %v of %v", sum, total)
	}
}

func TestPlanAndExpect(t *testing.T) {
	if _, err := New().Plan(estimate.Problem{Columns: 3, Rows: 1, Relation: privacy.ReplaceOne, Mu: .2}); err == nil {
		t.Error("one row: want a refusal")
	}
	for _, n := range needs {
		e := New().Expect(estimate.Problem{Columns: int(n.d), Rows: int(2 * n.n), Relation: privacy.ReplaceOne, Mu: tableMu})
		if math.Abs(e.RowsNeeded/(planFactor*n.n)-1) > 1e-9 || !(e.RelativeError > 1 && e.RelativeError < 2) {
			t.Errorf("d=%v: %+v", n.d, e)
		}
	}
	for d, want := range map[int]string{
		1:  "needs about 1300 rows at this epsilon",
		10: "needs about 3200 rows at this epsilon; or fewer columns",
		50: "needs about 34000 rows at this epsilon; or fewer columns, or --covariance diagonal",
	} {
		if got := advice(estimate.Problem{Columns: d, Relation: privacy.ReplaceOne, Mu: tableMu}); got != want {
			t.Errorf("advice for %d columns: %q, want %q", d, got, want)
		}
	}
}
