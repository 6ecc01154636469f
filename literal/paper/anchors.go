package paper

import "math"

// Constants that only utility and time depend on: which sets the form anchored takes. Guesses.
const (
	mostAnchors  = 20      // mixtures whose pairs make the sets: 190 of them
	anchorPool   = 2000    // mixtures they are taken from, evenly spaced in the list
	anchorPoints = 1000    // points on which mixtures are compared
	mostMasses   = 1 << 23 // numbers that the masses of all Gaussians in all sets may be
)

// fastAnchors returns how many mixtures make sets, so that there is memory for the masses.
func fastAnchors(gaussians int) int {
	r := mostAnchors
	for r > 2 && r*(r-1)/2*gaussians > mostMasses {
		r--
	}
	return r
}

// maximin chooses up to r mixtures, one after another: each is the one farthest, in total
// variation, from the nearest of those before it. The distances are averages over points of the
// pool's own mean density, the same at every run.
//
// Source: [AAL21] Section 3.4 of the restatement. Differs: sets of pairs only, no Voronoi cells;
// what is integrated is the Gaussians and not the mixtures, so that lists may be longer; the points
// come from a fixed sequence.
func (l *List) maximin(r int) (chosen []int) {
	step := max(1, float64(l.Len())/anchorPool)
	var pool []int
	for i := 0; int(float64(i)*step) < l.Len(); i++ {
		pool = append(pool, int(float64(i)*step))
	}
	f := l.densities(pool)
	distance := make([]float64, len(pool))
	for i := range distance {
		distance[i] = math.Inf(1)
	}
	for at := 0; len(chosen) < r && distance[at] > 0; {
		chosen = append(chosen, pool[at])
		next := at
		distance[at] = 0
		last := f[at]
		for i := range pool {
			tv, least := 0.0, distance[i]
			for p, v := range f[i][:len(last)] {
				if tv += math.Abs(v - last[p]); tv >= least { // no nearer
					break
				}
			}
			distance[i] = min(least, tv)
			if distance[i] > distance[next] {
				next = i
			}
		}
		at = next
	}
	return chosen
}

// densities returns those of the pool's mixtures relative to their mean, at points drawn from that
// mean.
func (l *List) densities(pool []int) [][]float64 {
	var all [][2]int
	for _, i := range pool {
		all = append(all, [2]int{i, i})
	}
	b := l.blend(all)
	f := make([][]float64, len(pool))
	for i := range f {
		f[i] = make([]float64, anchorPoints)
	}
	points := evenPoints(anchorPoints, len(l.Gaussians[0].Mean))
	for p, z := range points {
		// Mixtures in turn; which of its Gaussians, by a sequence that does not repeat with them.
		terms := b.terms[p*len(pool)/anchorPoints]
		left, g := radicalInverse(p+1, 97)*total(terms), terms[0].gaussian
		for _, t := range terms {
			if left -= t.share; left < 0 {
				g = t.gaussian
				break
			}
		}
		b.at(b.gaussians[g].at(z))
		mean := 0.0
		for _, v := range b.mixed {
			mean += v / float64(len(pool))
		}
		for i, v := range b.mixed {
			f[i][p] = v / mean
		}
	}
	return f
}

func total(terms []term) (sum float64) {
	for _, t := range terms {
		sum += t.share
	}
	return sum
}
