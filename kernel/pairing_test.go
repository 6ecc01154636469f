package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPairsDisjoint: no row is in two pairs; replace-one pairs everybody, whatever n is.
func TestPairsDisjoint(t *testing.T) {
	for seed := range uint64(50) {
		for _, n := range []int{0, 1, 2, 3, 10, 101} {
			for _, buckets := range []int{1, 2, 50, 1000} {
				for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
					pairs := drawPairs(noise.NewSeeded(seed), r, n, buckets)
					seen := map[int]bool{}
					for _, p := range pairs {
						for _, i := range p {
							if i < 0 || i >= n || seen[i] {
								t.Fatalf("%v, n = %d: row %d in pairs %v", r, n, i, pairs)
							}
							seen[i] = true
						}
					}
					if r == privacy.ReplaceOne && len(pairs) != n/2 || len(pairs) > buckets && r == privacy.AddRemoveOne {
						t.Fatalf("%v, n = %d, %d buckets: %d pairs", r, n, buckets, len(pairs))
					}
				}
			}
		}
	}
}

// couple replays words drawn before, so that common rows keep their draws.
type couple struct{ words []uint64 }

func (c *couple) Uint64() uint64 {
	w := c.words[0]
	c.words = c.words[1:]
	return w
}

// TestOneMoreRowChangesOnePair: with the draws of the common rows fixed, a row more, at any place, changes at most one pair; the
// bucket count is a power of two, so every row takes two words. With three tags for all rows, ties are everywhere.
func TestOneMoreRowChangesOnePair(t *testing.T) {
	for _, tags := range []uint64{math.MaxUint64, 3} {
		src := noise.NewSeeded(4)
		changed := 0
		for range 400 {
			n, buckets := 1+int(noise.Uniform(src, 30)), 1<<noise.Uniform(src, 5)
			var words []uint64
			for range n {
				words = append(words, src.Uint64(), noise.Uniform(src, tags))
			}
			at := int(noise.Uniform(src, uint64(n)))
			with := drawPairs(&couple{slices.Clone(words)}, privacy.AddRemoveOne, n, buckets)
			without := drawPairs(&couple{slices.Delete(slices.Clone(words), 2*at, 2*at+2)}, privacy.AddRemoveOne, n-1, buckets)
			old := map[[2]int]bool{}
			for _, p := range without {
				for i := range p { // row numbers as in the longer table
					if p[i] >= at {
						p[i]++
					}
				}
				old[p] = true
			}
			fresh := 0
			for _, p := range with {
				if !old[p] {
					fresh++
				}
				delete(old, p)
			}
			if fresh > 1 || len(old) > 1 || len(old) > fresh {
				t.Fatalf("row %d of %d: %d pairs are new, %d are gone", at, n, fresh, len(old))
			}
			changed += fresh
		}
		if changed == 0 {
			t.Error("no pair ever changed: the test could not fail")
		}
	}
}

// TestPartnersUniform: under both relations row 0's partner is uniform over the other rows. False-alarm rate 2e-9.
func TestPartnersUniform(t *testing.T) {
	src := noise.NewSeeded(stattest.Seed(t))
	const n = 7
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		counts := make([]int, n-1)
		for range 6000 {
			for _, p := range drawPairs(src, r, n, 2) {
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

// TestQuantileUp: P(X >= quantileUp(ln p)) <= p, and not wastefully less.
func TestQuantileUp(t *testing.T) {
	for l := -3000.; l < 0; l += .37 {
		q := quantileUp(l)
		if l <= -600 {
			if q*q/2 < -l {
				t.Fatalf("quantileUp(%v) = %v breaks Chernoff's bound", l, q)
			}
			continue
		}
		if p := math.Erfc(q/math.Sqrt2) / 2; p > math.Exp(l)*(1+1e-12) || l < -1 && p < math.Exp(l)*(1-1e-5) {
			t.Fatalf("quantileUp(%v) = %v has tail %v, want %v", l, q, p, math.Exp(l))
		}
	}
}
