package privateem

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts/component"
)

// pairsLift is Lift of a last round with Pairs: second moments then have the noise that they would
// have in the diagonal form, sums have less, and counts a third more.
const pairsLift = .85

// Utility constants of what is correlated, guesses.
const (
	// a correlation is told from this many sds of noise and sampling on, and from this size on
	pairsSDs, leastPair = 4.5, .3
	// a component whose correlations have a larger sd than this says nothing of them
	mostPairSD = .2
)

// correlations are those within one component as the last round measured them: of columns i > j at
// i(i-1)/2+j, with the sd of noise and sampling.
type correlations struct {
	rho []float64
	sd  float64
}

// correlationsOf returns those of a component c that the sums have moved.
func correlationsOf(s component.Sums, law component.ClippingLaw, c component.Gaussian) (out correlations) {
	n := math.Max(c.Rows, 1)
	out.sd = math.Hypot(s.SecondSD/n/law.B1/math.Sqrt2, 1/math.Sqrt(n))
	mean := func(i int) float64 { return s.Sum[i] / n / law.A1 }
	spread := func(i int) float64 { return math.Sqrt(math.Max(s.Second.At(i, i)/n/law.B1-mean(i)*mean(i), .5)) }
	for i := range c.Mean {
		for j := range i {
			out.rho = append(out.rho, (s.Second.At(i, j)/n/law.B1-mean(i)*mean(j))/(spread(i)*spread(j)))
		}
	}
	return out
}

// A Pair is two coordinates that are correlated within components, by about Rho in the component
// that shows it most.
type Pair struct {
	I, J int
	Rho  float64
}

// Correlated returns the pairs that are correlated within some component, or in the mean over all,
// clear of the noise; the strongest first.
func (r *Rounds) Correlated() (out []Pair) {
	for i := range r.Space.Dim() {
		for j := range i {
			at := i*(i-1)/2 + j
			sum, precision, most := 0.0, 0.0, 0.0
			told := func(rho, sd float64) {
				if math.Abs(rho) > math.Max(leastPair, pairsSDs*sd) && math.Abs(rho) > math.Abs(most) {
					most = rho
				}
			}
			for _, p := range r.pairs {
				if p.sd > mostPairSD {
					continue
				}
				told(p.rho[at], p.sd)
				sum, precision = sum+p.rho[at]/(p.sd*p.sd), precision+1/(p.sd*p.sd)
			}
			if precision > 0 {
				told(sum/precision, 1/math.Sqrt(precision))
			}
			if most != 0 && dense.Finite(most) {
				out = append(out, Pair{j, i, math.Max(-1, math.Min(1, most))})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return cmp.Compare(math.Abs(b.Rho), math.Abs(a.Rho)) })
	return out
}
