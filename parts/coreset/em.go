package coreset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parallel"
)

// Utility constants of EM on the coreset ([KSSU19] Section C.4 of the restatement).
const (
	lloydSteps   = 12
	emSteps      = 40
	emStepsShort = 8
	poolWeight   = .05 // pull of each covariance towards the pooled one, in components
	massFloor    = 1e-12
	scored       = 4 // steps, of which one computes the likelihood: a third of its time
	// steps that change the likelihood by less, in nats per row, are the last; of 1e-6 and 1e-5
	// the quicker, the distances of 48 fits by separated (d = 10, 5 components) being those of all
	// steps
	settled = 1e-5
)

// PooledFloor is the floor of each variance, in mean cell variances, unless Coreset.OwnCells says
// otherwise. Chosen on the public tables of experiments/tables.
const PooledFloor = .15

// A Mixture is a Gaussian mixture in a coreset's coordinates.
type Mixture struct {
	Weights []float64
	Means   [][]float64
	Covs    []*mat.SymDense
	LogLik  float64 // of the coreset, in rows
	// Cells is the mean variance within the leaves of each component, per coordinate.
	Cells [][]float64
}

// Fit fits k Gaussians to the coreset by weighted EM from several k-means++ starts. It panics
// without points. Its error, like that of the other fits, is ctx's.
//
// uniform makes the generator of a start, of numbers in [0, 1), and is called from several
// goroutines. Starts are public randomness: with generators seeded by public numbers the same
// released coreset gives the same fit.
func Fit(ctx context.Context, c *Coreset, k, starts int, uniform func(start int) func() float64) (*Mixture, error) {
	p := pointsOf(c)
	fits := make([]*em, starts)
	if err := parallel.Each(ctx, starts, func(i int) {
		fits[i] = newEM(p, p.parted(k, uniform(i)))
		fits[i].run(ctx, emStepsShort)
	}); err != nil {
		return nil, err
	}
	best := topBy(fits, max(1, starts/4))
	if err := parallel.Each(ctx, len(best), func(i int) { best[i].run(ctx, emSteps) }); err != nil {
		return nil, err
	}
	return topBy(best, 1)[0].mixture(), nil
}

// FitFrom fits Gaussians to the coreset by EM from the given means: every point goes to the
// nearest, then come the steps of EM. A mean that is nearest to no point is left out; the others
// keep their order. It panics without points or means.
func FitFrom(ctx context.Context, c *Coreset, means [][]float64, steps int) (*Mixture, error) {
	if len(c.Points) == 0 || len(means) == 0 {
		panic(fmt.Sprintf("coreset: FitFrom: want points and means, got %d and %d", len(c.Points), len(means)))
	}
	return FitAssigned(ctx, c, pointsOf(c).nearest(means), steps)
}

// FitAssigned runs steps of EM from an assignment of the points to components 0, 1, ..; a component
// without points is left out. It panics without points or without a component for each.
func FitAssigned(ctx context.Context, c *Coreset, assign []int, steps int) (*Mixture, error) {
	if len(c.Points) == 0 || len(assign) != len(c.Points) {
		panic(fmt.Sprintf("coreset: FitAssigned: want points and a component for each, got %d and %d", len(c.Points), len(assign)))
	}
	e := newEM(pointsOf(c), withoutGaps(slices.Clone(assign)))
	e.run(ctx, steps)
	return e.mixture(), ctx.Err()
}

// withoutGaps renumbers an assignment such that every number below its largest occurs.
func withoutGaps(assign []int) []int {
	used := slices.Compact(slices.Sorted(slices.Values(assign)))
	for i, a := range assign {
		assign[i], _ = slices.BinarySearch(used, a)
	}
	return assign
}

// topBy returns the n fits of largest likelihood.
func topBy(fits []*em, n int) []*em {
	out := slices.Clone(fits)
	slices.SortStableFunc(out, func(a, b *em) int { return cmp.Compare(b.loglik, a.loglik) })
	return out[:n]
}

// em is the state of weighted EM on points in q coordinates.
type em struct {
	p      *weightedPoints
	k      int
	w      []float64
	mean   []float64 // k x q
	cov    []float64 // k x q x q, upper triangles
	loglik float64   // of the coreset, in rows
	sums   []sums    // of the points by their shares
	parts  []part
	work   []float64 // q x q
	pool   []float64 // q x q, sum of the scatter matrices
	lanes  [][len(sums{})]lanes
	share  [][panel]lanes // of a panel, not divided by their sum, ..
	scale  [panel]lanes   // .. and what they are multiplied by
}

// newEM starts from a hard assignment.
func newEM(p *weightedPoints, assign []int) *em {
	k, q := slices.Max(assign)+1, p.q
	e := &em{p: p, k: k, w: make([]float64, k), mean: make([]float64, k*q), cov: make([]float64, k*q*q), sums: make([]sums, k),
		parts: make([]part, k), work: make([]float64, q*q), pool: make([]float64, q*q), lanes: make([][len(sums{})]lanes, k), share: make([][panel]lanes, k)}
	for j := range e.parts {
		copy(e.parts[j].mean[:], p.mean)
	}
	for i, j := range assign {
		e.sums[j].add(&p.blocks[i/width], i%width, &e.parts[j].mean, p.weight[i])
	}
	e.maximise()
	return e
}

// run makes EM steps, until ctx is done or some hardly change the likelihood, and leaves the
// likelihood of the last.
func (e *em) run(ctx context.Context, steps int) {
	e.expect(true)
	for step := 1; step <= steps && ctx.Err() == nil; step++ {
		e.maximise()
		last, now := e.loglik, step%scored == 0 || step == steps
		e.expect(now)
		if now && math.Abs(e.loglik-last) < scored*settled*e.p.total {
			return
		}
	}
}

// prepare makes the parts of the densities from the parameters. A covariance that is not positive
// definite has no density.
func (e *em) prepare() {
	q := e.p.q
	for j := range e.parts {
		p := &e.parts[j]
		*p = part{log: math.Inf(-1)}
		copy(p.mean[:], e.mean[j*q:(j+1)*q])
		logDet, ok := inverseFactor(e.work, e.cov[j*q*q:(j+1)*q*q], q)
		if !ok {
			continue
		}
		p.log = math.Log(e.w[j]+1e-300) - logDet/2 - float64(q)/2*math.Log(2*math.Pi)
		for a := range q {
			copy(p.inverse[a][:], e.work[a*q:a*q+a+1])
		}
	}
}

// inverseFactor writes L^-1 for cov = L L^T, given by its upper triangle, and returns log det cov;
// false if cov is not positive definite.
func inverseFactor(dst, cov []float64, q int) (logDet float64, ok bool) {
	for a := range q {
		for b := range a + 1 {
			dst[a*q+b] = cov[b*q+a]
		}
	}
	logDet, ok = dense.CholeskyLog(dst, q)
	return logDet, ok && dense.InvertLower(dst, dst, q)
}

// maximise is the M-step, with the regularisation of the restatement: a pull towards the pooled
// covariance and a floor of a part of the mean cell variance.
func (e *em) maximise() {
	q := e.p.q
	clear(e.pool)
	for j := range e.k {
		e.w[j] = e.sums[j].moments(&e.parts[j].mean, e.mean[j*q:(j+1)*q], e.cov[j*q*q:(j+1)*q*q])
		floats.Add(e.pool, e.cov[j*q*q:(j+1)*q*q])
	}
	pull := poolWeight * e.p.total / float64(e.k)
	if e.p.own > 0 {
		pull = 0
	}
	for j, mass := range e.w {
		cov := e.cov[j*q*q : (j+1)*q*q]
		for l := range q {
			cov[l*q+l] += e.p.own * e.sums[j].cells()[l]
		}
		mass = math.Max(mass, massFloor)
		for l, v := range e.pool {
			cov[l] = (cov[l] + pull*v/e.p.total) / (mass + pull)
		}
		for l, v := range e.p.floor {
			cov[l*q+l] += v
		}
		e.w[j] = mass / e.p.total
	}
}

// mixture is the state as a mixture.
func (e *em) mixture() *Mixture {
	q := e.p.q
	m := &Mixture{Weights: e.w, LogLik: e.loglik}
	for j := range e.k {
		m.Means = append(m.Means, e.mean[j*q:(j+1)*q])
		cells := slices.Clone(e.sums[j].cells()[:q])
		floats.Scale(1/(e.sums[j][0]+massFloor), cells)
		m.Cells = append(m.Cells, cells)
		m.Covs = append(m.Covs, mat.NewSymDense(q, e.cov[j*q*q:(j+1)*q*q]))
	}
	return m
}
