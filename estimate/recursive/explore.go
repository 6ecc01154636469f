package recursive

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// The steps of the plan that explore.
const (
	stepLook   = "moments of nodes"
	stepTree   = "trees of counts"
	stepRefine = "zoom into nodes"
	stepAcross = "columns of nodes"
)

// partition returns the ball, cut as the root is.
func (f *Finder) partition() query.Partition {
	d := f.Space.Dim()
	ball := query.Condition{Map: f.Space.Affine(make([]float64, d), mat.DenseCopyOf(symmetric.Identity(d))), Radius: f.radius}
	p := query.Partition{Regions: []query.Region{{Conditions: []query.Condition{ball}}}}
	if f.root != nil && f.root.kids != nil {
		p.Below = []query.Partition{f.root.gate(f.Space)}
	}
	return p
}

// lookRoot measures the second moment of the ball and takes its leading directions as the view:
// private PCA.
//
// Source: [KSSU19] Section B.5 of the restatement; Section C.2.
func (f *Finder) lookRoot() error {
	d := f.Space.Dim()
	q := query.ClippedMoments{Form: query.CompletedForm, Lift: component.Lift, Components: []query.Component{
		{Map: f.Space.Affine(make([]float64, d), mat.DenseCopyOf(symmetric.Identity(d))), Radius: f.clip},
	}}
	mu := f.Mu(pcaShare * math.Min(1, math.Max(leanLook, 2*f.lean(1))))
	ans, err := parts.AskLeaves(f.SubBudget, f.Prefix+stepLook, f.partition(), []query.ClippedMoments{q}, mu)
	if err != nil {
		return err
	}
	s := component.UnpackCounted(q, ans[0])[0]
	n := math.Max(s.Count, LeastRows)
	mean := parts.Map(s.Sum, func(v float64) float64 { return v / n })
	cov := symmetric.Of(d, func(i, j int) float64 { return s.Second.At(i, j)/n - mean[i]*mean[j] })
	l := f.low()
	v, values := symmetric.Principal(cov, l)
	low := sq(f.radius / flattest)
	steady(values, s.SecondSD/n, low)
	f.View = View{origin: mean, V: v}
	at := component.Gaussian{Weight: math.Min(1, n/f.Rows), Mean: make([]float64, l), Cov: symmetric.Diagonal(values[:l])}
	f.Rest = stat.Mean(values[min(l, d-1):], nil)
	f.root = &node{view: f.View, at: at}
	return nil
}

// steady pulls the eigenvalues of a noisy second moment, but those that stand out, towards their
// mean, which noise leaves alone: the more, the less they differ from each other than noise of sd
// sigma per entry would make them. None ends below low, or below a small part of the noise, within
// which nothing is known of them.
func steady(values []float64, sigma, low float64) {
	d := len(values)
	noise := sigma * math.Sqrt(2*float64(d)) // spectral, about
	out := 0
	for out < d-1 && values[out] > outstanding*math.Max(noise, values[d-1]) {
		out++
	}
	rest := values[out:]
	mid := stat.Mean(rest, nil)
	spread := parts.Sum(rest, func(v float64) float64 { return sq(v - mid) })
	keep := math.Max(0, 1-sq(sigma)*float64(len(rest)*(len(rest)+1))/2/math.Max(spread, 1e-300))
	for i, v := range rest {
		rest[i] = mid + keep*(v-mid)
	}
	for i := range values {
		values[i] = math.Max(values[i], math.Max(low, noise/8))
	}
}

// outstanding: eigenvalues above this many times the noise and the smallest are taken as they are.
// A utility constant, a guess.
const outstanding = 3.0

// flattest is how much smaller than the radius an sd is taken to be at least, before anything is
// known: a utility constant, a guess.
const flattest = 50.0

// low returns the dimension of the view: all working coordinates if they are few, else room for the
// means of every component allowed.
func (f *Finder) low() int { return min(f.Space.Dim(), max(fewColumns, f.Most()+1)) }

// fewColumns: up to this many, the view keeps all. A guess.
const fewColumns = 12

// settle measures the moments of every leaf, again as long as a node turns out much flatter or
// wider than its frame, which a single measurement sees only in part.
func (f *Finder) settle() error {
	for range mostLooks {
		settled, err := f.lookNodes(lookShare)
		if err != nil || settled || !f.affords(lookShare+regrowCost) {
			return err
		}
	}
	return nil
}

// lookNodes measures the moments of every leaf in the view, each in its own frame, and reports
// whether the frames were right.
func (f *Finder) lookNodes(share float64) (settled bool, err error) {
	nodes := f.root.leaves()
	in, views := parts.Map(nodes, func(n *node) component.Gaussian { return n.at }), parts.Map(nodes, func(n *node) View { return n.view })
	out, err := f.Measure(f.Prefix+stepLook, f.partition(), views, in, component.Update{Form: query.FullForm, Rows: f.Rows}, share)
	if err != nil {
		return false, err
	}
	settled = true
	for i, n := range nodes {
		settled = settled && !(Change(out[i], n.at, clearNoise) > changed)
		n.at = out[i]
	}
	return settled, nil
}

// Change returns the largest factor between a variance of now and the same of was, or the other way
// round; 1 if the relative noise of now's variances is not below clear.
func Change(now, was component.Gaussian, clear float64) float64 {
	if !(now.Sigma*math.Sqrt(2*float64(len(now.Mean))) < clear) {
		return 1
	}
	_, inv, _ := symmetric.Factor(was.Cov)
	_, v := symmetric.Principal(symmetric.Congruence(inv, now.Cov), 1)
	return math.Max(v[0], 1/v[len(v)-1])
}

// Utility constants of looking at nodes, guesses.
const (
	mostLooks  = 3
	changed    = 8.0 // a variance that changed by more than this factor was seen in part
	clearNoise = .3  // .. if the relative noise of the second moment is below this
)

// Measure asks for the moments of the rows of every leaf of p, clipped around a component each,
// seen through a view, and returns the components as update moves them.
func (f *Finder) Measure(step string, p query.Partition, views []View, in []component.Gaussian, update component.Update, share float64) ([]component.Gaussian, error) {
	mu := f.Mu(share)
	var queries []query.ClippedMoments
	var hows []component.Clipping
	for i, c := range in {
		q, how := component.Flat(len(c.Mean)).Clipped(c, c.Weight, f.Rows, component.NoiseOf(update.Form, len(c.Mean), f.Factor, mu), misfit)
		_, inv, _ := symmetric.Factor(c.Cov)
		var m mat.Dense
		m.Mul(inv, views[i].V.T())
		q.Map = f.Space.Affine(views[i].Up(c.Mean), &m)
		queries = append(queries, query.ClippedMoments{Form: component.MeasuredForm(update.Form), Lift: component.Lift, Components: []query.Component{q}})
		hows = append(hows, how)
	}
	answers, err := parts.AskLeaves(f.SubBudget, step, p, queries, mu)
	if err != nil {
		return nil, err
	}
	var out []component.Gaussian
	for i, c := range in {
		update.Floor = least(c.Cov)
		out = append(out, update.Apply(c, component.UnpackCounted(queries[i], answers[i])[0], hows[i]))
	}
	return out, nil
}

// least returns the smallest eigenvalue that a covariance may have after a round: relative to its
// own, as components may be of any scale.
func least(cov *mat.SymDense) float64 {
	most := 0.0
	for i := range cov.SymmetricDim() {
		most = math.Max(most, cov.At(i, i))
	}
	return math.Max(flattestComponent*most, 1e-300)
}

// flattestComponent is the smallest ratio of a component's variances. A utility constant, a guess;
// a table with exactly dependent columns ends here.
const flattestComponent = 1e-12

// grow measures a tree of counts in every leaf, in its leading directions, level by level.
//
// Source: [KSSU19] Section C.3 of the restatement; all nodes at once by its Section A.3.
func (f *Finder) grow(share float64, how directions) error {
	nodes := f.root.leaves()
	mu := f.Mu(f.lean(share) / levelsPaid)
	q := worthwhile(nodes, how.most, how.flat)
	if slices.ContainsFunc(nodes, func(n *node) bool { return n.first != nil }) {
		q = 1
	}
	first, last := coreset.Levels(q, q > flatTree)
	var trees []*coreset.Tree
	for _, n := range nodes {
		u, values := symmetric.Principal(n.at.Cov, q)
		if n.first != nil {
			u, values[0] = n.first, mat.Inner(n.first.ColView(0), n.at.Cov, n.first.ColView(0))
			n.first = nil
		}
		half := f.box(n, u, values)
		n.tree = coreset.NewDroppingTree(n.look.frame(f.Space), half, first, last, n.at.Weight*f.Rows/mostCells, drops)
		trees = append(trees, n.tree)
	}
	err := coreset.Grow(trees, func(queries []query.GridCounts) ([]kernel.Answer, error) {
		return parts.AskLeaves(f.SubBudget, f.Prefix+stepTree, f.partition(), queries, mu)
	})
	if err != nil {
		return err
	}
	for _, n := range nodes {
		n.fits = &fits{set: n.tree.Coreset(), rows: f.Rows}
		if !f.Without.Lonely {
			n.fits.set.DropLonely(lonelySDs)
		}
		if !f.Without.Clumps {
			n.fits.clumps = n.fits.set.Clumps(n.fits.least())
		}
	}
	return nil
}

// directions says which directions get a tree: at most most, and none along which the variance is
// smaller than the largest by more than flat. Utility constants.
type directions struct {
	most int
	flat float64
}

var (
	broad  = directions{4, 6} // of the root
	narrow = directions{2, 6} // inside nodes
)

// flatTree is how many directions have trees of coreset's levels; in more they are one finer, as
// those of nodes have fewer cells that hold rows. A guess.
const flatTree = 2

// levelsPaid is how many levels share the part of a tree; one that has more cells to split goes
// beyond it. A guess.
const levelsPaid = 3.5

// box chooses the view of the node's tree, in the directions u, and the half-widths of its box:
// boxSDs sds around the node's mean, as far as that is inside the ball.
func (f *Finder) box(n *node, u *mat.Dense, values []float64) []float64 {
	l, q := u.Dims()
	ball := n.view.down(make([]float64, f.Space.Dim()))
	half, mid := make([]float64, q), make([]float64, l)
	for i := range q {
		at := 0.0
		for j := range l {
			at += u.At(j, i) * (ball[j] - n.at.Mean[j])
		}
		sds := boxSDs * math.Sqrt(math.Max(values[i], 1e-300))
		if n == f.root {
			// what private PCA clipped is to be in the box as well
			sds *= math.Max(1, f.radius/f.clip)
		}
		low, high := math.Max(-sds, at-f.radius), math.Min(sds, at+f.radius)
		if !(high > low) {
			low, high = -sds, sds
		}
		half[i] = (high - low) / 2
		for j := range l {
			mid[j] += u.At(j, i) * (high + low) / 2
		}
	}
	for j := range mid {
		mid[j] += n.at.Mean[j]
	}
	n.look = n.view.of(mid, u)
	return half
}

// worthwhile returns the number of leading directions, at most most, that are worth a tree: in some
// node the variance along them is not small compared with the largest. Directions left out here are
// examined in child nodes.
func worthwhile(nodes []*node, most int, flat float64) int {
	q := 1
	for _, n := range nodes {
		_, values := symmetric.Principal(n.at.Cov, 1)
		for i := 0; i < min(most, len(values)); i++ {
			if values[i] > values[0]/flat {
				q = max(q, i+1)
			}
		}
	}
	return q
}

// drops are the thresholds of the trees: utility constants ([KSSU19] Section C.3 of the
// restatement).
var drops = coreset.Thresholds{Split: 7.5, Keep: 2.5}

// Utility constants of the trees, guesses.
const (
	boxSDs    = 4.5
	lonelySDs = 5.0  // a leaf without a neighbour is dropped below this many noise sds
	mostCells = 1000 // a cell with less than this part of the node's rows is not split
)
