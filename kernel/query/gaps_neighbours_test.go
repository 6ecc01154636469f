package query_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A gapRow is a value and its leaf: 0, 1 or -1 for none.
type gapRow struct {
	value float64
	leaf  int
}

// massesOf returns the masses by their names, in a map, and checks that they are positive and in
// order.
func massesOf(t *testing.T, q query.SpacingQuery, rows []gapRow) map[query.SpacingMass]int64 {
	all := map[query.SpacingMass]int64{}
	for leaf := range 2 {
		var own []float64
		for _, r := range rows {
			if r.leaf == leaf {
				own = append(own, r.value)
			}
		}
		slices.Sort(own)
		last := query.SpacingMass{Scale: -1e9}
		for _, m := range q.Masses(leaf, own) {
			if m.Leaf != leaf || m.Mass <= 0 || m.Scale < last.Scale || m.Scale == last.Scale && m.Place <= last.Place {
				t.Fatalf("%v: %v after %v", rows, m, last)
			}
			last = m
			m.Mass = 0
			all[m] = last.Mass
		}
	}
	return all
}

// A gapChange is how far two answers are apart, in gaps: L1, L2, the largest one-sided bucket and
// how many there are on one side.
type gapChange [4]float64

func changeOf(x, y map[query.SpacingMass]int64, unit float64) (c gapChange) {
	var sides [2]float64
	for i, pair := range [2][2]map[query.SpacingMass]int64{{x, y}, {y, x}} {
		for name, mass := range pair[0] {
			other, both := pair[1][name]
			d := math.Abs(float64(mass-other)) * unit
			if both && i == 1 {
				continue // counted before
			}
			c[0] += d
			c[1] += d * d
			if !both {
				c[2] = max(c[2], d)
				sides[i]++
			}
		}
	}
	c[1] = math.Sqrt(c[1])
	c[3] = max(sides[0], sides[1])
	return c
}

// gapShape draws a few rows as unlike ordinary data as can be: lattices, whose gaps are equal;
// doubling gaps at exact nodes of the hats; the last bits of numbers; edges of ramps; extremes and
// ties.
func gapShape(rng *rand.Rand, logWindow int) []gapRow {
	unit := math.Ldexp(1+float64(rng.IntN(2))*rng.Float64(), rng.IntN(400)-200)
	at := []float64{0, unit, -unit, 0x1p52 * unit, -0x1p53 * unit, 0x1p30 * unit}[rng.IntN(6)]
	switch rng.IntN(4) {
	case 0: // an edge of a ramp
		window := math.Ldexp(unit, logWindow)
		at = (float64(rng.IntN(9)-4) - .625 + .25*float64(rng.IntN(2))) * window
	case 1:
		unit = math.Ldexp(1, query.GapOctaves*(rng.IntN(60)-30)) * (1 + float64(rng.IntN(3))*3e-4)
	}
	var rows []gapRow
	apart := rng.IntN(2) * query.GapOctaves // gaps next to each other lie a node apart, or not
	for range rng.IntN(8) {
		v := at
		switch rng.IntN(7) {
		case 6: // ever smaller gaps anywhere in the windows of all of them
			v += at*rng.Float64()/4 + unit*math.Ldexp(1, apart-rng.IntN(20))
			at = v
		case 0:
			v = extremes[rng.IntN(len(extremes)-6)] // those that are finite and not denormal
		case 1:
			v = []float64{5e-324, -5e-324, math.MaxFloat64, 0x1p900, -0x1p900, 0x1p-900, -0x1p-900, 0x1.8p-900, 0x1p-901, 0x1.fp899}[rng.IntN(10)]
		case 2:
			v += unit * math.Ldexp(1, rng.IntN(3)+apart*rng.IntN(3))
			at = v
		case 3:
			v += unit * float64(rng.IntN(5)-2)
		case 4:
			v += unit * rng.NormFloat64()
		}
		if len(rows) > 0 && rng.IntN(6) == 0 {
			v = rows[rng.IntN(len(rows))].value
		}
		if v-v != 0 {
			v = 1
		}
		leaf := 0
		if rng.IntN(5) == 0 {
			leaf = rng.IntN(3) - 1
		}
		rows = append(rows, gapRow{v, leaf})
	}
	return rows
}

// gapSplits draws two gaps of which one can be split, by the last row, while the other is by the
// one before: near nodes of the hats, the same or neighbours, at the same place or far away, in one
// leaf or in two, and on ramps of all scales if so drawn.
func gapSplits(rng *rand.Rand, logWindow int) (rows []gapRow) {
	unit := math.Ldexp(1, query.GapOctaves*(rng.IntN(40)-20))
	var last []gapRow
	for range 2 {
		at, leaf := unit*float64(rng.IntN(2)*100), rng.IntN(6)/5
		if rng.IntN(2) == 0 { // -1/2 modulo 1, about, in the units of four windows
			at -= math.Ldexp(unit, logWindow-1) * (1 + 64 + 64*64 + 64*64*64)
		}
		first := unit * math.Ldexp(1, query.GapOctaves*rng.IntN(2)) * (1 + rng.Float64()*float64(rng.IntN(2))/512)
		second := first * []float64{1, 1, 1, .7, 1. / 64, 64, rng.Float64()}[rng.IntN(7)]
		rows = append(rows, gapRow{at, leaf}, gapRow{at + first + second, leaf})
		last = append(last, gapRow{at + first, leaf})
	}
	return append(rows, last...)
}

// gapMutant moves one row a little, or to another leaf.
func gapMutant(rng *rand.Rand, rows []gapRow) []gapRow {
	rows = slices.Clone(rows)
	if len(rows) == 0 {
		return rows
	}
	i, j := rng.IntN(len(rows)), rng.IntN(len(rows))
	step := rows[j].value - rows[i].value
	if step == 0 {
		step = rows[i].value
	}
	switch rng.IntN(8) {
	case 0:
		rows[i].leaf = rng.IntN(3) - 1
	case 1:
		rows[i].value += step / 2
	case 2:
		rows[i].value = math.Nextafter(rows[i].value, rows[j].value)
	default:
		rows[i].value += step * rng.NormFloat64() * math.Exp2(-float64(rng.IntN(16)))
	}
	if rows[i].value-rows[i].value != 0 {
		rows[i].value = -1
	}
	return rows
}

// worstGaps searches neighbours for the largest changes: from fresh shapes, and from the worst
// found so far with one row moved. The row that differs is the last: it is taken away, or put in
// place of the second last, which the same search moves about.
func worstGaps(t *testing.T, q query.SpacingQuery, logWindow int, unit float64, tries int) map[privacy.Relation]gapChange {
	rng := rand.New(rand.NewPCG(uint64(logWindow), 17))
	worst := map[privacy.Relation]gapChange{}
	type key struct {
		r      privacy.Relation
		metric int
	}
	champions := map[key][]gapRow{}
	for range tries {
		r := []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}[rng.IntN(2)]
		rows := champions[key{r, rng.IntN(4)}]
		if rows != nil && rng.IntN(3) > 0 {
			rows = gapMutant(rng, rows)
		} else if rng.IntN(2) == 0 {
			rows = gapSplits(rng, logWindow)
		} else if rows = gapShape(rng, logWindow); len(rows) < 2 {
			rows = append(rows, gapRow{rng.NormFloat64(), 0}, gapRow{rng.NormFloat64(), 0})
		}
		n := len(rows)
		x, y := rows[:n-1], rows[:n-2:n-2] // without the last; without the last two
		if r == privacy.ReplaceOne {
			y = append(y, rows[n-1])
		}
		change := changeOf(massesOf(t, q, x), massesOf(t, q, y), unit)
		found := worst[r]
		for i, v := range change {
			if v >= found[i] {
				found[i] = v
				champions[key{r, i}] = rows
			}
		}
		worst[r] = found
	}
	return worst
}

// TestGapNeighbours: no pair of neighbours that the search finds changes the masses by more than is
// claimed, under either relation, and the search comes near enough to show that it would see a
// wrong claim. Rows move between leaves and to none.
func TestGapNeighbours(t *testing.T) {
	tries := 25_000
	if os.Getenv("GAUZE_LONG") != "" {
		tries = 2_000_000
	}
	for _, logWindow := range []int{query.MinLogWindow, 23, query.MaxLogWindow} {
		q := query.SpacingMasses{LogWindow: logWindow}
		for r, found := range worstGaps(t, q, logWindow, q.Unit(), tries) {
			buckets, mass := q.OneSided(r)
			l2 := q.Sensitivity(r) * q.Unit()
			l1 := 1 + 2*query.GapDrift*q.Unit()
			if r == privacy.ReplaceOne {
				l1 *= 2
			}
			claim := gapChange{l1, l2, mass * q.Unit(), buckets}
			t.Logf("window 2^%d, %v: L1, L2, one-sided mass and number %.4f of %.4f", logWindow, r, found, claim)
			near := gapChange{.99, .985, .85, .5}
			if logWindow == query.MaxLogWindow {
				near[3] = .25 // no number has digits enough to lie on ramps of two scales
			}
			for i := range found {
				if found[i] > claim[i] || found[i] < near[i]*claim[i] {
					t.Errorf("window 2^%d, %v: found %v, claimed %v", logWindow, r, found, claim)
				}
			}
		}
	}
}

// TestGapConstants: the claims are the numbers of the type's comment.
func TestGapConstants(t *testing.T) {
	for r, want := range map[privacy.Relation][3]float64{privacy.ReplaceOne: {1.7944, 1.3438, 12}, privacy.AddRemoveOne: {1.1845, 1.1719, 8}} {
		buckets, mass := query.SpacingMasses{}.OneSided(r)
		got := [3]float64{query.SpacingMasses{}.Sensitivity(r) * query.SpacingMasses{}.Unit(), mass * query.SpacingMasses{}.Unit(), buckets}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4 {
				t.Errorf("%v: got %v, want %v", r, got, want)
			}
		}
	}
	for rows, want := range map[float64]int{0: 15, math.NaN(): 15, -3: 15, 4096: 15, 4097: 16, 1e6: 23, 1e9: 33, math.Inf(1): 60} {
		if got := query.LogWindow(rows); got != want {
			t.Errorf("LogWindow(%v) = %d, want %d", rows, got, want)
		}
	}
}

// TestGapBucketNeighbours: hard buckets change by 3 or 6 in L1, and that is attained.
func TestGapBucketNeighbours(t *testing.T) {
	for _, n := range []int{1, 5, 1<<31 - 1} {
		q := papers.SpacingBuckets{Rows: n}
		for r, found := range worstGaps(t, q, 2, 1, 10_000) {
			if found[0] != q.L1(r) {
				t.Errorf("N = %d, %v: found an L1 change of %v, claimed %v", n, r, found[0], q.L1(r))
			}
		}
	}
}

// TestGapQueriesRefused: columns, windows and numbers of rows that cannot be used.
func TestGapQueriesRefused(t *testing.T) {
	for _, q := range []interface{ Validate(int) error }{
		query.SpacingMasses{LogWindow: 14}, query.SpacingMasses{LogWindow: 61}, query.SpacingMasses{LogWindow: 20, Column: 2}, query.SpacingMasses{LogWindow: 20, Column: -1},
		query.SpacingMasses{LogWindow: 20, Partition: query.Partition{Regions: []query.Region{}}}, papers.SpacingBuckets{}, papers.SpacingBuckets{Rows: -1}, papers.SpacingBuckets{Rows: 1 << 31}, papers.SpacingBuckets{Rows: 3, Column: 2},
	} {
		if err := q.Validate(2); err == nil {
			t.Errorf("%+v was accepted", q)
		}
	}
	for _, q := range []interface {
		Validate(int) error
		Kind() string
	}{query.SpacingMasses{LogWindow: 15, Column: 1}, query.SpacingMasses{LogWindow: 60, Partition: query.Partition{Regions: make([]query.Region, 1)}}, papers.SpacingBuckets{Rows: 1<<31 - 1}} {
		if err := q.Validate(2); err != nil {
			t.Error(err)
		}
		if _, err := query.Own(q); err != nil {
			t.Error(err)
		}
	}
	if kinds := fmt.Sprint(query.SpacingMasses{}.Kind(), " ", query.SpacingMasses{Partition: query.Partition{Regions: make([]query.Region, 1)}}.Kind()); kinds != "gaps "+query.PartsOf("gaps") {
		t.Error(kinds)
	}
}
