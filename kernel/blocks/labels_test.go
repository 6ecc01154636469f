package blocks

import (
	"math"
	"math/rand/v2"
	"testing"
)

// around has estimates at random places of a cycle along which components change places: a ring
// that is turned, a fan, or two components that go around in a scale that is wide along their way,
// all scales growing and shrinking meanwhile.
func around(g *rand.Rand, n int) [][]Component {
	k, wide, grown, way := 3+g.IntN(5), math.Exp(3.2*g.Float64()), .4*g.Float64()*float64(g.IntN(2)), g.IntN(3)
	apart := 2 + 6*g.Float64()
	steps := 4 + g.IntN(5)
	out := make([][]Component, n)
	for i := range out {
		at := (float64(g.IntN(steps)) + .1*g.NormFloat64()*float64(g.IntN(2))) / float64(steps)
		switch way {
		case 0:
			out[i] = turned(math.Pi*at, wide, apart)
		case 1:
			out[i] = fan(k, at, 1+wide)
		default:
			out[i] = ring(k, at, .5)
		}
		out[i] = permuted(g, stretched(out[i], grown*g.NormFloat64()))
	}
	return out
}

// torn counts the closed walks over three and four friendships that do not lead every component to
// itself, and those over four in all, whose ends are four different estimates.
func torn(table [][]Component, loosen func(l *limits)) (broken, walks int) {
	n, k := len(table), len(table[0])
	r := Rules{Estimates: n, Components: k, Columns: 2, Core: Core(n, k), Pass: n, Radius: MaxRadius}
	l := r.limits()
	loosen(&l)
	a, p := r.compareWithin(table, l), newPair(k, 2)
	labels := make([][]int, n*n)
	for i := range labels {
		if a.friends[i] {
			labels[i] = a.matched(i/n, i%n, p)
		}
	}
	for i := range n {
		for j := range i {
			for x := range n {
				for y := range x { // from i by x to j and back by y
					out, out2, back, back2 := labels[i*n+x], labels[x*n+j], labels[j*n+y], labels[y*n+i]
					if out == nil || out2 == nil || back == nil || back2 == nil {
						continue
					}
					if x != i && x != j && y != i && y != j {
						walks++
					}
					for c := range k {
						if back2[back[out2[out[c]]]] != c {
							broken++
							break
						}
					}
				}
			}
		}
	}
	return broken, walks
}

// TestWalksOfFour: they lead every component to itself, as the labels of a core rest on; they would
// not, were friends somewhat farther apart or their scales less alike.
func TestWalksOfFour(t *testing.T) {
	g := seeded(19)
	walks, share, inner, scales := 0, 0, 0, 0
	for round := range 400 {
		table := around(g, 16)
		broken, all := torn(table, func(*limits) {})
		if walks += all; broken > 0 {
			t.Fatalf("round %d: %d closed walks of four permute components", round, broken)
		}
		broken, _ = torn(table, func(l *limits) { l.share = .3 })
		share += broken
		broken, _ = torn(table, func(l *limits) { l.inner = .3 })
		inner += broken
		broken, _ = torn(table, func(l *limits) { l.alike = 2.5 })
		scales += broken
	}
	t.Logf("%d walks; %d broken by a share of .3, %d by an inner share of that, %d by scales of e^2.5", walks, share, inner, scales)
	if walks < 10000 || share == 0 || inner == 0 || scales == 0 {
		t.Errorf("%d walks; %d broken by a share of .3, %d by an inner share of that, %d by scales of e^2.5: these tables are too tame", walks, share, inner, scales)
	}
}
