package coreset

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// box is the identity in q dimensions and the half-widths of a box.
func box(q int) (frame query.Affine, half []float64) {
	frame.Center = make([]float64, q)
	for i := range q {
		row := make([]float64, q)
		row[i] = 1
		frame.Columns, frame.W, half = append(frame.Columns, i), append(frame.W, row), append(half, 8)
	}
	return frame, half
}

// TestToSimplex: the projection x of v is non-negative, sums to the total and satisfies the
// conditions of Karush, Kuhn and Tucker: v-x is one number where x is positive and at most that
// number elsewhere.
func TestToSimplex(t *testing.T) {
	rng := newRand(t)
	for range 2000 {
		v := make([]float64, 1+rng.IntN(16))
		for i := range v {
			v[i] = 100 * rng.NormFloat64() * math.Pow(10, float64(rng.IntN(4)))
		}
		total := math.Pow(10, 5*rng.Float64()-1)
		x := append([]float64(nil), v...)
		toSimplex(x, total)
		sum, shift := 0.0, math.NaN()
		for i, a := range x {
			sum += a
			if a < 0 {
				t.Fatalf("negative: %v", x)
			}
			if a > 0 {
				shift = v[i] - a
			}
		}
		if math.Abs(sum-total) > 1e-9*(total+1e6) {
			t.Fatalf("sum %v, want %v", sum, total)
		}
		for i, a := range x {
			if d := v[i] - a - shift; a > 0 && math.Abs(d) > 1e-7 || d > 1e-7 {
				t.Fatalf("%v of %v: entry %d violates the conditions by %v", x, v, i, d)
			}
		}
	}
}

// TestCoresetKeepsMass: whatever the noise, the leaves weigh what the kept cells of the first level
// weigh, lie in the box and have positive weight.
func TestCoresetKeepsMass(t *testing.T) {
	rng := newRand(t)
	for _, q := range []int{1, 2, 3, 4} {
		for range 8 {
			rows := make([][]float64, 600)
			for i := range rows {
				rows[i] = make([]float64, q)
				for j := range rows[i] {
					rows[i][j] = rng.NormFloat64() * math.Pow(2, float64(i%3))
				}
			}
			frame, half := box(q)
			first, last := Levels(q, false)
			var tr kerneltest.Transcript
			plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "tree", Query: query.GridCounts{}.Kind(), Share: 1, Most: last}}}
			mu := .3 + 3*rng.Float64()
			s := kerneltest.Open(t, kerneltest.Table(rows, q, privacy.AddRemoveOne), plan, kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Rho: mu * mu / 2}},
				kerneltest.Options{Seed: rng.Uint64(), Record: &tr})
			c, err := Build(s.SubBudget(), "tree", frame, half, first, last, 3, s.Mu()*(1-1e-12))
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for _, v := range tr.Answers[0] {
				if v >= keepAbove*c.SD {
					want += v
				}
			}
			sum := 0.0
			for i, p := range c.Points {
				sum += c.Weights[i]
				if c.Weights[i] <= 0 {
					t.Errorf("q %d: a leaf weighs %v", q, c.Weights[i])
				}
				for l, x := range p {
					if math.Abs(x)+math.Sqrt(3*c.Cells[i][l]) > half[l]*(1+1e-12) {
						t.Errorf("q %d: a leaf at %v reaches out of the box", q, p)
					}
				}
			}
			if math.Abs(sum-want) > 1e-6*want || math.Abs(c.Total-sum) > 1e-6*want {
				t.Errorf("q %d: leaves weigh %v (total %v), want %v", q, sum, c.Total, want)
			}
		}
	}
}

// TestTreesSideBySide: two trees that grow in turn, each from its own answers, have the leaves that
// each has alone; the answers are left as they were.
func TestTreesSideBySide(t *testing.T) {
	rng := newRand(t)
	for _, q := range []int{1, 2, 3} {
		frame, half := box(q)
		first, last := Levels(q, true)
		const least, sd = 3, 2
		answer := func(rng *rand.Rand, size int) []float64 {
			counts := make([]float64, size)
			for i := range counts {
				counts[i] = sd*rng.NormFloat64() + 40*math.Max(0, rng.NormFloat64()-1)
			}
			counts[0] += 100 // some cell is split
			return counts
		}
		seeds := [2]uint64{rng.Uint64(), rng.Uint64()}
		var alone [2]*Coreset
		for i, seed := range seeds {
			rng, tree := rand.New(rand.NewPCG(seed, 0)), NewTree(frame, half, first, last, least)
			for {
				asked, ok := tree.Next()
				if !ok {
					break
				}
				tree.Take(answer(rng, asked.Size()), sd)
			}
			alone[i] = tree.Coreset()
			if len(alone[i].Points) == 0 {
				t.Fatalf("q %d: the tree has no leaves", q)
			}
		}
		trees := [2]*Tree{NewTree(frame, half, first, last, least), NewTree(frame, half, first, last, least)}
		rngs := [2]*rand.Rand{rand.New(rand.NewPCG(seeds[0], 0)), rand.New(rand.NewPCG(seeds[1], 0))}
		for range last - first + 1 {
			var sizes [2]int
			var counts []float64
			for i, tree := range trees {
				if asked, ok := tree.Next(); ok {
					sizes[i] = asked.Size()
					counts = append(counts, answer(rngs[i], sizes[i])...)
				}
			}
			before := append([]float64(nil), counts...)
			at := 0
			for i, tree := range trees {
				if sizes[i] > 0 {
					tree.Take(counts[at:at+sizes[i]], sd)
					at += sizes[i]
				}
			}
			if !reflect.DeepEqual(counts, before) {
				t.Fatalf("q %d: Take changed the answer", q)
			}
		}
		for i, tree := range trees {
			if _, more := tree.Next(); more {
				t.Errorf("q %d: tree %d is not finished after its last level", q, i)
			}
			if !reflect.DeepEqual(tree.Coreset(), alone[i]) {
				t.Errorf("q %d: tree %d has other leaves than alone", q, i)
			}
		}
	}
}

// TestTakePanics: an answer of another size, and one that was not asked for, are the caller's
// faults.
func TestTakePanics(t *testing.T) {
	frame, half := box(1)
	tree := NewTree(frame, half, 1, 1, 0)
	mustPanic(t, "too few counts", func() { tree.Take([]float64{1}, 1) })
	tree.Take([]float64{9, 9}, 1)
	mustPanic(t, "a finished tree", func() { tree.Take([]float64{9, 9}, 1) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
