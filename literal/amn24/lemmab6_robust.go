package amn24

import (
	"fmt"
	"math"
	"sort"

	"github.com/gauze-dp/gauze/literal/paper"
)

// robust is the robust estimator A of one column, made executable: it takes multisets of the points
// of a public lattice, and so few of them that all can be looked at. Whatever it answers, score (3)
// has sensitivity 1.
//
// With (a), (b) and (c) it is Lemma B.6's; only the printed constants ask for (a). The practical
// ones leave it out: what one of four elements may change without a change of mind has an sd that
// the lattice is too coarse for, and the test of Theorem C.3 then failed in every fit. Without (a)
// the lemma's property 1 does not hold (TestRobustProperty counts where). The score's sensitivity,
// and so privacy, does not depend on it.
//
// Source: [AMN24] Section E.1. Differs: the estimator A0 that Lemma B.6 starts from is median and
// interquartile range, where the paper takes that of Theorem B.3; (a) is not asked for with the
// practical constants, so that what runs is not the lemma's estimator; datasets are multisets of
// lattice points, so that "some dataset" is one of a finite list; (c) wants at least three equal
// elements, because a lattice has ties where a Gaussian sample has none.
type robust struct {
	Points []float64 // of the lattice, increasing
	// Components is k in (c): a subset of m/(4k) elements, Ties at least, must not lie within
	// Narrow.
	Components, Ties int
	// Changed is phi: what A0 says must survive the replacement of this part of the elements.
	Changed float64
	// Closeness is the closeness that is meant; the lemma's checks allow Symmetry*Transitivity = 8
	// times as much.
	Closeness tolerance
	// Wide and Narrow are B1 and 1/B2, in standard deviations.
	Wide, Narrow float64
}

// allowed is how much more than Closeness the checks allow: closeness is symmetric up to a factor
// of 2 and transitive up to one of 4.
//
// Source: [AMN24] Proposition B.2.
const allowed = 2 * 4

// quartileSpan is the interquartile range of a standard Gaussian.
const quartileSpan = 1.349

// An opinion is what A says of a multiset: a pair in one column, or nothing.
type opinion struct {
	Mean, SD float64
	OK       bool
}

func (o opinion) pair() pair { return paper.Line(o.Mean, o.SD) }

// start returns A0: median and interquartile range of a multiset; they are those of the multiset
// repeated any number of times.
func (r robust) start(y []int) opinion {
	o := opinion{Mean: r.quantile(y, 2), SD: (r.quantile(y, 3) - r.quantile(y, 1)) / quartileSpan}
	o.OK = o.SD > 0
	return o
}

// quantile returns the least point that at least quarters/4 of the elements do not exceed.
func (r robust) quantile(y []int, quarters int) float64 {
	m, below := size(y), 0
	for i, c := range y {
		if below += c; 4*below >= quarters*m {
			return r.Points[i]
		}
	}
	return r.Points[len(r.Points)-1]
}

func size(y []int) (m int) {
	for _, c := range y {
		m += c
	}
	return m
}

// opinions returns A on every multiset of m elements, in the order of multisets.
//
// Source: [AMN24] Lemma B.6. Differs: without (a) where Changed of the elements is less than one,
// as with the constants that run.
func (r robust) opinions(m int) []opinion {
	all := multisets(len(r.Points), m)
	starts := make([]opinion, len(all))
	for i, y := range all {
		starts[i] = r.start(y)
	}
	out := make([]opinion, len(all))
	for i, y := range all {
		if starts[i].OK && !r.strays(y, starts[i]) && !r.clumps(y, m, starts[i].SD) && r.survives(all, starts, i, m) { // which takes longest
			out[i] = starts[i]
		}
	}
	return out
}

// survives returns the converse of (a): no multiset with at most a part Changed of other elements
// makes A0 say something else. The constants that run do not ask for it.
//
// Source: [AMN24] Lemma B.6.
func (r robust) survives(all [][]int, starts []opinion, i, m int) bool {
	most := int(r.Changed * float64(m))
	if most == 0 {
		return true
	}
	own, near := starts[i].pair(), r.Closeness.times(allowed)
	for j, y := range all {
		if d := changes(all[i], y, most); d > 0 && d <= most && !(starts[j].OK && near.close(starts[j].pair(), own)) {
			return false
		}
	}
	return true
}

// strays returns (b): an element lies more than Wide standard deviations from the mean.
func (r robust) strays(y []int, o opinion) bool {
	for i, c := range y {
		if c > 0 && math.Abs(r.Points[i]-o.Mean) > r.Wide*o.SD {
			return true
		}
	}
	return false
}

// clumps returns (c): too many elements lie within Narrow standard deviations of one number.
func (r robust) clumps(y []int, m int, sd float64) bool {
	most := max((m+4*r.Components-1)/(4*r.Components), r.Ties)
	for i := range y {
		end := sort.Search(len(y), func(j int) bool { return j > i && r.Points[j] > r.Points[i]+2*r.Narrow*sd })
		if size(y[i:end]) >= most {
			return true
		}
	}
	return false
}

// stable returns A on every multiset of m elements whose opinion most of its subsets share: those
// of n elements of which at least 2/3 are told about the same. It is what function (2) asks of a
// multiset, whatever pair and region it is asked about.
//
// Source: [AMN24] Section E.1.
func (r robust) stable(m, n int) []opinion {
	of := map[string]opinion{}
	parts, opinions := multisets(len(r.Points), n), r.opinions(n)
	for i, z := range parts {
		of[fmt.Sprint(z)] = opinions[i]
	}
	out := r.opinions(m)
	for i, y := range multisets(len(r.Points), m) {
		if !out[i].OK {
			continue
		}
		agree := 0.0
		eachSubset(y, n, func(z []int, ways float64) {
			if o := of[fmt.Sprint(z)]; o.OK && r.Closeness.times(allowed).close(o.pair(), out[i].pair()) {
				agree += ways
			}
		})
		if 3*agree < 2*choose(m, n) {
			out[i] = opinion{}
		}
	}
	return out
}
