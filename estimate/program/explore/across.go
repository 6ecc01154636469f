package explore

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/leaves"
)

// Utility constants of columns that show two modes, guesses.
const (
	acrossShare = .02
	mostAcross  = 3
	acrossBins  = 32  // of the histogram of a column
	acrossSDs   = 4.0 // .. to either side of the node's mean
	// sds of a count, noise and rows together, that lie between a valley and the lower mode:
	// columns without modes reach five
	modeSDs   = 7.0
	leastMode = .05 // of the higher mode
	valley    = .6  // of the lower mode, at most
)

// across looks at the columns of every leaf, one by one, where the leading directions showed
// nothing, or where a tree in several directions was too coarse: clusters apart along one axis of
// many. It sets the direction of the next tree of leaves in which a column has two modes, and
// reports whether there are any.
func (f *Finder) across() (any bool, err error) {
	nodes := f.root.leaves()
	var queries []query.Counts
	for _, n := range nodes {
		whole := n.view.Lift(n.at, f.Rest)
		var w []window
		for j, m := range whole.Mean {
			w = append(w, window{mid: m, half: acrossSDs * math.Sqrt(math.Max(whole.Cov.At(j, j), 0))})
		}
		queries = append(queries, f.bins(w, acrossBins))
	}
	answers, err := leaves.Ask(f.Allotment, f.Prefix+stepAcross, f.partition(), queries, f.Mu(acrossShare))
	if err != nil {
		return false, err
	}
	for i, n := range nodes {
		best := modeSDs
		for j := range f.Space.Columns {
			counts := answers[i].Values[j*(acrossBins+2)+1:][:acrossBins]
			if m := modes(counts, answers[i].Sigma); m > best {
				best, any = m, true
				n.first = n.view.axis(j)
			}
		}
	}
	return any, nil
}

// modes is how clear it is that bins with noise sd have two modes: the sds between a valley and the
// lower one, in counts of two bins each.
func modes(bins []float64, sd float64) (most float64) {
	sd *= math.Sqrt2
	counts := make([]float64, len(bins)-1)
	for b := range counts {
		counts[b] = bins[b] + bins[b+1]
	}
	right := make([]float64, len(counts))
	for b := len(counts) - 2; b >= 0; b-- {
		right[b] = math.Max(right[b+1], counts[b+1])
	}
	left, high := counts[0], slices.Max(counts)
	for b, c := range counts {
		if low := math.Min(left, right[b]); low > leastMode*high && c < valley*low {
			most = math.Max(most, (low-c)/math.Sqrt(sd*sd+low))
		}
		left = math.Max(left, c)
	}
	return most
}

// axis is the direction of working coordinate j, as the view sees it; nil if it does not.
func (w View) axis(j int) *mat.Dense {
	u := mat.DenseCopyOf(w.V.Slice(j, j+1, 0, w.Dim()).T())
	n := mat.Norm(u, 2)
	if !(n > 1e-6) {
		return nil
	}
	u.Scale(1/n, u)
	return u
}
