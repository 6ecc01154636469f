package query_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// spread returns rows at the scales of partitions, besides those of poolRows.
func spread(rng *rand.Rand, n int) [][]float64 {
	rows := poolRows(n / 40)
	for range n {
		row := make([]float64, dims)
		scale := math.Exp(2.5 * rng.NormFloat64())
		for j := range row {
			row[j] = scale * rng.NormFloat64()
		}
		rows = append(rows, row)
	}
	return rows
}

// leavesOf sorts rows with s in random batches and in random order.
func leavesOf(rng *rand.Rand, s *query.Sorter, rows [][]float64, longest int) []int {
	leaves := make([]int, len(rows))
	for order := rng.Perm(len(rows)); len(order) > 0; {
		n := min(1+rng.IntN(longest), len(order))
		batch := make([][]float64, n)
		for i, at := range order[:n] {
			batch[i] = rows[at]
		}
		found := make([]int, n)
		for i := range found {
			found[i] = rng.IntN(9) // what is there before does not matter
		}
		s.Sort(found, flatten(batch))
		for i, at := range order[:n] {
			leaves[at] = found[i]
		}
		order = order[n:]
	}
	return leaves
}

// TestLeafOfARow: every row is in the leaf that a naive reading of Partition's comment puts it in,
// whatever batch it is read in, in whatever order and by whatever worker; null rows are in none,
// and every leaf that can be reached is.
func TestLeafOfARow(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 3))
	rows := spread(rng, 3000)
	for name, p := range partitions() {
		if err := p.Validate(dims); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := make([]int, len(rows))
		reached := make([]bool, p.Leaves())
		for i, row := range rows {
			if want[i] = twinLeaf(p, row); want[i] >= 0 {
				reached[want[i]] = true
			}
			if isNull(row) && want[i] != -1 {
				t.Fatalf("%s: the twin puts a null row in leaf %d", name, want[i])
			}
		}
		s := p.Sorter(dims)
		for _, longest := range []int{1, 5, rowkernels.Rows, 100, len(rows)} {
			if got := leavesOf(rng, s, rows, longest); !slices.Equal(got, want) {
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%s, batches of up to %d: row %v is in leaf %d, want %d", name, longest, rows[i], got[i], want[i])
					}
				}
			}
		}
		switch name {
		case "overflowing", "huge", "hostile", "ties":
		default:
			if slices.Contains(reached, false) {
				t.Errorf("%s: the rows reach only these leaves: %v", name, reached)
			}
		}
	}
}

// TestOneColumnConditions: a condition on one column puts every row where the same one puts it that
// is written as a map of two columns, the second of which counts for nothing, and so goes the way
// of all others: for centres, widths and values of any size, in all orders of columns.
func TestOneColumnConditions(t *testing.T) {
	const d, n = 3, 5 * rowkernels.Rows
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 5))
	hostile := []float64{0, math.Copysign(0, -1), 1, -1, 1e-320, -1e-320, 1e-160, 1e154, 1.4e154, -1e160, math.MaxFloat64, -math.MaxFloat64}
	number := func() float64 {
		if v := rng.IntN(len(hostile) + 12); v < len(hostile) {
			return hostile[v]
		}
		return math.Ldexp(rng.NormFloat64(), rng.IntN(8)-4)
	}
	met := 0
	for range 400 {
		var alone, twin query.Partition
		for range 1 + rng.IntN(4) {
			var a, b query.Region
			for range rng.IntN(4) {
				j, center, w := rng.IntN(d), number(), number()
				c := query.Condition{Map: query.Affine{Columns: []int{j}, Center: []float64{center}, W: [][]float64{{w}}},
					Radius: math.Exp(3 * rng.NormFloat64()), Outside: rng.IntN(3) == 0}
				if rng.IntN(10) == 0 {
					c.Radius = math.Inf(1)
				}
				a.Conditions = append(a.Conditions, c)
				c.Map = query.Affine{Columns: []int{j, (j + 1) % d}, Center: []float64{center, 0}, W: [][]float64{{w, 0}}}
				b.Conditions = append(b.Conditions, c)
			}
			alone.Regions, twin.Regions = append(alone.Regions, a), append(twin.Regions, b)
		}
		rows := make([]float64, n*d)
		for i := range rows {
			if rows[i] = number(); i%d == 0 && rng.IntN(20) == 0 {
				rows[i] = math.NaN() // a null row
			}
		}
		got, want := make([]int, n), make([]int, n)
		alone.Sorter(d).Sort(got, rows)
		twin.Sorter(d).Sort(want, rows)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: got leaves %v, want %v", alone, got, want)
		}
		for _, leaf := range got {
			if leaf >= 0 {
				met++
			}
		}
	}
	if met < 400*n/20 || met > 400*n*19/20 {
		t.Errorf("%d of %d rows are in a leaf: the conditions say too little", met, 400*n)
	}
}

// TestLeafNumbers: depth first, in the order of the cells; ties go to the first component.
func TestLeafNumbers(t *testing.T) {
	ball := func(r float64) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: identity(1, 1), Radius: r}}}
	}
	at := func(x, weight, radius float64) query.Component {
		return query.Component{Map: query.Affine{Center: []float64{x}, W: [][]float64{{1}}}, LogWeight: weight, Radius: radius}
	}
	sides := query.Partition{Components: []query.Component{at(-1, 0, 3), at(1, 0, 3), at(1, 0, 3)}}
	p := query.Partition{
		Regions: []query.Region{ball(2), ball(10), {[]query.Condition{{Map: identity(1, 1), Radius: 100, Outside: true}}}},
		Below:   []query.Partition{sides, {}, {Regions: []query.Region{ball(200), {}}}},
	}
	for x, want := range map[float64]int{-2: 0, 0: 0, .5: 1, 2: 1, 2.5: 3, 10: 3, 11: -1, 100: -1, 150: 4, -200: 4, 201: 5, 1e150: 5, 1e160: -1, math.NaN(): -1} {
		leaf := []int{7}
		p.Sorter(1).Sort(leaf, []float64{x})
		if leaf[0] != want {
			t.Errorf("%v is in leaf %d, want %d", x, leaf[0], want)
		}
	}
	if p.Leaves() != 6 {
		t.Errorf("%d leaves", p.Leaves())
	}
	// The nearest component decides, and its radius alone: the other's is wide enough for 4, but
	// the row is not its own.
	p = query.Partition{Components: []query.Component{at(0, 0, 1), at(10, 0, 50)}}
	leaf := make([]int, 5)
	if p.Sorter(1).Sort(leaf, []float64{1, 4, 6, 60, 61}); !slices.Equal(leaf, []int{0, -1, 1, 1, -1}) {
		t.Errorf("leaves %v", leaf)
	}
	// A component whose score is -Inf does not compete, however wide it is.
	p = query.Partition{Components: []query.Component{at(0, -math.MaxFloat64, math.Inf(1)), at(0, -100, math.Inf(1))}}
	if p.Sorter(1).Sort(leaf[:2], []float64{1.3e154, 1}); !slices.Equal(leaf[:2], []int{1, 1}) {
		t.Errorf("leaves %v", leaf[:2])
	}
	p.Components = p.Components[:1]
	if p.Sorter(1).Sort(leaf[:2], []float64{1.3e154, 1}); !slices.Equal(leaf[:2], []int{-1, 0}) {
		t.Errorf("leaves %v", leaf[:2])
	}
}

// TestMovesBetweenLeaves goes through the cases of the proof: a row that stays in its leaf, moves
// to another, comes or goes. Counts change by 0, by one in two places, by one; so the search in
// TestSensitivityBySearch meets all of them.
func TestMovesBetweenLeaves(t *testing.T) {
	rows := poolRows(12)
	for _, name := range []string{"regions", "components", "project", "columns", "below", "deep"} {
		q := partsOf(partitions()[name], func(int) query.Sum { return query.Count{} })
		var leaf []int
		var sums [][]int64
		for _, row := range rows {
			sums = append(sums, sumOf(q, row))
			leaf = append(leaf, slices.Index(sums[len(sums)-1], 1))
		}
		seen := map[string]int{}
		for i, a := range leaf {
			for k, b := range leaf[:i] {
				want, kind := 0.0, "stays"
				switch {
				case a != b && a >= 0 && b >= 0:
					want, kind = 2, "moves"
				case a != b:
					want, kind = 1, "comes"
				}
				seen[kind]++
				if got := weighted(q, slices.Repeat([]float64{1}, q.Size()), sums[i], sums[k]); math.Abs(got*got-want) > 1e-12 {
					t.Fatalf("%s: rows %v and %v: squared distance %v, want %v", name, rows[i], rows[k], got*got, want)
				}
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: the rows show only %v", name, seen)
		}
	}
}

// TestPartsSensitivity: sqrt2 A or more under replace-one, though a query by itself may claim less;
// never below the query's own; the query's own for one leaf, which no row can leave for another.
func TestPartsSensitivity(t *testing.T) {
	for kind, k := range leafQueries() {
		q := partsOf(partitions()["deep"], k.of)
		a, b := q.Queries[0].Sensitivity(privacy.AddRemoveOne), q.Queries[0].Sensitivity(privacy.ReplaceOne)
		if got := q.Sensitivity(privacy.AddRemoveOne); got != a {
			t.Errorf("%s: %v under add-or-remove-one, want %v", kind, got, a)
		}
		got := q.Sensitivity(privacy.ReplaceOne)
		if got < b || got*got < 2*a*a || got > max(b, a*math.Sqrt2*(1+1e-15)) {
			t.Errorf("%s: %v under replace-one, want max(%v, sqrt2 %v)", kind, got, b, a)
		}
		q = partsOf(partitions()["one"], k.of)
		if got := q.Sensitivity(privacy.ReplaceOne); got != q.Queries[0].Sensitivity(privacy.ReplaceOne) {
			t.Errorf("%s, one leaf: %v under replace-one", kind, got)
		}
	}
}

// TestPartsWeightsAndSplit: weights are the leaves' own; Split gives every leaf its values and its
// noise in its own unit.
func TestPartsWeightsAndSplit(t *testing.T) {
	for kind, k := range leafQueries() {
		q := partsOf(partitions()["deep"], k.of)
		values := make([]float64, q.Size())
		for i := range values {
			values[i] = float64(i + 1)
		}
		answers, sigmas := q.Split(values, 3)
		at := 0
		for i, part := range q.Queries {
			if len(answers[i]) != part.Size() || sigmas[i] != 3*part.Unit() {
				t.Fatalf("%s, leaf %d: %d values with sigma %v", kind, i, len(answers[i]), sigmas[i])
			}
			for l, v := range answers[i] {
				if v != float64(at+1)*part.Unit() || q.Weight(at) != part.Weight(l) {
					t.Fatalf("%s, leaf %d, number %d: %v, weight %v", kind, i, l, v, q.Weight(at))
				}
				at++
			}
		}
		if at != q.Size() || q.Unit() != 1 || q.Kind() != "in parts: "+q.Queries[0].Kind() {
			t.Errorf("%s: %d of %d numbers, unit %v, kind %q", kind, at, q.Size(), q.Unit(), q.Kind())
		}
	}
}

// TestPartsAllocateNothing: batches after the first use the space of the first.
func TestPartsAllocateNothing(t *testing.T) {
	rows := flatten(spread(rand.New(rand.NewPCG(8, 8)), 500))
	for kind, k := range leafQueries() {
		q := partsOf(partitions()["deep"], k.of)
		m, sum := q.Compile(dims), make([]int64, q.Size())
		m.Add(sum, rows)
		if n := testing.AllocsPerRun(3, func() { m.Add(sum, rows) }); n > 0 {
			t.Errorf("%s: %v allocations per batch", kind, n)
		}
	}
}

// FuzzPartition: no partition that passes Validate and no row makes the sorter panic, name a leaf
// that is not there, disagree with the naive reading, or depend on the batch.
func FuzzPartition(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), 1.0, 1.0, uint8(0))
	f.Add(make([]byte, 120), 1e-300, 1e300, uint8(7))
	f.Add(slices.Repeat([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 12), math.Inf(1), -math.MaxFloat64, uint8(255))
	f.Fuzz(func(t *testing.T, b []byte, radius, weight float64, shape uint8) {
		v := floats(b)
		if len(v) < 8 {
			return
		}
		a := query.Affine{Center: v[:2], W: [][]float64{v[2:4], v[4:6]}}
		if shape&1 != 0 {
			a.W = a.W[:1]
		}
		cell := func(f query.Affine) query.Partition {
			if shape&2 != 0 {
				return query.Partition{Components: []query.Component{{Map: f, Radius: radius, LogWeight: weight}, {Map: identity(len(f.Center), 1), Radius: 2}}}
			}
			return query.Partition{Regions: []query.Region{{[]query.Condition{{Map: f, Radius: radius, Outside: shape&4 != 0}}}, {[]query.Condition{{Map: f, Radius: weight}}}}}
		}
		p := cell(a)
		if shape&8 != 0 {
			p = cell(identity(len(a.W), .5))
			p.Project = a
		}
		if shape&16 != 0 {
			p.Below = []query.Partition{{Regions: []query.Region{{}}}, cell(identity(2, 3))}
		}
		if p.Validate(2) != nil {
			return
		}
		rows := [][]float64{{0, 0}, {1, -1}, {math.NaN(), math.NaN()}}
		for v = v[6:]; len(v) >= 2; v = v[2:] {
			rows = append(rows, nullIfBad(v[:2]))
		}
		all, one := make([]int, len(rows)), make([]int, 1)
		s := p.Sorter(2)
		s.Sort(all, flatten(rows))
		for i, row := range rows {
			s.Sort(one, row)
			if want := twinLeaf(p, row); all[i] != want || one[0] != want || want >= p.Leaves() {
				t.Errorf("%+v: row %v: leaf %d, by itself %d, want %d", p, row, all[i], one[0], want)
			}
		}
	})
}
