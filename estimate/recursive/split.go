package recursive

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// Utility constants of the terrific test ([KSSU19] Section C.4 of the restatement).
const (
	apart     = 1.9 // sds of both together between two components, least
	cellFloor = .5  // .. of which EM adds this part if components may be of any scale
	// mean cell variances that a component's covariance in the coreset is short of, with what EM
	// has added
	cellSpread   = 1.95
	leastInNode  = 8.0 // noise sds of one count that a component must hold
	leastIfAsked = 4.0 // .. if the number of components was asked for
	LeastWeight  = .02 // .. and half of this part of all rows
	starts       = 20  // of EM; fewer where points and components are many
	leastStarts  = 4
	workOfStarts = 100000 // points times components times starts, about
	rejections   = 3      // numbers of components that fail in a row before the search ends
)

// separation returns how far two Gaussians are apart, in their sds together along Fisher's
// direction: |u.(a-b)|/(sd_a(u)+sd_b(u)), u = (S_a+S_b)^-1 (a-b); no direction shows more than
// sqrt2 times as much. 0 for one place, +Inf for two points without spread. Above about 2 there is
// an ellipsoid around each with an empty shell around it: a terrific ball, as [KSSU19] asks for,
// with ellipsoids in place of balls.
//
// Source: [KSSU19] Section C.4 of the restatement.
func separation(a, b []float64, covA, covB *mat.SymDense) float64 {
	var sum mat.SymDense
	sum.AddSym(covA, covB)
	_, inv, _ := symmetric.Factor(&sum)
	diff, z := symmetric.Between(inv, a, b)
	var u mat.VecDense
	u.MulVec(inv.T(), z)
	spread := math.Sqrt(math.Max(0, mat.Inner(&u, covA, &u))) + math.Sqrt(math.Max(0, mat.Inner(&u, covB, &u)))
	switch along := mat.Dot(&u, diff); {
	case spread > 0:
		return along / spread
	case along > 0:
		return math.Inf(1)
	default:
		return 0
	}
}

// closest returns the least separation of two components of m. Their covariances are too small by
// so many mean cell variances, as leaves count as points: these are added.
func closest(m *coreset.Mixture, short float64) float64 {
	least := math.Inf(1)
	wide := make([]*mat.SymDense, len(m.Covs))
	for j, s := range m.Covs {
		wide[j] = widened(s, m.Cells[j], short)
	}
	for i := range m.Means {
		for j := range i {
			least = math.Min(least, separation(m.Means[i], m.Means[j], wide[i], wide[j]))
		}
	}
	return least
}

func widened(s *mat.SymDense, spread []float64, short float64) *mat.SymDense {
	w := mat.NewSymDense(len(spread), nil)
	w.CopySym(s)
	for i, v := range spread {
		w.SetSym(i, i, w.At(i, i)+short*v)
	}
	return w
}

// fits are mixtures of 1, 2, .. components of a coreset.
type fits struct {
	set       *coreset.Coreset
	clumps    [][]int // its connected groups, see coreset.Clumps
	rows      float64 // that all nodes share
	likeliest []*coreset.Mixture
	// terrific are, by the number of components less one, the likeliest fits that pass the terrific
	// test; nil where none does.
	terrific [maxTried]*coreset.Mixture
	// likely are the same with a lower bar for the rows of a component: for numbers of components
	// that are asked for.
	likely [maxTried]*coreset.Mixture
}

// maxTried is the largest number of components that a coreset is asked for. A guess.
const maxTried = 64

// fit tries k components, after fewer, and returns the likeliest mixture of k components found. EM
// on a coreset has many local optima, and the likeliest may be one that spends a component on a few
// cells: so every optimum is tested, not the likeliest alone. Once ctx is done it finds nothing.
func (f *fits) fit(ctx context.Context, k int) *coreset.Mixture {
	for len(f.likeliest) < k {
		k := len(f.likeliest) + 1
		var best *coreset.Mixture
		if k <= len(f.set.Points) && k <= maxTried {
			f.starts(ctx, k, func(m *coreset.Mixture, short float64) {
				if len(m.Means) != k {
					return
				}
				if alike := short > cellSpread-cellFloor; best == nil || alike && m.LogLik > best.LogLik {
					best = m
				}
				f.test(m, short)
			})
		}
		f.likeliest = append(f.likeliest, best)
	}
	return f.likeliest[k-1]
}

// test keeps m, in terrific and in likely, without the components that hold too few rows, if what
// is left is apart.
func (f *fits) test(m *coreset.Mixture, short float64) {
	keep(&f.terrific, m, short, f.least()/f.set.Total)
	keep(&f.likely, m, short, leastIfAsked*f.set.SD/f.set.Total)
}

// clumped returns how the leaves fall into k connected groups, if they do.
func (f *fits) clumped(k int) [][]int {
	return slices.DeleteFunc(slices.Clone(f.clumps), func(c []int) bool { return slices.Max(c)+1 != k })
}

// least returns the least number of rows of a component.
func (f *fits) least() float64 { return math.Max(leastInNode*f.set.SD, LeastWeight/2*f.rows) }

// keep tests one list: components of less than the share least are left out, then the rest must be
// apart and the likeliest yet of their number.
func keep(best *[maxTried]*coreset.Mixture, m *coreset.Mixture, short, least float64) {
	left := &coreset.Mixture{LogLik: m.LogLik}
	for j, w := range m.Weights {
		if w >= least {
			left.Weights, left.Means = append(left.Weights, w), append(left.Means, m.Means[j])
			left.Covs, left.Cells = append(left.Covs, m.Covs[j]), append(left.Cells, m.Cells[j])
		}
	}
	k := len(left.Means)
	if k == 0 || best[k-1] != nil && best[k-1].LogLik >= m.LogLik {
		return
	}
	if closest(left, short) > apart {
		best[k-1] = left
	}
}

// starts calls try with fits of k components: from k-means++ starts, from groups of connected
// leaves, and from the fit with one component less, each of its components split in two in turn
// along its longest axis: where k-means++ starts miss a component, one of these finds it. Every
// start is run twice, for components of about one scale and of any, with what the covariances are
// then short of.
func (f *fits) starts(ctx context.Context, k int, try func(m *coreset.Mixture, short float64)) {
	n := min(starts, max(leastStarts, workOfStarts/(len(f.set.Points)*k)))
	clumps := f.clumped(k)
	f.run(ctx, append(f.set.Parts(ctx, k, n, program.Starts(k)), clumps...), try, splitSteps, 0, cellFloor)
	f.run(ctx, clumps, try, 1, cellFloor)
	if k == 1 {
		return
	}
	less := cmp.Or(f.terrific[k-2], f.likeliest[k-2])
	if less == nil {
		return // these points cannot support that many components
	}
	var from [][]int
	for j := range less.Means[:min(len(less.Means), mostSplits)] {
		axis, values := symmetric.Principal(less.Covs[j], 1)
		means := slices.Clone(less.Means)
		low, high := slices.Clone(less.Means[j]), slices.Clone(less.Means[j])
		for i := range low {
			step := math.Sqrt(math.Max(0, values[0])) * axis.At(i, 0)
			low[i], high[i] = low[i]-step, high[i]+step
		}
		means[j] = low
		from = append(from, f.set.Nearest(append(means, high)))
	}
	f.run(ctx, from, try, splitSteps, 0, cellFloor)
}

// run calls try with what EM makes of the assignments, once for each of the floors: parts of the
// variance within leaves that components of any scale get, or 0 for components of about one scale.
func (f *fits) run(ctx context.Context, from [][]int, try func(m *coreset.Mixture, short float64), steps int, floors ...float64) {
	for _, floor := range floors {
		set := *f.set
		set.OwnCells = floor
		for _, m := range coreset.FitAll(ctx, &set, from, steps) {
			try(m, cellSpread-cmp.Or(floor, coreset.PooledFloor))
		}
	}
}

// mostSplits bounds the components that are split in turn: time grows with their number, and with
// that of components, and with the points. A guess.
const mostSplits = 16

// splitSteps are the EM steps of a start. A guess.
const splitSteps = 40

// choose returns the terrific fit with the most components, at most most; the likeliest with one
// component if there is none. Once ctx is done it returns anything.
//
// Source: [KSSU19] Section C.4 of the restatement.
func (f *fits) choose(ctx context.Context, most int) *coreset.Mixture {
	if len(f.set.Points) == 0 {
		return nil
	}
	best, failed := f.fit(ctx, 1), 0
	for k := 2; k <= min(most+1, len(f.set.Points)); k++ {
		if failed >= rejections && len(f.clumped(k)) == 0 {
			continue
		}
		f.fit(ctx, k)
		failed++
		if k <= min(most, maxTried) && f.terrific[k-1] != nil {
			failed = 0
		}
	}
	// a fit with more may have left one with fewer, by components with few rows
	for k := 2; k <= min(most, maxTried); k++ {
		if f.terrific[k-1] != nil {
			best = f.terrific[k-1]
		}
	}
	return best
}

// asked returns the fit with k components that the caller insists on: terrific if possible.
func (f *fits) asked(ctx context.Context, k int) *coreset.Mixture {
	m := f.fit(ctx, k)
	if k > maxTried {
		return m
	}
	if f.terrific[k-1] == nil {
		f.fit(ctx, k+1)
	}
	return cmp.Or(f.terrific[k-1], f.likely[k-1], m)
}

// Force brings the number of components to the one that was asked for: cuts where the coresets gain
// most, without the terrific test. Its error is the context's.
func (f *Finder) Force() error {
	for f.Problem.Components > len(f.root.leaves()) {
		n, m := f.bestCut(f.root)
		if err := f.Context.Err(); err != nil || n == nil {
			return err
		}
		n.kids = nil
		n.split(m, f.Rows)
	}
	return nil
}

// bestCut returns the node whose coreset gains most by one more component, and the fit with it;
// once the context is done, anything.
func (f *Finder) bestCut(root *node) (*node, *coreset.Mixture) {
	var best *node
	var fit *coreset.Mixture
	gain := math.Inf(-1)
	var walk func(n *node)
	walk = func(n *node) {
		flat := true
		for _, k := range n.kids {
			flat = flat && k.kids == nil
			walk(k)
		}
		if !flat || n.fits == nil {
			return
		}
		now := max(1, len(n.kids))
		a, b := n.fits.asked(f.Context, now), n.fits.asked(f.Context, now+1)
		if a != nil && b != nil && b.LogLik-a.LogLik > gain {
			best, fit, gain = n, b, b.LogLik-a.LogLik
		}
	}
	walk(root)
	return best, fit
}
