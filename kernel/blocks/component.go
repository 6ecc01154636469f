package blocks

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/internal/agree"
)

// The mathematics of block estimates that are mixtures of Gaussians: which of them agree, how far
// two are apart, the mean of those that agree, and how far one changed estimate can move it. It
// draws no noise and sees no rows.
//
// Invariant: every statement about a pair of estimates is a function of that pair, not of any other
// estimate and not of the number of processors.

// A Component is one Gaussian of a mixture.
type Component = agree.Component

// Decode reads an estimate as learners write it: for every component the weight, the mean and the
// rows of a root. It returns nil if there is none, or if a number is missing, in excess or not
// finite.
func Decode(estimates [][]float64, d int) []Component {
	var out []Component
	for _, e := range estimates {
		if len(e) != 1+d+d*d || !dense.AllFinite(e) {
			return nil
		}
		out = append(out, Component{Weight: e[0], Mean: e[1 : 1+d], Root: e[1+d:]})
	}
	return out
}

// The conditions on a valid estimate. All four are conditions of privacy, see the definitions in
// rules_proof.md.
const (
	leastWeight = 1e-6
	mostWeight  = 1 + 1e-9
	// of every root, made lower triangular, and of the scale's: Skeel's, the largest row sum of
	// |inverse| |root|
	mostCondition = 1e6
	leastApart    = 1e-3 // between two components of one estimate, see separation
	// of means and roots, and of the inverse of a root's diagonal: squares do not overflow
	mostEntry = 1e150
)

// A Factor is a valid component: the root is lower triangular with positive diagonal. These
// numbers, taken as exact, are the block's estimate, whatever the rounding in making the root
// triangular.
type Factor struct {
	weight float64
	mean   []float64
	triangle
}

// A triangle is a lower triangular matrix with positive diagonal, and its approximate inverse.
type triangle struct{ root, inverse []float64 }

// newFactor returns c with a triangular root, and false if c is not valid.
func newFactor(c Component, d int) (Factor, bool) {
	if len(c.Mean) != d || len(c.Root) != d*d || !(c.Weight >= leastWeight && c.Weight <= mostWeight) {
		return Factor{}, false
	}
	f := Factor{weight: c.Weight, mean: slices.Clone(c.Mean)}
	for _, x := range slices.Concat(c.Mean, c.Root) {
		if !(math.Abs(x) <= mostEntry) {
			return Factor{}, false
		}
	}
	var ok bool
	f.triangle, ok = newTriangle(slices.Clone(c.Root), d, d)
	return f, ok
}

// newTriangle returns the triangle of a a', and false if it is too near to singular. It overwrites
// a, which is d x width.
func newTriangle(a []float64, d, width int) (triangle, bool) {
	t := triangle{root: dense.LQ(a, d, width)}
	for i := range d {
		if !(t.root[i*d+i] >= 1/mostEntry) {
			return t, false
		}
	}
	t.inverse = dense.InvertLowerByRows(t.root, d)
	return t, condition(t.inverse, t.root, d) <= mostCondition
}

// condition returns the largest row sum of |x| |l|; NaN or infinite if something overflowed.
func condition(x, l []float64, d int) float64 {
	most := 0.0
	for i := 0; i < d; i++ {
		s := 0.0
		for j := 0; j <= i; j++ {
			for k := 0; k <= j; k++ {
				s += math.Abs(x[i*d+j]) * math.Abs(l[j*d+k])
			}
		}
		most = max(most, s)
	}
	return most
}

// An estimate is a block's mixture, valid unless parts is nil.
type estimate struct {
	parts []Factor
	// With more than one component, what labels them:
	scale  scale
	levels []float64
	apart  float64 // the least separation; infinite for one component
}

// Factors returns the valid components of a mixture, or nil if one is not valid or there are not k.
func Factors(mixture []Component, k, d int) []Factor {
	if len(mixture) != k {
		return nil
	}
	parts := make([]Factor, k)
	for i, c := range mixture {
		var ok bool
		if parts[i], ok = newFactor(c, d); !ok {
			return nil
		}
	}
	return parts
}
