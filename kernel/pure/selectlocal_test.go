package pure

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// localLaw is the law of SelectLocal's outcome for options of the given S, the failure last, by the
// formulas of its doc comment.
func localLaw(l Local, e0, e1, d float64, s []int64) (p []float64, g int64) {
	scores := make([]int64, len(s))
	for i, v := range s {
		scores[i] = -v
	}
	g = locality(l, e0, math.Log(d), scores)
	most := supportOf(e1, 1, math.Log(d))
	pass, sum := 0.0, 0.0
	for z := -most; z <= most; z++ {
		w := math.Exp(-e1 * math.Abs(float64(z)))
		if sum += w; g+z > most {
			pass += w
		}
	}
	pass /= sum
	weights, total := make([]float64, len(s)), 0.0
	for i, v := range s {
		if v <= int64(l.Eta) {
			weights[i] = math.Exp(-e0 * float64(v))
			total += weights[i]
		}
	}
	for _, w := range weights {
		if total > 0 {
			w *= pass / total
		}
		p = append(p, w)
	}
	return append(p, 1-pass), g
}

// beyond is the sum of what p has more than e^epsilon q, over all outcomes.
func beyond(epsilon float64, p, q []float64) (delta float64) {
	for i := range p {
		delta += math.Max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return delta
}

// localityTwin is the definition of g, in real numbers.
func localityTwin(l Local, e0, d float64, s []int64) (g int64) {
	volume := func(t int) (n float64) {
		for _, v := range s {
			if v <= int64(t) {
				n++
			}
		}
		if l.Unlisted > 0 && l.Unlisted <= int64(t) {
			n = math.Inf(1)
		}
		return n
	}
	g = -1
	for t := 0; t <= l.Eta; t++ {
		low, high := volume(l.Eta/2-t), volume(l.Eta+1+t)
		if low > 0 && !math.IsInf(high, 1) && high <= d*math.Exp(e0*float64(l.Eta/2-2*t-1))*low {
			g = int64(t)
		}
	}
	return g
}

// randomLocal has a few good options and crowds that wait at the edges that the test looks at.
func randomLocal(rng *rand.Rand) (l Local, s []int64) {
	l = Local{Eta: 2 * (1 + rng.IntN(16)), Test: .5}
	if rng.IntN(2) == 0 {
		l.Unlisted = int64(l.Eta + 1 + rng.IntN(l.Eta+3))
	}
	for range 1 + rng.IntN(5) {
		at := [...]int{rng.IntN(3), l.Eta/2 - rng.IntN(l.Eta/2+1), l.Eta - rng.IntN(3), l.Eta + rng.IntN(l.Eta/2+4), rng.IntN(2 * l.Eta)}[rng.IntN(5)]
		for range 1 + rng.IntN([...]int{1, 1, 5, 60}[rng.IntN(4)]) {
			s = append(s, int64(max(0, at)))
		}
	}
	return l, s
}

// TestLocalIsPrivate computes the laws of neighbours exactly, on random lists whose scores all move
// by at most 1, crowds together or apart: in both directions no more than d0 + d1 is left beyond
// epsilon, and g moves by at most 1. Without the test of locality the same instances break the
// claim, so they can.
func TestLocalIsPrivate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	able, closest, broken := 0, 0.0, 0
	instances := 20_000
	if os.Getenv("GAUZE_LONG") != "" {
		instances = 200_000
	}
	for range instances {
		l, s := randomLocal(rng)
		e0, e1, d := .05+3*rng.Float64(), .3+3*rng.Float64(), math.Pow(10, -.4-2*rng.Float64())
		other, drift := slices.Clone(s), [3]int64{-1, 0, 1}
		crowd := map[int64]int64{}
		together := rng.IntN(2) == 0
		for i, v := range s {
			move := drift[rng.IntN(3)]
			if _, ok := crowd[v]; !ok {
				crowd[v] = move
			}
			if together {
				move = crowd[v]
			}
			other[i] = max(0, v+move)
		}
		p, g := localLaw(l, e0, e1, d, s)
		q, h := localLaw(l, e0, e1, d, other)
		if g-h > 1 || h-g > 1 {
			t.Fatalf("%+v: g = %d and %d for %v and %v", l, g, h, s, other)
		}
		if high, low := localityTwin(l, e0, d, s), localityTwin(l, e0, d*(1-1e-6), s); g > high || g < low {
			t.Fatalf("%+v: g = %d for %v, the definition says %d", l, g, s, high)
		}
		epsilon := 2*e0 + e1 - math.Log1p(-d)
		if p[len(s)] < 1 || q[len(s)] < 1 {
			able++
		}
		for _, side := range [][2][]float64{{p, q}, {q, p}} {
			delta := beyond(epsilon, side[0], side[1])
			closest = math.Max(closest, delta/(2*d))
			if delta > 2*d*(1+1e-9) {
				t.Fatalf("%+v, e0 = %v, e1 = %v, d0 = d1 = %v: %v is left beyond epsilon, %v and %v", l, e0, e1, d, delta, s, other)
			}
		}
		untested := func(s []int64) (p []float64) { // the same choice, whatever g is
			total := 0.0
			for _, v := range s {
				w := 0.0
				if v <= int64(l.Eta) {
					w = math.Exp(-e0 * float64(v))
				}
				p, total = append(p, w), total+w
			}
			for i := range p {
				p[i] /= math.Max(total, 1e-300)
			}
			return p
		}
		if a, b := untested(s), untested(other); beyond(epsilon, a, b) > 2*d {
			broken++
		}
	}
	t.Logf("%d of %d can pass; at most %.3f of d0 + d1 is left; without the test %d break the claim", able, instances, closest, broken)
	if able < 500 || broken < 500 || closest < .2 {
		t.Error("these instances show nothing")
	}
}

// TestLocalOnRows: the same on real scores of neighbouring tables, under both relations.
func TestLocalOnRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	frame := func(m, sd float64) query.Affine { return query.Affine{Center: []float64{m}, W: [][]float64{{1 / sd}}} }
	deficits := papers.CellDeficits{Radii: []float64{1}, Targets: []int{2, 2, 1, 1}}
	for m := -2.0; m <= 2; m++ {
		deficits.Maps = append(deficits.Maps, frame(m, 1), frame(m, 3), frame(m, 1e-200))
	}
	overlap := papers.MultisetOverlap{Map: frame(0, 1), Points: [][]float64{{-1}, {0}, {1}, {2}}, Size: 4}
	for a := range 5 {
		for b := range 5 - a {
			for c := range 5 - a - b {
				overlap.Multisets = append(overlap.Multisets, []int{a, b, c, 4 - a - b - c})
				overlap.Lists = append(overlap.Lists, []int{len(overlap.Multisets) - 1, rng.IntN(len(overlap.Multisets))})
			}
		}
	}
	overlap.Lists = append(overlap.Lists, nil)
	spots := []float64{-2, -1, -.4, 0, 0, .3, 1, 1, 1.5, 2, 1e3, 1e200, -1.7e308, math.NaN()}
	for _, score := range []papers.Score{deficits, overlap} {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			able, closest := 0, 0.0
			for range 2000 {
				x := make([]float64, 1+rng.IntN(10))
				for i := range x {
					x[i] = spots[rng.IntN(len(spots))]
				}
				y, at := slices.Clone(x), rng.IntN(len(x))
				if relation == privacy.ReplaceOne {
					y[at] = spots[rng.IntN(len(spots))]
				} else {
					y = slices.Delete(y, at, at+1)
				}
				l := Local{Eta: 2 * (1 + rng.IntN(12))}
				e0, e1, d := .5+4*rng.Float64(), .3+3*rng.Float64(), math.Pow(10, -.4-2*rng.Float64())
				var laws [2][]float64
				for side, values := range [][]float64{x, y} {
					s := score.Scores(values, 1)
					for i := range s {
						s[i] = -s[i]
					}
					laws[side], _ = localLaw(l, e0, e1, d, s)
				}
				if laws[0][len(laws[0])-1] < 1 {
					able++
				}
				for side := range laws {
					delta := beyond(2*e0+e1-math.Log1p(-d), laws[side], laws[1-side])
					closest = math.Max(closest, delta/(2*d))
				}
			}
			t.Logf("%s, %v: %d can pass, at most %.3f of d0 + d1", score.Kind(), relation, able, closest)
			if closest > 1+1e-9 || able < 200 {
				t.Errorf("%s, %v: %d can pass, %v of d0 + d1 is left beyond epsilon", score.Kind(), relation, able, closest)
			}
		}
	}
}
