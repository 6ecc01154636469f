package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// draw draws pairs of rows in the given leaves, two buckets per leaf or as many as told.
func draw(src noise.Source, r privacy.Relation, whole bool, leaves []int, buckets ...int) [][][2]int {
	q := query.Pairs{Buckets: buckets}
	if !whole {
		q.Partition.Regions = make([]query.Region, len(buckets))
	}
	of := make([]int32, len(leaves))
	for i, l := range leaves {
		of[i] = int32(l)
	}
	drawn := drawPairs(src, r, q, len(of), func() []int32 { return of })
	out := make([][][2]int, len(drawn))
	for l, pairs := range drawn {
		for _, p := range pairs {
			out[l] = append(out[l], [2]int{int(p[0]), int(p[1])})
		}
	}
	return out
}

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// TestPairsDisjoint: no row is in two pairs, pairs stay in their leaf, rows in no leaf in none;
// replace-one pairs everybody, whatever n is, if there is no partition.
func TestPairsDisjoint(t *testing.T) {
	for seed := range uint64(50) {
		src := noise.NewSeeded(seed)
		for _, n := range []int{0, 1, 2, 3, 10, 101} {
			for _, buckets := range []int{1, 2, 50, 1000} {
				for _, r := range relations {
					leaves := make([]int, n)
					checkPairs(t, draw(src, r, true, leaves, buckets), r == privacy.ReplaceOne, leaves, buckets)
					for i := range leaves {
						leaves[i] = int(noise.Uniform(src, 4)) - 1
					}
					checkPairs(t, draw(src, r, false, leaves, buckets, 1, 7), false, leaves, buckets, 1, 7)
				}
			}
		}
	}
}

func checkPairs(t *testing.T, drawn [][][2]int, everybody bool, leaves []int, buckets ...int) {
	t.Helper()
	seen := map[int]bool{}
	for leaf, pairs := range drawn {
		for _, i := range flatPairs(pairs) {
			if seen[i] || leaves[i] != leaf {
				t.Fatalf("leaves %v: row %d is in pairs %v", leaves, i, drawn)
			}
			seen[i] = true
		}
		if everybody && len(pairs) != len(leaves)/2 || !everybody && len(pairs) > buckets[leaf] {
			t.Fatalf("%d rows, %d buckets: %d pairs", len(leaves), buckets[leaf], len(pairs))
		}
	}
	if len(drawn) != len(buckets) {
		t.Fatalf("pairs in %d leaves, want %d", len(drawn), len(buckets))
	}
}

func flatPairs(pairs [][2]int) (rows []int) {
	for _, p := range pairs {
		rows = append(rows, p[0], p[1])
	}
	return rows
}

// coupled draws pairs in which row i has the words of draws[i]; a row in no leaf draws nothing.
// Buckets are powers of two, so every other row takes two words.
func coupled(r privacy.Relation, whole bool, leaves []int, draws [][2]uint64, buckets ...int) [][][2]int {
	var words []uint64
	for i, l := range leaves {
		if l >= 0 {
			words = append(words, draws[i][0], draws[i][1])
		}
	}
	return draw(stattest.Replay(words), r, whole, leaves, buckets...)
}

// TestOneRowChangesOnePairOfALeaf: with the draws of the common rows fixed, a row more, at any
// place, changes at most one pair of the leaf it is in and nothing else; a row replaced, at most
// one pair in each of the leaves it leaves and enters, and none if it stays, for what changes then
// is what is in its pair. With three tags for all rows, ties are everywhere.
func TestOneRowChangesOnePairOfALeaf(t *testing.T) {
	src := noise.NewSeeded(4)
	changed := map[string]int{}
	for trial := range 4000 {
		n, tags, whole := 1+int(noise.Uniform(src, 30)), []uint64{math.MaxUint64, 3}[trial%2], trial%4 < 2
		buckets := []int{1 << noise.Uniform(src, 5)}
		if !whole {
			buckets = append(buckets, 1, 1<<noise.Uniform(src, 3))
		}
		leaf := func() int { return int(noise.Uniform(src, uint64(len(buckets)+1))) - 1 }
		leaves, draws := make([]int, n), make([][2]uint64, n)
		for i := range leaves {
			leaves[i], draws[i] = leaf(), [2]uint64{src.Uint64(), noise.Uniform(src, tags)}
		}
		at := int(noise.Uniform(src, uint64(n)))
		with := coupled(privacy.AddRemoveOne, whole, leaves, draws, buckets...)
		without := coupled(privacy.AddRemoveOne, whole, slices.Delete(slices.Clone(leaves), at, at+1), slices.Delete(slices.Clone(draws), at, at+1), buckets...)
		for _, pairs := range without {
			for i := range pairs { // row numbers as in the longer table
				for j := range pairs[i] {
					if pairs[i][j] >= at {
						pairs[i][j]++
					}
				}
			}
		}
		for l := range buckets {
			fresh, gone := compare(with[l], without[l])
			if fresh > 1 || gone > fresh || l != leaves[at] && fresh+gone > 0 {
				t.Fatalf("row %d of %v more: in leaf %d %d pairs are new, %d are gone", at, leaves, l, fresh, gone)
			}
			changed["more"] += fresh
		}
		if whole {
			continue // replace-one draws a matching
		}
		before := coupled(privacy.ReplaceOne, whole, leaves, draws, buckets...)
		replaced := slices.Clone(leaves)
		replaced[at] = leaf()
		after := coupled(privacy.ReplaceOne, whole, replaced, draws, buckets...)
		for l := range buckets {
			fresh, gone := compare(after[l], before[l])
			moved := leaves[at] != replaced[at] && (l == leaves[at] || l == replaced[at])
			if fresh > 1 || gone > 1 || !moved && fresh+gone > 0 {
				t.Fatalf("row %d of %v moves to %d: in leaf %d %d pairs are new, %d are gone", at, leaves, replaced[at], l, fresh, gone)
			}
			changed["moved"] += fresh + gone
		}
	}
	if changed["more"] < 100 || changed["moved"] < 100 {
		t.Errorf("pairs changed: %v: the test could hardly fail", changed)
	}
}

// compare counts the pairs that are in x only and in y only.
func compare(x, y [][2]int) (fresh, gone int) {
	for _, p := range x {
		if !slices.Contains(y, p) {
			fresh++
		}
	}
	return fresh, len(y) - (len(x) - fresh)
}

// TestPartnersUniform: row 0's partner is uniform over the other rows of its leaf, under both
// relations, with a partition and without. False-alarm rate 4e-9.
func TestPartnersUniform(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	const n = 7
	for _, r := range relations {
		for _, whole := range []bool{true, false} {
			leaves, buckets := make([]int, n), []int{2}
			if !whole {
				leaves, buckets = append(leaves, -1, 1, 1, -1, 1), []int{2, 1}
			}
			counts := make([]int, n-1)
			for range 6000 {
				for _, p := range draw(src, r, whole, leaves, buckets...)[0] {
					if slices.Min(p[:]) == 0 {
						counts[slices.Max(p[:])-1]++
					}
				}
			}
			probs := slices.Repeat([]float64{1. / (n - 1)}, n-1)
			stattest.GoodFit(t, counts, probs, stattest.FalseAlarm)
			probs[0], probs[1] = probs[0]*1.3, probs[1]*.7
			stattest.BadFit(t, counts, probs, stattest.FalseAlarm)
		}
	}
}

// TestMatchingsUniform: all 15 perfect matchings of six rows are equally likely, and those of four
// of five rows. False-alarm rate 2e-9.
func TestMatchingsUniform(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	for _, n := range []int{5, 6} {
		number, counts := map[string]int{}, make([]int, 15)
		for range 15000 {
			pairs := drawMatching(src, n)
			for i, p := range pairs {
				pairs[i] = [2]int32{min(p[0], p[1]), max(p[0], p[1])}
			}
			slices.SortFunc(pairs, func(a, b [2]int32) int { return int(a[0] - b[0]) })
			name := fmt.Sprint(pairs)
			if _, seen := number[name]; !seen {
				number[name] = len(number)
			}
			if len(number) > len(counts) {
				t.Fatalf("%d rows have too many matchings, as %s", n, name)
			}
			counts[number[name]]++
		}
		probs := slices.Repeat([]float64{1. / 15}, 15)
		stattest.GoodFit(t, counts, probs, stattest.FalseAlarm)
		probs[0], probs[1] = probs[0]*1.4, probs[1]*.6
		stattest.BadFit(t, counts, probs, stattest.FalseAlarm)
	}
}

// TestQuantileUp: P(X >= privacy.QuantileUp(ln p)) <= p, and not wastefully less.
func TestQuantileUp(t *testing.T) {
	for l := -3000.; l < 0; l += .37 {
		q := privacy.QuantileUp(l)
		if l <= -600 {
			if q*q/2 < -l {
				t.Fatalf("tails.QuantileUp(%v) = %v breaks Chernoff's bound", l, q)
			}
			continue
		}
		if p := math.Erfc(q/math.Sqrt2) / 2; p > math.Exp(l)*(1+1e-12) || l < -1 && p < math.Exp(l)*(1-1e-5) {
			t.Fatalf("tails.QuantileUp(%v) = %v has tail %v, want %v", l, q, p, math.Exp(l))
		}
	}
}
