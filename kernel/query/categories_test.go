package query_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// odd are values that rows of hostile tables have.
var odd = []float64{0, math.Copysign(0, -1), 1, -1, .5, 1e-320, 3, 1e10, -1e200, 1e308, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// oddCodes are codes, most of which are none.
var oddCodes = []float64{0, 1, 2, math.Copysign(0, -1), -1, .5, 3, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), math.Nextafter(1, 2)}

// categoryQueries are queries of tables of two columns of numbers.
func categoryQueries(rng *rand.Rand) (all []query.CategoryCounts) {
	for _, k := range []int{0, 1, 2, 5} {
		for _, values := range [][]int{{3}, {2, 3}, {1, 2, 3, 2}} {
			for _, given := range []bool{false, true} {
				q := query.CategoryCounts{Values: values}
				for j := range k {
					w := [][]float64{{1 + rng.Float64(), 0}, {rng.NormFloat64(), .5}}
					if j == 3 { // overflows at once
						w[0][0] = 1e200
					}
					q.Components = append(q.Components, query.Component{Map: query.Affine{Center: []float64{rng.NormFloat64(), 1}, W: w}, LogWeight: -rng.Float64()})
					q.Unseen = append(q.Unseen, rng.Float64())
				}
				if k == 5 {
					q.Unseen[1], q.Components[2].LogWeight = 0, math.Inf(-1)
				}
				if len(values) > 1 && !given {
					paired := q
					paired.Pairs = []query.CategoryPair{{A: 1, B: 0}, {A: 0, B: len(values) - 1}}
					all = append(all, paired)
				}
				if given && k > 0 {
					for range q.Size() {
						q.Given = append(q.Given, 30*rng.NormFloat64())
					}
				}
				all = append(all, q)
				if k == 5 { // components that are counted together
					q.Group = []int{1, 0, 1, 2, 0}
					all = append(all, q)
				}
			}
		}
	}
	return all
}

// vector is what one row adds.
func vector(q query.CategoryCounts, row []float64) []int64 {
	sum := make([]int64, q.Size())
	query.CategoryMap{Of: q}.Compile(len(row)).Add(sum, row)
	return sum
}

func length2(v, w []int64) (sum float64) {
	for i := range v {
		sum += float64(v[i]-w[i]) * float64(v[i]-w[i])
	}
	return sum
}

// TestCategoryNeighbours: no row, however hostile, moves the sum by more than the sensitivity, nor
// do two that replace each other; and some move it by nearly as much.
func TestCategoryNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n, q := range categoryQueries(rng) {
		if err := q.Validate(2); err != nil {
			t.Fatal(err)
		}
		var vectors [][]int64
		zero, added, replaced := make([]int64, q.Size()), 0., 0.
		for range 300 {
			row := make([]float64, 2+len(q.Values))
			for j := range row {
				switch {
				case j < 2 && rng.IntN(2) == 0:
					row[j] = 3 * rng.NormFloat64()
				case j < 2:
					row[j] = odd[rng.IntN(len(odd))]
				case rng.IntN(2) == 0:
					row[j] = float64(rng.IntN(q.Values[j-2]))
				default:
					row[j] = oddCodes[rng.IntN(len(oddCodes))]
				}
			}
			v := vector(q, row)
			for _, x := range v {
				if x < 0 {
					t.Fatalf("query %d: row %v adds %v", n, row, v)
				}
			}
			added = max(added, length2(v, zero))
			for _, w := range vectors {
				replaced = max(replaced, length2(v, w))
			}
			vectors = append(vectors, v)
		}
		for r, most := range map[privacy.Relation]float64{privacy.AddRemoveOne: added, privacy.ReplaceOne: replaced} {
			s := q.Sensitivity(r)
			if math.Sqrt(most) > s {
				t.Errorf("query %d, %v: rows move the sum by %v, and the sensitivity is %v", n, r, math.Sqrt(most), s)
			}
			if len(q.Components) < 2 && q.Lists() == 1 && math.Sqrt(most) < .9999*s {
				t.Errorf("query %d, %v: rows move the sum by %v at most of %v", n, r, math.Sqrt(most), s)
			}
		}
	}
}

// twinCategories is what one row adds, computed in another way: densities and products as they
// stand in the type's comment.
func twinCategories(q query.CategoryCounts, row []float64) []float64 {
	k, cells := max(1, len(q.Components)), 0
	numbers, codes := row[:2], row[2:]
	if q.Pairs != nil { // columns of pairs
		var of []float64
		var sizes []int
		for _, p := range q.Pairs {
			code := math.NaN()
			for x := range q.Values[p.A] {
				for y := range q.Values[p.B] {
					if codes[p.A] == float64(x) && codes[p.B] == float64(y) {
						code = float64(x*q.Values[p.B] + y)
					}
				}
			}
			of, sizes = append(of, code), append(sizes, q.Values[p.A]*q.Values[p.B])
		}
		codes, q.Values, q.Pairs = of, sizes, nil
	}
	for _, n := range q.Values {
		cells += n
	}
	at := make([]int, len(codes))
	first := 0
	for a, n := range q.Values {
		at[a] = -1
		for b := range n {
			if codes[a] == float64(b) {
				at[a] = first + b
			}
		}
		first += n
	}
	logs, seen := make([]float64, k), false
	for j, c := range q.Components {
		z2 := 0.
		for _, w := range c.Map.W {
			z := 0.
			for i := range numbers {
				z += w[i] * (numbers[i] - c.Map.Center[i])
			}
			z2 += z * z
		}
		logs[j] = c.LogWeight - z2/2
		seen = seen || z2-z2 == 0
	}
	shares, total, best := make([]float64, k), 0., math.Inf(-1)
	for j := range q.Components {
		if !seen {
			logs[j] = math.Log(q.Unseen[j])
			if math.IsInf(q.Components[j].LogWeight, -1) {
				logs[j] = math.NaN() // of weight 0
			}
		}
		for a := range at {
			if q.Given != nil && at[a] >= 0 {
				logs[j] += q.Given[j*cells+at[a]]
			}
		}
		if logs[j] > best {
			best = logs[j]
		}
	}
	for j := range q.Components {
		if p := math.Exp(logs[j] - best); p == p {
			shares[j] = p
			total += p
		}
	}
	if len(q.Components) == 0 {
		shares[0], total = 1, 1
	}
	out := make([]float64, q.Size())
	for j, s := range shares {
		group := j
		if q.Group != nil {
			group = q.Group[j]
		}
		for a := range at {
			if at[a] >= 0 && total > 0 {
				out[group*cells+at[a]] += s / total
			}
		}
	}
	return out
}

// TestCategoryTwin: the answer is that of a slow twin, and the same integers in any order of rows
// and however they are cut.
func TestCategoryTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n, q := range categoryQueries(rng) {
		d := 2 + len(q.Values)
		var rows []float64
		want := make([]float64, q.Size())
		for i := range 500 {
			row := make([]float64, d)
			for j := range row {
				row[j] = 2 * rng.NormFloat64()
				if j >= 2 {
					row[j] = float64(rng.IntN(q.Values[j-2]+2) - 1)
				}
			}
			switch {
			case i%7 == 0:
				row[0], row[1] = math.NaN(), math.NaN()
			case i%11 == 0:
				row[0] = 1e200
			case i%13 == 0:
				row[2] = math.NaN()
			}
			rows = append(rows, row...)
			for i, v := range twinCategories(q, row) {
				want[i] += v
			}
		}
		whole, cut := make([]int64, q.Size()), make([]int64, q.Size())
		query.CategoryMap{Of: q}.Compile(d).Add(whole, rows)
		m := query.CategoryMap{Of: q}.Compile(d)
		for i := len(rows) / d; i > 0; { // from the end, in pieces
			of := min(i, 1+rng.IntN(70))
			m.Add(cut, rows[(i-of)*d:i*d])
			i -= of
		}
		if !slices.Equal(whole, cut) {
			t.Errorf("query %d: other integers in another order", n)
		}
		for i, v := range whole {
			if math.Abs(float64(v)*q.Unit()-want[i]) > 1e-5 {
				t.Errorf("query %d: cell %d has %v rows, the twin %v", n, i, float64(v)*q.Unit(), want[i])
				break
			}
		}
	}
}

// TestCategoryMistakes: what cannot be asked is refused.
func TestCategoryMistakes(t *testing.T) {
	good := query.CategoryCounts{Values: []int{2, 3}, Components: []query.Component{{Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}}}, Unseen: []float64{1}}
	if err := good.Validate(1); err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(q *query.CategoryCounts){
		func(q *query.CategoryCounts) { q.Values = nil },
		func(q *query.CategoryCounts) { q.Values = []int{0} },
		func(q *query.CategoryCounts) { q.Values = []int{-1, 5} },
		func(q *query.CategoryCounts) { q.Values = []int{1 << 22, 1} },
		func(q *query.CategoryCounts) { q.Values = []int{math.MaxInt, math.MaxInt} },
		func(q *query.CategoryCounts) { q.Unseen = nil },
		func(q *query.CategoryCounts) { q.Unseen = []float64{math.NaN()} },
		func(q *query.CategoryCounts) { q.Unseen = []float64{-1} },
		func(q *query.CategoryCounts) { q.Given = []float64{1} },
		func(q *query.CategoryCounts) { q.Pairs = []query.CategoryPair{} },
		func(q *query.CategoryCounts) { q.Pairs = []query.CategoryPair{{A: 0, B: 2}} },
		func(q *query.CategoryCounts) { q.Pairs = []query.CategoryPair{{A: 1, B: 1}} },
		func(q *query.CategoryCounts) { q.Pairs = []query.CategoryPair{{A: -1, B: 1}} },
		func(q *query.CategoryCounts) {
			q.Values, q.Pairs = []int{1 << 12, 1 << 12}, []query.CategoryPair{{A: 0, B: 1}}
		},
		func(q *query.CategoryCounts) { q.Group = []int{0, 0} },
		func(q *query.CategoryCounts) { q.Group = []int{-1} },
		func(q *query.CategoryCounts) { q.Group = []int{1} },
		func(q *query.CategoryCounts) { q.Given = []float64{1, 2, 3, 4, math.Inf(-1)} },
		func(q *query.CategoryCounts) {
			q.Components = []query.Component{{Map: query.Affine{Center: []float64{0, 1}, W: [][]float64{{1}}}}}
		},
		func(q *query.CategoryCounts) {
			q.Components = slices.Clone(q.Components)
			q.Components[0].LogWeight = math.NaN()
		},
	} {
		q := good
		if change(&q); q.Validate(1) == nil {
			t.Errorf("change %d passes: %s", i, fmt.Sprint(q))
		}
	}
}
