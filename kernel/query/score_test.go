package query_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A scoreCase is one score with its dumb twin, which is given images and works pair by pair, and
// the changes that a search over neighbours must find: a stated sensitivity that nothing reaches
// would be a loose bound, or a search that finds nothing.
type scoreCase struct {
	name            string
	s               papers.Score
	twin            func(z [][]float64) []int64
	replace, remove int64
}

func line() query.Affine {
	return query.Affine{Columns: []int{0}, Center: []float64{0}, W: [][]float64{{1}}}
}

// ballTwin sums the t largest values.
func ballTwin(z [][]float64, t int, value func(distances []float64) int) (sum int64) {
	var values []int
	for _, x := range z {
		var distances []float64
		for _, y := range z {
			s := 0.0
			for i := range x {
				s += (x[i] - y[i]) * (x[i] - y[i])
			}
			distances = append(distances, s)
		}
		values = append(values, value(distances))
	}
	sort.Sort(sort.Reverse(sort.IntSlice(values)))
	for _, v := range values[:min(t, len(values))] {
		sum += int64(v)
	}
	return sum
}

func within(distances []float64, r float64) (n int) {
	for _, d := range distances {
		if d <= r*r {
			n++
		}
	}
	return n
}

func crowdTwin(radii []float64, t int) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, r := range radii {
			scores = append(scores, ballTwin(z, t, func(d []float64) int { return min(t, within(d, r)) }))
		}
		return scores
	}
}

func goodTwin(radii []float64, t, slack int) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, r := range radii {
			// As printed, with L in reals: q = min{t - L(r/2), L(r) - t + slack}/2.
			n := float64(t)
			l, half := float64(crowdTwin([]float64{r}, t)(z)[0])/n, float64(crowdTwin([]float64{r / 2}, t)(z)[0])/n
			scores = append(scores, int64(math.Round(2*n*math.Min(n-half, l-n+float64(slack))/2)))
		}
		return scores
	}
}

func terrificTwin(radii []float64, c float64, t int) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, r := range radii {
			scores = append(scores, ballTwin(z, t, func(d []float64) int {
				in, wide := within(d, r), within(d, c*r)
				return max(0, min(t, min(in, t)+min(len(d)-wide, t)-min(wide-in, t)-t))
			}))
		}
		return scores
	}
}

func boxTwin(side float64, offsets [][]float64) func(z [][]float64) []int64 {
	return func(z [][]float64) (scores []int64) {
		for _, o := range offsets {
			best := int64(0)
			for _, x := range z {
				n := int64(0)
				for _, y := range z {
					same := true
					for i := range x {
						a, b := math.Floor((x[i]-o[i])/side), math.Floor((y[i]-o[i])/side)
						same = same && a == b && rowkernels.Finite(a)
					}
					if same {
						n++
					}
				}
				best = max(best, n)
			}
			scores = append(scores, best)
		}
		return scores
	}
}

func scoreCases() (cases []scoreCase) {
	radii := []float64{2, 0, .5, 1, 1e3, 1e150}
	for _, t := range []int{1, 2, 3, 4} {
		n := int64(t)
		cases = append(cases,
			scoreCase{"crowd", papers.BallCounts{Map: line(), Radii: radii, T: t}, crowdTwin(radii, t), max(1, 2*n-2), 2*n - 1},
			scoreCase{"good", papers.GoodRadius{Map: line(), Radii: radii, T: t, Slack: 2}, goodTwin(radii, t, 2), max(1, 2*n-2), 2*n - 2},
			scoreCase{"good without slack", papers.GoodRadius{Map: line(), Radii: radii, T: t, Slack: 0}, goodTwin(radii, t, 0), max(1, 2*n-2), 2*n - 1},
			scoreCase{"terrific", papers.TerrificRadius{Map: line(), Radii: radii, C: 3, T: t}, terrificTwin(radii, 3, t), max(1, 2*n-2), 2*n - 2},
			scoreCase{"terrific c=1", papers.TerrificRadius{Map: line(), Radii: radii, C: 1, T: t}, terrificTwin(radii, 1, t), 0, 0})
	}
	offsets := [][]float64{{0}, {.5}, {-1e308}, {3}}
	cases = append(cases,
		scoreCase{"boxes", papers.MaxBoxCount{Map: line(), Side: 1, Offsets: offsets}, boxTwin(1, offsets), 1, 1},
		scoreCase{"small boxes", papers.MaxBoxCount{Map: line(), Side: 1e-300, Offsets: offsets}, boxTwin(1e-300, offsets), 1, 1})
	return append(cases, unitCases()...)
}

// spots are where rows may lie in the searches: few, so that there are ties and duplicates, with
// far ones, an image that overflows at once or only in a difference, and the null row.
var spots = []float64{0, 0, 0, .5, 1, 1, 2, 3, 4, 6, -1, 5e-324, math.Copysign(0, -1), 1e3, 1e155, 1.7e308, -1.7e308, math.NaN()}

func randomSpots(rng *rand.Rand, n int) (rows [][]float64) {
	for range n {
		rows = append(rows, []float64{spots[rng.IntN(len(spots))]})
	}
	return rows
}

// TestScoreTwins compares every score with its twin, and with itself on shuffled rows.
func TestScoreTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, c := range scoreCases() {
		for range 400 {
			rows := randomSpots(rng, rng.IntN(12))
			var z [][]float64
			for _, r := range rows {
				if !isNull(r) {
					z = append(z, r)
				}
			}
			got, want := c.s.Scores(flatten(rows), 1), c.twin(z)
			if !slices.Equal(got, want) || len(got) != c.s.Options() {
				t.Fatalf("%s of %v: %d, the twin says %d", c.name, rows, got, want)
			}
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			if again := c.s.Scores(flatten(rows), 1); !slices.Equal(got, again) {
				t.Fatalf("%s: shuffled rows give %d, not %d", c.name, again, got)
			}
		}
	}
	// In three dimensions, through frames, on rows at all scales.
	pool := poolRows(3)
	for _, f := range frames() {
		if f.Out() > query.MostBoxColumns {
			continue
		}
		radii, offsets := []float64{1e-3, .3, 1, 2, 1e100}, [][]float64{make([]float64, f.Out())}
		var z [][]float64
		for _, row := range pool {
			if y, ok := imageTwin(f, row); ok {
				z = append(z, y)
			}
		}
		for _, c := range []scoreCase{
			{s: papers.BallCounts{Map: f, Radii: radii, T: 9}, twin: crowdTwin(radii, 9)}, {s: papers.GoodRadius{Map: f, Radii: radii, T: 9, Slack: 3}, twin: goodTwin(radii, 9, 3)},
			{s: papers.TerrificRadius{Map: f, Radii: radii, C: 5, T: 9}, twin: terrificTwin(radii, 5, 9)}, {s: papers.MaxBoxCount{Map: f, Side: .7, Offsets: offsets}, twin: boxTwin(.7, offsets)},
		} {
			if got, want := c.s.Scores(flatten(pool), dims), c.twin(z); !slices.Equal(got, want) {
				t.Errorf("%s: %d, the twin says %d", c.s.Kind(), got, want)
			}
		}
	}
}

// imageTwin maps one row, coordinate by coordinate.
func imageTwin(f query.Affine, row []float64) (z []float64, ok bool) {
	columns := f.Columns
	if columns == nil {
		columns = []int{0, 1, 2}
	}
	if isNull(row) {
		return nil, false
	}
	for _, w := range f.W {
		s, first, last := 0.0, 0, len(w)
		for last > 0 && w[last-1] == 0 {
			last--
		}
		for first < last && w[first] == 0 {
			first++
		}
		for j := first; j < last; j++ {
			s += float64(w[j] * (row[columns[j]] - f.Center[j]))
		}
		if !rowkernels.Finite(s) {
			return nil, false
		}
		z = append(z, s)
	}
	return z, true
}

// change is the largest change of a score's options.
func change(a, b []int64) (most int64) {
	for i := range a {
		most = max(most, a[i]-b[i], b[i]-a[i])
	}
	return most
}

// TestScoreSensitivity climbs, from many starts, to neighbours with the largest change: it never
// exceeds what is stated, and reaches what the case says.
func TestScoreSensitivity(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 7))
	for _, c := range scoreCases() {
		score := func(rows [][]float64) []int64 { return c.s.Scores(flatten(rows), 1) }
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			changeOf := func(rows [][]float64) int64 { // the last row is what changes
				last := len(rows) - 1
				if relation == privacy.AddRemoveOne {
					return change(score(rows), score(rows[:last]))
				}
				return change(score(rows[:last]), score(append(slices.Clone(rows[:last-1]), rows[last])))
			}
			found, stated := int64(0), c.s.Sensitivity(relation)
			for range stattest.Trials(25, 60) {
				rows := randomSpots(rng, 2+rng.IntN(12))
				best := changeOf(rows)
				for range 60 {
					next := slices.Clone(rows)
					for range 1 + rng.IntN(2) {
						next[rng.IntN(len(next))] = randomSpots(rng, 1)[0]
					}
					if v := changeOf(next); v >= best {
						best, rows = v, next
					}
					if best > stated {
						t.Fatalf("%s, %v, %v: changes by %d, stated %d", c.name, relation, rows, best, stated)
					}
				}
				found = max(found, best)
			}
			want := c.replace
			if relation == privacy.AddRemoveOne {
				want = c.remove
			}
			if found < want {
				t.Errorf("%s, %v: the search reaches %d, want %d of the stated %d", c.name, relation, found, want, stated)
			}
			t.Logf("%s, %v: found %d of %d", c.name, relation, found, stated)
		}
	}
}

// TestTerrificAlmostTight: replace-one is nearly attained for t of some size.
func TestTerrificAlmostTight(t *testing.T) {
	// n points in the middle, t far away; the middle ones see the changed row in the ball, and then
	// in the annulus.
	const size = 40
	s := papers.TerrificRadius{Map: line(), Radii: []float64{1}, C: 3, T: size}
	var rows [][]float64
	for range size - 1 {
		rows = append(rows, []float64{0})
	}
	for i := range size { // far from each other too, so that they are no centres
		rows = append(rows, []float64{100 * float64(i+1)})
	}
	far := change(s.Scores(flatten(append(slices.Clone(rows), []float64{0})), 1), s.Scores(flatten(append(slices.Clone(rows), []float64{2})), 1))
	if stated := s.Sensitivity(privacy.ReplaceOne); far > stated || float64(far) < .95*float64(stated) {
		t.Errorf("changes by %d, stated %d", far, stated)
	}
}

// TestSelectionSensitivity: whichever leaves the changed row is in before and after, the leaves'
// changes over their S sum to at most 1, and two leaves can reach nearly that.
func TestSelectionSensitivity(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 7))
	ball := func(center, radius float64, below ...query.Partition) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: query.Affine{Center: []float64{center}, W: [][]float64{{1}}}, Radius: radius}}}
	}
	for name, q := range map[string]papers.Selection{
		"one leaf, all rows": {Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{0, 1}, T: 3}}},
		"one leaf":           {Partition: query.Partition{Regions: []query.Region{ball(0, 1)}}, Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{0, 1}, T: 3}}},
		"two leaves": {Partition: query.Partition{Regions: []query.Region{ball(0, .6), ball(1.5, 1)}},
			Scores: []papers.Score{papers.BallCounts{Map: line(), Radii: []float64{0, 1}, T: 3}, papers.BallCounts{Map: line(), Radii: []float64{0, 4, 5}, T: 2}}},
		"terrific": {Partition: query.Partition{Regions: []query.Region{ball(3, 4), ball(1e3, 1)}},
			Scores: []papers.Score{papers.TerrificRadius{Map: line(), Radii: []float64{.5, 1}, C: 3, T: 2}, papers.TerrificRadius{Map: line(), Radii: []float64{1}, C: 2, T: 3}}},
		"centers": {Partition: query.Partition{Regions: []query.Region{ball(0, .6), ball(2, 1.5)}},
			Scores: []papers.Score{papers.TerrificCenters{Map: line(), Centers: [][]float64{{0}}, Radius: .5, C: 2, T: 3}, papers.TerrificCenters{Map: line(), Centers: [][]float64{{1}, {3}}, Radius: .5, C: 2, T: 2}}},
		"boxes": {Partition: query.Partition{Regions: []query.Region{ball(0, .6), ball(1.5, 1), ball(4, 3)}},
			Scores: []papers.Score{papers.MaxBoxCount{Map: line(), Side: 1, Offsets: [][]float64{{0}}}, papers.MaxBoxCount{Map: line(), Side: 1, Offsets: [][]float64{{0}, {.5}}}, papers.MaxBoxCount{Map: line(), Side: 2, Offsets: [][]float64{{0}}}}},
	} {
		if err := q.Validate(1); err != nil {
			t.Fatal(name, err)
		}
		scores := func(rows [][]float64) (all [][]int64) {
			for j, leaf := range q.Partition.Grouper(1).Group(flatten(rows)) {
				all = append(all, q.Scores[j].Scores(leaf, 1))
			}
			return all
		}
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			most := 0.0
			for range stattest.Trials(3000, 6000) {
				rows := randomSpots(rng, 1+rng.IntN(8))
				other := slices.Clone(rows)
				if at := rng.IntN(len(rows)); relation == privacy.ReplaceOne {
					other[at] = randomSpots(rng, 1)[0]
				} else {
					other = slices.Delete(other, at, at+1)
				}
				a, b := scores(rows), scores(other)
				cost := 0.0
				for j := range a {
					cost += float64(change(a[j], b[j])) / float64(q.Sensitivity(relation, j))
				}
				most = math.Max(most, cost)
			}
			if most > 1 || most < .5 {
				t.Errorf("%s, %v: the leaves' changes over their sensitivities sum to %v", name, relation, most)
			}
			t.Logf("%s, %v: %v", name, relation, most)
		}
	}
}

// TestL1 : what counts state, by search over pairs of rows, in leaves too.
func TestL1(t *testing.T) {
	half := func(sign float64) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: query.Affine{Columns: []int{0}, Center: []float64{sign * 1e3}, W: [][]float64{{1}}}, Radius: 1e3}}}
	}
	id := identity(dims, 1)
	cut := query.Partition{Regions: []query.Region{half(1), half(-1)}}
	distances := query.Counts{Map: id, Edges: [][]float64{{0, 1, 2, 1e10}}}
	cells := query.GridCounts{Map: id, HalfWidth: []float64{2, 2, 2}, Level: 1}
	vectors := func(q query.Sum) (all [][]int64) {
		for _, row := range poolRows(6) {
			all = append(all, sumOf(q, row))
		}
		return all
	}
	tails := query.Counts{Map: id, As: query.Above, Edges: [][]float64{{1, 4}}}
	bins, columns := query.Counts{Edges: [][]float64{{-1, 1}, {0}, nil}}, query.Counts{Edges: query.Each([]float64{0, 1, -1}), As: query.Balance}
	for _, q := range []query.Sum{tails, bins, columns, query.Count{}, distances, cells, query.Parts{Partition: cut, Queries: []query.Sum{query.Count{}, query.Count{}}}, query.Parts{Partition: cut, Queries: []query.Sum{distances, distances}},
		query.Parts{Partition: cut, Queries: []query.Sum{cells, cells}}, query.Parts{Partition: query.Partition{Regions: cut.Regions[:1]}, Queries: []query.Sum{query.Count{}}}} {
		if err := q.Validate(dims); err != nil {
			t.Fatal(err)
		}
		all := vectors(q)
		replace, remove := 0.0, 0.0
		for i, v := range all {
			remove = max(remove, l1(v, make([]int64, len(v))))
			for _, w := range all[:i] {
				replace = max(replace, l1(v, w))
			}
		}
		if replace != statedL1(q, privacy.ReplaceOne) || remove != statedL1(q, privacy.AddRemoveOne) {
			t.Errorf("%s: found %v and %v, stated %v and %v", q.Kind(), replace, remove, statedL1(q, privacy.ReplaceOne), statedL1(q, privacy.AddRemoveOne))
		}
	}
}

// statedL1 is the L1 sensitivity of a query.
func statedL1(q query.Sum, r privacy.Relation) float64 { return privacy.L1(q.Size(), q.Sensitivity(r)) }

// TestL1OfMoments: what one row adds to moments, and what one row in the place of another changes,
// is within the stated L1 sensitivity for rows that are null, huge, infinite or
// anything, in one column and in several, and comes near to it.
func TestL1OfMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 16))
	for _, columns := range []int{1, dims} {
		for form, near := range map[query.Form]float64{query.FullForm: .4, query.DiagonalForm: .55, query.SphericalForm: .55, query.CompletedForm: .4} {
			q := query.ClippedMoments{Components: []query.Component{{Map: identity(columns, 1), Radius: 2}}, Form: form, Lift: 1}
			var all [][]int64
			sumOf := func(q query.Sum, row []float64) []int64 {
				sum := make([]int64, q.Size())
				q.Compile(columns).Add(sum, row)
				return sum
			}
			for _, x := range []float64{0, math.Copysign(0, -1), 2, -2, 1.1, -1.1, 1e-300, 1e308, -1e308, math.MaxFloat64, math.Inf(1), math.NaN(), 5e-324} {
				row := slices.Repeat([]float64{x}, columns)
				all = append(all, sumOf(q, row))
				row[rng.IntN(columns)] *= -1
				all = append(all, sumOf(q, row))
			}
			for range 300 {
				row := make([]float64, columns)
				for j := range row {
					row[j] = math.Exp(rng.NormFloat64()) * float64(2*rng.IntN(2)-1)
				}
				all = append(all, sumOf(q, row))
			}
			most := map[privacy.Relation]float64{}
			for i, v := range all {
				most[privacy.AddRemoveOne] = max(most[privacy.AddRemoveOne], l1(v, make([]int64, len(v))))
				for _, w := range all[:i] {
					most[privacy.ReplaceOne] = max(most[privacy.ReplaceOne], l1(v, w))
				}
			}
			for r, found := range most {
				if stated := statedL1(q, r); !(found <= stated) || found < near*stated {
					t.Errorf("%d columns, form %v, %v: found %v of the stated %v", columns, form, r, found/stated, stated)
				}
			}
		}
	}
}

func l1(a, b []int64) (s float64) {
	for i := range a {
		s += math.Abs(float64(a[i] - b[i]))
	}
	return s
}

// TestSelectionValidate: what is refused, and why.
func TestSelectionValidate(t *testing.T) {
	nan, f := math.NaN(), line()
	ball := papers.BallCounts{Map: f, Radii: []float64{1}, T: 1}
	one := func(s papers.Score) papers.Selection { return papers.Selection{Scores: []papers.Score{s}} }
	for want, q := range map[string]papers.Selection{
		"one score per leaf":      {},
		"want a score for every":  {Scores: []papers.Score{nil}},
		"a probability":           {Scores: []papers.Score{ball}, Keep: nan},
		"a probability, got 2":    {Scores: []papers.Score{ball}, Keep: 2},
		"1 to 4096 radii":         one(papers.BallCounts{Map: f, Radii: nil, T: 1}),
		"numbers in [0, 1e+150]":  one(papers.BallCounts{Map: f, Radii: []float64{-1}, T: 1}),
		", got NaN":               one(papers.GoodRadius{Map: f, Radii: []float64{nan}, T: 1, Slack: 1}),
		"T: want 1 to":            one(papers.TerrificRadius{Map: f, Radii: []float64{1}, C: 2, T: 0}),
		"rows, got 1073741824":    one(papers.BallCounts{Map: f, Radii: []float64{1}, T: 1 << 30}),
		"Slack: want":             one(papers.GoodRadius{Map: f, Radii: []float64{1}, T: 1, Slack: -1}),
		"C: want a finite number": one(papers.TerrificRadius{Map: f, Radii: []float64{1}, C: .5, T: 1}),
		"at most 8 coordinates":   one(papers.MaxBoxCount{Map: query.Affine{Columns: []int{0}, Center: []float64{0}, W: make([][]float64, 9)}, Side: 1, Offsets: nil}),
		"Side: want":              one(papers.MaxBoxCount{Map: f, Side: 0, Offsets: [][]float64{{0}}}),
		"at least one offset":     one(papers.MaxBoxCount{Map: f, Side: 1, Offsets: nil}),
		"want 1 values each":      one(papers.MaxBoxCount{Map: f, Side: 1, Offsets: [][]float64{{0, 1}}}),
		"want finite numbers":     one(papers.MaxBoxCount{Map: f, Side: 1, Offsets: [][]float64{{nan}}}),
		"either Regions or":       {Partition: query.Partition{Project: f}, Scores: []papers.Score{ball}},
		"one kind of score": {Partition: query.Partition{Regions: []query.Region{{}, {}}},
			Scores: []papers.Score{ball, papers.GoodRadius{Map: f, Radii: []float64{1}, T: 1, Slack: 1}}},
	} {
		if q.Scores != nil && q.Scores[0] != nil {
			if b, ok := q.Scores[0].(papers.MaxBoxCount); ok && len(b.Map.W) == 9 {
				for i := range b.Map.W {
					b.Map.W[i] = []float64{1}
				}
			}
		}
		if err := q.Validate(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := query.Own(one(&ball)); err == nil {
		t.Error("a pointer to a score was accepted")
	}
	q, err := query.Own(one(ball))
	if err != nil || q.Validate(1) != nil {
		t.Fatal(err)
	}
	ball.Radii[0] = 7
	if q.Scores[0].(papers.BallCounts).Radii[0] != 1 {
		t.Error("Own does not copy the radii")
	}
}

func BenchmarkGoodRadius(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const d = 10
	rows := make([]float64, 2000*d)
	for i := range rows {
		rows[i] = rng.NormFloat64()
	}
	var radii []float64
	for e := -150.0; e <= 150; e += .5 {
		radii = append(radii, math.Exp2(e))
	}
	for b.Loop() {
		papers.GoodRadius{Map: identity(d, 1), Radii: radii, T: 500, Slack: 100}.Scores(rows, d)
	}
}
