package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// twoGroups is a mixture of columns 0 and 2 of tables of three, whose column 1 is filled with 7.
var twoGroups = Completion{
	Columns: []int{0, 2}, Center: []float64{1, 0}, Scale: []float64{2, 1}, Rest: []float64{0, 7, 0}, LogWeights: []float64{math.Log(.5), math.Log(.5)},
	Means: [][]float64{{0, 0}, {10, 5}}, Covs: [][][]float64{{{1, .8}, {.8, 1}}, {{1, 0}, {0, .25}}},
}

// completed returns what rows sum to once they are completed with these coins.
func completed(t testing.TB, r privacy.Relation, rows [][]float64, words []uint64) (sums []int64) {
	t.Helper()
	h := core.NewTestHook()
	h.NoiseFactor, h.Source = 0, stattest.Replay(words)
	h.Record = func(_ string, _ any, _ float64, _ []float64, exact []int64) { sums = exact }
	b := core.NewBuilder(3)
	for _, row := range rows {
		b.Append(row)
	}
	s, err := core.Open(context.Background(), core.Hooked(b.Protect(r), h), core.Plan{Method: "test", Steps: []core.Step{step}}, core.Terms{Relation: r, Budget: privacy.Budget{Rho: 2}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Complete(s.SubBudget(), twoGroups)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Sum(step.Name, query.Counts{Edges: [][]float64{{-3, 0, 1, 1e300}, {-1, 7, 8}, {-5, 0, .5, 3}}}, 1); err != nil {
		t.Fatal(err)
	}
	return sums
}

// TestCompletedOfNeighbours: with the coins of common rows equal, what is summed of the completed
// tables of two neighbours differs by the query's sensitivity at most, and by that in some cases,
// whatever rows hold: a row that comes or goes, or is replaced, has coins of its own.
func TestCompletedOfNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	pool := []float64{-1e308, -5, -1, 0, .5, 1, 7, 20, 1e300, 1e308, math.NaN(), math.NaN(), math.NaN(), math.Inf(1)}
	type coined struct {
		row   []float64
		words []uint64
	}
	draw := func() (c coined) {
		lost := 0
		for range 3 {
			c.row = append(c.row, pool[rng.IntN(len(pool))])
		}
		missing := false
		for j, v := range c.row {
			if v-v != 0 {
				if missing = true; j != 1 {
					lost++
				}
			}
		}
		if missing && lost < 2 { // one coin for the component, and one for each cell
			for range 1 + lost {
				c.words = append(c.words, rng.Uint64())
			}
		}
		return c
	}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		most, same := 0.0, 0
		for range 4000 {
			x := make([]coined, 1+rng.IntN(8))
			for i := range x {
				x[i] = draw()
			}
			at, y := rng.IntN(len(x)), slices.Clone(x)
			if y[at] = draw(); r == privacy.AddRemoveOne {
				y = slices.Delete(y, at, at+1)
			}
			sums := func(of []coined) []int64 {
				var rows [][]float64
				var words []uint64
				for _, c := range of {
					rows, words = append(rows, c.row), append(words, c.words...)
				}
				return completed(t, r, rows, words)
			}
			a, b, square := sums(x), sums(y), 0.
			for i := range a {
				square += float64((a[i] - b[i]) * (a[i] - b[i]))
			}
			if most = math.Max(most, math.Sqrt(square)); square == 0 {
				same++
			}
		}
		q := query.Counts{Edges: [][]float64{{0}, {0}, {0}}}
		if stated := q.Sensitivity(r); most > stated || most < .999*stated || same < 20 {
			t.Errorf("%v: found %v of the stated %v, no difference in %d of 4000", r, most, stated, same)
		}
	}
}

// TestCompleteLaw: missing cells have the law that the mixture gives them beside the cells that a
// row has: its component, mean, variance; a whole row stays, a row without cells of the mixture is
// null, and codes stay.
func TestCompleteLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	c := completer{Completion: twoGroups, coin: rng.Float64, known: map[string][]conditional{}}
	missing := math.NaN()
	for _, of := range []struct {
		row      []float64
		at       int // the column that is drawn
		mean, sd float64
	}{
		{[]float64{3, 1, missing}, 2, .8, .6},                 // z = 1 in the first group
		{[]float64{missing, missing, -1}, 0, 1 - 1.6, 2 * .6}, // and -1 there
		{[]float64{21, 5, missing}, 2, 5, .5},                 // the second
		{[]float64{missing, 0, 5.5}, 0, 21, 2},
	} {
		const n = 20000
		sum, square := 0., 0.
		for range n {
			row := slices.Clone(of.row)
			c.complete(row)
			for j, v := range of.row {
				if v == v && row[j] != v || j == 1 && v != v && row[j] != 7 {
					t.Fatalf("%v becomes %v", of.row, row)
				}
			}
			sum, square = sum+row[of.at], square+row[of.at]*row[of.at]
		}
		mean := sum / n
		sd := math.Sqrt(square/n - mean*mean)
		if math.Abs(mean-of.mean) > 5*of.sd/math.Sqrt(n) || math.Abs(sd/of.sd-1) > 5/math.Sqrt(2*n) {
			t.Errorf("%v: column %d has mean %v and sd %v, want %v and %v", of.row, of.at, mean, sd, of.mean, of.sd)
		}
	}
	first := 0
	for range 4000 { // half way between the groups by likelihood: each is drawn
		row := []float64{missing, 3, 3.3}
		if c.complete(row); row[0] < 11 {
			first++
		}
	}
	if first < 400 || first > 3600 {
		t.Errorf("of 4000 rows between two groups %d are of the first", first)
	}
	for _, row := range [][]float64{{1, 2, 3}, {missing, 2, missing}} {
		own := slices.Clone(row)
		if c.complete(own); (own[0] != row[0] || own[1] != row[1]) && !(own[0] != own[0] && own[1] != own[1]) {
			t.Errorf("%v becomes %v", row, own)
		}
	}
}

// TestCompletedMissing: the codes of a completed table can say which cells each row lacked, null
// rows included, in place of its own codes, and counts of neighbours' differ by the query's
// sensitivity at most.
func TestCompletedMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	missing := math.NaN()
	draw := func() []float64 {
		row := []float64{1, 2, 3, float64(rng.IntN(5))}
		for j := range 3 {
			if rng.IntN(2) == 0 {
				row[j] = missing
			}
		}
		return row
	}
	by := twoGroups
	by.Missing = []int{2, 0}
	q := query.CategoryCounts{Values: []int{2, 2}}
	counted := func(r privacy.Relation, rows [][]float64) (sums []int64) {
		h := core.NewTestHook()
		h.NoiseFactor = 0
		h.Record = func(_ string, _ any, _ float64, _ []float64, exact []int64) { sums = exact }
		b := core.NewMixedBuilder(3, 1, nil)
		for _, row := range rows {
			b.Append(row)
		}
		plan := core.Plan{Method: "test", Steps: []core.Step{{Name: "missing", Query: query.KindCategoryCounts, Share: 1, Most: 1}}}
		s, err := core.Open(context.Background(), core.Hooked(b.Protect(r), h), plan, core.Terms{Relation: r, Budget: privacy.Budget{Rho: 2}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := Complete(s.SubBudget(), by)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Categories("missing", q, 1); err != nil {
			t.Fatal(err)
		}
		return sums
	}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		most := 0.
		for range 2000 {
			var x [][]float64
			for range 1 + rng.IntN(6) {
				x = append(x, draw())
			}
			y := slices.Clone(x)
			at := rng.IntN(len(x))
			if y[at] = draw(); r == privacy.AddRemoveOne {
				y = slices.Delete(y, at, at+1)
			}
			a, b, square := counted(r, x), counted(r, y), 0.
			want := make([]int64, 4)
			for _, row := range x {
				for i, j := range by.Missing {
					if math.IsNaN(row[j]) {
						want[2*i+1] += int64(1 / q.Unit())
					} else {
						want[2*i] += int64(1 / q.Unit())
					}
				}
			}
			if !slices.EqualFunc(a, want, func(x, y int64) bool { return math.Abs(float64(x-y)) <= 1e-3*float64(y)+1 }) {
				t.Fatalf("%v has gaps %v, want %v", x, a, want)
			}
			for i := range a {
				square += float64((a[i] - b[i]) * (a[i] - b[i]))
			}
			most = math.Max(most, math.Sqrt(square))
		}
		if stated := q.Sensitivity(r); most > stated || most < .999*stated {
			t.Errorf("%v: found %v of the stated %v", r, most, stated)
		}
	}
}

// TestCompleteRefused: a mixture of another shape is refused before a row is read.
func TestCompleteRefused(t *testing.T) {
	a := open(t, context.Background(), privacy.ReplaceOne, []float64{1, 2}, core.NewTestHook())
	for name, alter := range map[string]func(*Completion){
		"none": func(c *Completion) { *c = Completion{} }, "rest": func(c *Completion) { c.Rest = nil }, "column": func(c *Completion) { c.Columns = []int{1} },
		"scale": func(c *Completion) { c.Scale = nil }, "mean": func(c *Completion) { c.Means = [][]float64{{}} }, "covariance": func(c *Completion) { c.Covs = [][][]float64{{{}}} },
		"gaps": func(c *Completion) { c.Missing = []int{1} },
	} {
		c := Completion{Columns: []int{0}, Center: []float64{0}, Scale: []float64{1}, Rest: []float64{0}, LogWeights: []float64{0}, Means: [][]float64{{0}}, Covs: [][][]float64{{{1}}}}
		if _, err := Complete(a, c); err != nil {
			t.Fatal(err)
		}
		alter(&c)
		if _, err := Complete(a, c); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
