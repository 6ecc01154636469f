package privateem

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// Both forms of square give the same bits, whatever the numbers; those of exp differ by a few units
// of the last place, where they end at all, and NaN is NaN.
func TestForms(t *testing.T) {
	rng, best := rand.New(rand.NewPCG(stattest.Seed(t), 1)), path
	defer func() { path = best }()
	number := func() float64 {
		if rng.IntN(50) == 0 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 0}[rng.IntN(5)]
		}
		return rng.NormFloat64() * math.Ldexp(1, rng.IntN(40)-20)
	}
	for trial := range 3000 {
		d := 1 + trial%12
		x, mean, w := make([]lanes, d), make([]float64, d), make([]float64, d*d)
		for j := range x {
			mean[j] = number()
			for r := range x[j] {
				x[j][r] = number()
			}
		}
		for i := range w {
			w[i] = number()
		}
		var got, want lanes
		off, rows := make([]lanes, d), 1+rng.IntN(d)
		path = best && trial%8 > 0
		square(&got, x, w, d, rows, mean, off)
		squareGo(&want, x, w, d, rows, mean, off)
		if a, b := fmt.Sprint(got), fmt.Sprint(want); a != b {
			t.Fatalf("%d columns: square is %v, in Go %v", d, got, want)
		}
		e, eGo := x[0], x[0]
		exp(&e)
		expGo(&eGo)
		for r, v := range e {
			if math.IsNaN(v) != math.IsNaN(eGo[r]) || math.Abs(v-eGo[r]) > 1e-15*eGo[r] {
				t.Fatalf("e^%v is %v, in Go %v", x[0][r], v, eGo[r])
			}
		}
	}
}

// share and away2 are what their comments say.
func TestDrawn(t *testing.T) {
	logs := [][]float64{append([]float64{0, -1, 5, -800}, make([]float64, width-4)...), append([]float64{1, -1, -5, -801}, make([]float64, width-4)...)}
	parts := [][]float64{append([]float64(nil), logs[0]...), append([]float64(nil), logs[1]...)}
	for i, all := range share(parts) {
		a, b := logs[0][i], logs[1][i]
		want := math.Max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
		if math.Abs(all-want) > 1e-12 || math.Abs(parts[0][i]-math.Exp(a-want)) > 1e-12 || math.Abs(parts[0][i]+parts[1][i]-1) > 1e-12 {
			t.Errorf("of e^%v and e^%v: e^%v, parts %v and %v", a, b, all, parts[0][i], parts[1][i])
		}
	}
}

// What is joined is the same in both forms: pieces of three Gaussians, in few columns and in many.
func TestFormsJoinTheSame(t *testing.T) {
	rng, best := rand.New(rand.NewPCG(stattest.Seed(t), 2)), path
	defer func() { path = best }()
	for trial := range 3 {
		d := []int{2, 10, 30}[trial]
		r := &Rounds{Space: component.Flat(d), Form: query.FullForm, Rows: 1e5, Factor: 1}
		for j := range 9 {
			mean := make([]float64, d)
			for l := range mean {
				mean[l] = float64(j%3*(l%2)) + .1*rng.NormFloat64()
			}
			r.Components = append(r.Components, component.Gaussian{Weight: 1. / 9, Mean: mean, Cov: symmetric.Scaled(.5+rng.Float64(), symmetric.Identity(d))})
		}
		var joined [2][]component.Gaussian
		for i, vectors := range []bool{false, best} {
			path = vectors
			now := *r
			now.Components = slices.Clone(r.Components)
			if err := now.MergeIndistinct(t.Context(), func(n, k int) Random { return rand.New(rand.NewPCG(uint64(n), uint64(k))) }, .5); err != nil {
				t.Fatal(err)
			}
			joined[i] = now.Components
		}
		if len(joined[0]) == 9 || !reflect.DeepEqual(joined[0], joined[1]) {
			t.Errorf("%d columns: %d components without vectors, %d with them, or others", d, len(joined[0]), len(joined[1]))
		}
	}
}

// However many pairs are joined, rows are drawn once.
func TestDrawnOnce(t *testing.T) {
	const d, k = 2, 8
	r := &Rounds{Space: component.Flat(d), Form: query.FullForm, Rows: 1e5, Factor: 1}
	for j := range k {
		r.Components = append(r.Components, component.Gaussian{Weight: 1. / k, Mean: []float64{.01 * float64(j), 0}, Cov: symmetric.Identity(d)})
	}
	draws := 0
	random := func(n, k int) Random {
		draws++
		return rand.New(rand.NewPCG(uint64(n), uint64(k)))
	}
	if err := r.MergeIndistinct(t.Context(), random, .5); err != nil || len(r.Components) != 2 || draws != 1 {
		t.Errorf("%d components are left of %d, by %d draws of rows: %v", len(r.Components), k, draws, err)
	}
}
