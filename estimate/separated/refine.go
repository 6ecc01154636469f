package separated

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Shares, of what is left after exploring, of the rounds: in the view and in all columns where the
// view does not keep all, else in all columns only. Utility constants.
var (
	viewRounds = []float64{.12, .12}
	lastRounds = []float64{.1, .15, .51}
	onlyRounds = []float64{.15, .25, .6}
)

// A component that turns out flatter or wider than its frame by more than reframed, in variance, is
// seen in part: before the last round, up to mostExtra more of so small a share follow. Utility
// constants: tables in 3, 8 and 20 columns under linear maps of condition 100 chose them.
const (
	extraShare = .07
	mostExtra  = 4
	reframed   = 6.0
	clearNoise = .5 // .. if the relative noise of its variances is below this
)

// mostOutside is the largest part of what is left for the last round that counts the rows outside.
// A guess.
const mostOutside = .25

// outsideShape and outsideMean are the doubts of a component after the rounds in the view: mostly
// about what the view does not see. Guesses.
const outsideShape, outsideMean = .01, .02

// refine measures the components that exploring found, round after round, each row in the component
// it most likely belongs to.
//
// Source: [KSSU19] Section C.6 of the restatement.
// Differs: rows are assigned whole, which lets every component be a part of its own; Kalman gains
// instead of Stein's rule.
func (f *fit) refine() ([]component.Gaussian, error) {
	if err := f.Force(); err != nil {
		return nil, err
	}
	left := f.Left() / f.Mu2
	var all []component.Gaussian
	rounds := onlyRounds
	if in := f.InView(); in == nil {
		all = f.started(f.Found())
	} else {
		left -= restShare
		var err error
		if all, err = f.refineInView(in, left); err != nil {
			return nil, err
		}
		rounds = lastRounds
	}
	if f.Problem.Covariance != estimate.Full {
		for j := range all {
			all[j].Cov = symmetric.OnlyDiagonal(all[j].Cov, f.Problem.Covariance == estimate.Spherical)
		}
	}
	whole := f.Whole()
	for i, extra := 0, mostExtra; i < len(rounds); i++ {
		mu2, last := rounds[i]*left, i == len(rounds)-1
		if last {
			outside := math.Min(f.OutsidePart(), mostOutside*f.Left()/f.Mu2)
			var err error
			if f.places, err = f.KeepForPlaces(f.Space, all, f.Left()-outside*f.Mu2); err != nil {
				return nil, err
			}
			mu2 = (f.Left()-f.places)/f.Mu2 - outside
		}
		change, err := f.round(stepLast, whole, all, program.Form(f.Problem.Covariance), mu2)
		for ; err == nil && change > reframed && !last && extra > 0; extra-- {
			change, err = f.round(stepLast, whole, all, program.Form(f.Problem.Covariance), extraShare*left)
		}
		if err != nil {
			return nil, err
		}
		all = f.tidy(all, last)
	}
	return all, nil
}

// refineInView makes the rounds in the fit's view, which the nodes in share, measures the rest and
// returns the components in all working coordinates.
func (f *fit) refineInView(in []component.Gaussian, left float64) ([]component.Gaussian, error) {
	in = f.started(in)
	for _, share := range viewRounds {
		if _, err := f.round(stepView, f.View, in, query.FullForm, share*left); err != nil {
			return nil, err
		}
		in = f.tidy(in, false)
	}
	rest, err := f.measureRest(in)
	if err != nil {
		return nil, err
	}
	all := make([]component.Gaussian, len(in))
	for j, g := range in {
		all[j] = f.View.Lift(g, rest[j])
		all[j].Uncertainty.Shape, all[j].Uncertainty.Mean = outsideShape, outsideMean
	}
	return all, nil
}

// round measures every component once, in the coordinates of w, and updates it in place. Rows go to
// the components as the fit's view sees them. change is the largest factor by which a variance of
// one is not what it was.
func (f *fit) round(step string, w recursive.View, g []component.Gaussian, form query.Form, share float64) (change float64, err error) {
	if len(g) == 0 {
		return 1, nil
	}
	update := component.Update{Form: form, Rows: f.Rows, Settled: 1}
	lifted := g
	if w.V == f.View.V {
		lifted = nil
		for _, c := range g {
			lifted = append(lifted, w.Lift(c, f.Rest))
		}
	} else {
		update.Grid = f.Grid(f.Space)
	}
	now, err := f.Measure(step, f.Assign(lifted), slices.Repeat([]recursive.View{w}, len(g)), g, update, share)
	if err != nil {
		return 1, err
	}
	for j, was := range g {
		g[j] = now[j]
		change = math.Max(change, recursive.Change(now[j], was, clearNoise))
	}
	return change, nil
}

// Utility constants of the bins of the rest, guesses.
const (
	restOctavesDown = 12 // from what private PCA says
	restOctavesUp   = 3  // a component of 1/64 of the rows can be this much wider than their mean
	restPerOct      = 4
)

// measureRest measures, for every component, the variance in the directions that the view does not
// see, as one number.
//
// Source: [KSSU19] Section C.6 of the restatement, stage Q.
// Differs: the median instead of the fullest bin.
func (f *fit) measureRest(g []component.Gaussian) ([]float64, error) {
	d, l := f.Space.Dim(), f.View.Dim()
	out := make([]float64, len(g))
	for j := range out {
		out[j] = f.Rest
	}
	if d == l || len(g) == 0 {
		return out, nil
	}
	across := f.View.Across()
	var lifted []component.Gaussian
	for _, c := range g {
		lifted = append(lifted, f.View.Lift(c, f.Rest))
	}
	gate := f.Assign(lifted)
	var queries []query.Counts
	unit := math.Sqrt(f.Rest * float64(d-l))
	var edges []float64
	for e := -restOctavesDown * restPerOct; e <= restOctavesUp*restPerOct; e++ {
		edges = append(edges, unit*math.Exp2(float64(e)/restPerOct))
	}
	for _, c := range g {
		queries = append(queries, query.Counts{Map: f.Space.Affine(f.View.Up(c.Mean), mat.DenseCopyOf(across.T())), Edges: [][]float64{edges}})
	}
	answers, err := parts.AskLeaves(f.SubBudget, stepRest, gate, queries, f.Mu(restShare))
	if err != nil {
		return nil, err
	}
	for j, a := range answers {
		r := median(edges, a.Values)
		out[j] = r * r / (float64(d-l) - 2./3) // the median of chi-square
	}
	return out, nil
}

// median interpolates the median of a noisy histogram on its edges, geometrically; the first bin
// ends at the first edge.
func median(edges, counts []float64) float64 {
	// Around the fullest pair of bins, so that the noise of far bins does not add up.
	best := 1
	for b := 1; b+1 < len(counts)-1; b++ {
		if counts[b]+counts[b+1] > counts[best]+counts[best+1] {
			best = b
		}
	}
	low, high := max(1, best-2), min(len(edges)-1, best+3)
	total := 0.0
	for b := low; b <= high; b++ {
		total += math.Max(0, counts[b])
	}
	sum := 0.0
	for b := low; b <= high; b++ {
		c := math.Max(0, counts[b])
		if sum+c >= total/2 && c > 0 {
			part := (total/2 - sum) / c
			return edges[b-1] * math.Pow(edges[b]/edges[b-1], part)
		}
		sum += c
	}
	return edges[best]
}
