package recursive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// Utility constants of columns that show two modes, guesses.
const (
	acrossShare = .02
	mostAcross  = 4
	acrossKeep  = .15 // of mu^2, that is left beyond what exploring leaves in any case
	acrossBins  = 32  // of the histogram of a column
	acrossSDs   = 4.0 // .. to either side of the node's mean
	// sds of a count, noise and rows together, that lie between a valley and the lower mode:
	// columns without modes reach five
	modeSDs   = 7.0
	leastMode = .05 // of the higher mode
	valley    = .6  // of the lower mode, at most
	// a leading direction stands out if its variance is this many times the next
	alone = 2.0
	// a misfit of the root beyond which its tree is cut in slices
	sliceMisfit = .04
)

// findAcross grows trees in single directions where those in several were too coarse, or had not
// the right ones: where all rows are one node, the leading direction if it stands out, then
// Fisher's; and in any node a column that has two modes. A node that does not split keeps the tree
// it had.
func (f *Finder) findAcross() error {
	var sliced *coreset.Mixture
	_, v := symmetric.Principal(f.root.at.Cov, 1)
	lead := len(v) > 1 && !f.Without.Lead && v[0] > alone*v[1]
	was := map[*node]node{}
	defer func() {
		for n, w := range was {
			if n.kids == nil && w.fits != nil {
				n.look, n.fits, n.tree = w.look, w.fits, w.tree
			}
		}
	}()
	for looks := 0; looks < mostAcross && f.wanting(); looks++ {
		one := f.root.kids == nil
		found, line, columns := true, false, false
		var err error
		switch {
		case one && lead:
			f.root.first, _ = symmetric.Principal(f.root.at.Cov, 1)
			lead, line = false, true
		case one && sliced != nil:
			err = f.fisher(sliced)
			sliced = nil
		default:
			found, err = f.across()
			columns = true
		}
		if err != nil || !found {
			return err
		}
		for _, n := range f.root.leaves() {
			if _, ok := was[n]; !ok {
				was[n] = *n
			}
		}
		if err := f.grow(regrowShare, narrow); err != nil {
			return err
		}
		split := f.cut()
		if line && !f.Without.Slices {
			sliced = f.root.slices()
		}
		if columns && !split {
			break
		}
		if split {
			if err := f.settle(); err != nil {
				return err
			}
		}
	}
	return f.Context.Err()
}

// wanting reports whether there may be more components, and whether there is budget to search
// columns for them.
func (f *Finder) wanting() bool {
	return len(f.root.leaves()) < f.Most() && f.affords(acrossShare+regrowCost+lookShare+acrossKeep)
}

// across measures the columns of every leaf, one by one: clusters may be apart along one axis of
// many. It sets the direction of the next tree of leaves in which a column has two modes, and
// reports whether there are any.
func (f *Finder) across() (any bool, err error) {
	nodes := f.root.leaves()
	queries := parts.Map(nodes, func(n *node) query.Counts { return f.bins(f.windows(n, acrossSDs), acrossBins) })
	answers, err := parts.AskLeaves(f.SubBudget, f.Prefix+stepAcross, f.partition(), queries, f.Mu(f.lean(acrossShare)))
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

// slices returns the mixture of most components that was tried on the node's tree, if its rows are
// not Gaussian and there are other directions; else nil.
func (n *node) slices() *coreset.Mixture {
	tried := slices.DeleteFunc(slices.Clone(n.fits.likeliest), func(m *coreset.Mixture) bool { return m == nil })
	if len(tried) < 2 || n.look.Dim() == n.view.Dim() || !(n.fits.set.Misfit() > sliceMisfit) {
		return nil
	}
	return tried[len(tried)-1]
}

// fisher sets the direction of the root's next tree: that in which the rows differ most against how
// they differ within the slices of m, which are cut for a look and joined again. Where clusters are
// apart, but long across what the tree looked along, this is Fisher's direction.
func (f *Finder) fisher(m *coreset.Mixture) error {
	n := f.root
	n.split(m, f.Rows)
	_, err := f.lookNodes(lookShare)
	within := mat.NewSymDense(len(n.at.Mean), nil)
	for _, k := range n.kids {
		within.AddSym(within, symmetric.Scaled(k.at.Weight, k.at.Cov))
	}
	_, inv, _ := symmetric.Factor(within)
	v, _ := symmetric.Principal(symmetric.Congruence(inv, n.at.Cov), 1)
	var u mat.Dense
	u.Mul(inv.T(), v)
	u.Scale(1/mat.Norm(&u, 2), &u)
	n.kids, n.first = nil, &u
	return err
}

// modes returns how clearly bins with noise sd have two modes: the sds between a valley and the
// lower mode, in counts of two bins each.
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

// axis returns the direction of working coordinate j in the view; nil if the view does not contain
// it.
func (w View) axis(j int) *mat.Dense {
	u := mat.DenseCopyOf(w.V.Slice(j, j+1, 0, w.Dim()).T())
	n := mat.Norm(u, 2)
	if !(n > 1e-6) {
		return nil
	}
	u.Scale(1/n, u)
	return u
}
