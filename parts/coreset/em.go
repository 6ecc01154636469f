package coreset

import (
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
	// nothing: a share of e^nothing and less counts as none.
	nothing = -60.0
	// a step that changes the likelihood by less, in nats per row, is the last; of 1e-6 and 1e-5
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
	k := slices.Max(assign) + 1
	e := newEM(pointsOf(c), withoutGaps(append([]int(nil), assign...), k))
	e.run(ctx, steps)
	return e.mixture(), ctx.Err()
}

// withoutGaps renumbers an assignment to k places such that every number below its largest occurs.
func withoutGaps(assign []int, k int) []int {
	number := make([]int, k)
	for _, a := range assign {
		number[a] = 1
	}
	used := 0
	for j, n := range number {
		number[j] = used
		used += n
	}
	for i, a := range assign {
		assign[i] = number[a]
	}
	return assign
}

// topBy returns the n fits of largest likelihood.
func topBy(fits []*em, n int) []*em {
	out := append([]*em(nil), fits...)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j].loglik > out[i].loglik {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out[:n]
}

// em is the state of weighted EM on n points in q coordinates, and its memory.
type em struct {
	p      *weightedPoints
	k      int
	w      []float64
	mean   []float64 // k x q
	cov    []float64 // k x q x q, upper triangles
	loglik float64   // of the coreset, in rows
	// shares are the weights of the points times the components' responsibilities for them, k x n.
	shares []float64
	// best and total are, per point, the largest log density and the sum of the densities over it.
	best, total []float64
	inverse     []float64 // of one component's factor, q x q lower
	pool        []float64 // sum of the scatter matrices
}

// newEM starts from a hard assignment.
func newEM(p *weightedPoints, assign []int) *em {
	k := slices.Max(assign) + 1
	n, q := len(assign), p.q
	e := &em{p: p, k: k, w: make([]float64, k), mean: make([]float64, k*q), cov: make([]float64, k*q*q),
		shares: make([]float64, k*n), best: make([]float64, n), total: make([]float64, n),
		inverse: make([]float64, q*q), pool: make([]float64, q*q)}
	for i, a := range assign {
		e.shares[a*n+i] = p.weight[i]
	}
	e.maximise()
	return e
}

// run makes EM steps, until ctx is done or one hardly changes the likelihood, and leaves the
// likelihood of the last.
func (e *em) run(ctx context.Context, steps int) {
	e.expect()
	for range steps {
		if ctx.Err() != nil {
			return
		}
		last := e.loglik
		e.maximise()
		e.expect()
		if math.Abs(e.loglik-last) < settled*e.p.total {
			return
		}
	}
}

// expect computes the shares and the log-likelihood of the coreset; a leaf counts as its centre.
func (e *em) expect() {
	n := len(e.p.weight)
	for i := range e.best {
		e.best[i], e.total[i] = math.Inf(-1), 0
	}
	for j := range e.k {
		e.densities(j, e.shares[j*n:(j+1)*n])
	}
	for j := range e.k {
		shares := e.shares[j*n : (j+1)*n]
		for i, l := range shares {
			v := 0.0
			if l -= e.best[i]; l == 0 {
				v = 1
				e.total[i]++
			} else if !(l < nothing) {
				v = math.Exp(l)
				e.total[i] += v
			}
			shares[i] = v
		}
	}
	e.loglik = 0
	for i, w := range e.p.weight {
		best := e.best[i]
		if e.total[i] != 1 {
			best += math.Log(e.total[i])
		}
		e.loglik += w * best
		e.total[i] = w / e.total[i]
	}
	for j := range e.k {
		floats.Mul(e.shares[j*n:(j+1)*n], e.total)
	}
}

// densities writes component j's log density, weight included, at every point.
func (e *em) densities(j int, dst []float64) {
	q := e.p.q
	logDet, ok := inverseFactor(e.inverse, e.cov[j*q*q:(j+1)*q*q], q)
	if !ok {
		for i := range dst {
			dst[i] = math.Inf(-1)
		}
		return
	}
	e.logDensities(dst, e.mean[j*q:(j+1)*q], math.Log(e.w[j]+1e-300)-logDet/2-float64(q)/2*math.Log(2*math.Pi))
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
	n, q := len(e.p.weight), e.p.q
	clear(e.pool)
	for j := range e.k {
		shares := e.shares[j*n : (j+1)*n]
		e.w[j] = e.center(shares, e.mean[j*q:(j+1)*q])
		e.scatter(shares, e.mean[j*q:(j+1)*q], e.cov[j*q*q:(j+1)*q*q])
		floats.Add(e.pool, e.cov[j*q*q:(j+1)*q*q])
	}
	pull := poolWeight * e.p.total / float64(e.k)
	if e.p.own > 0 {
		pull = 0
	}
	for j, mass := range e.w {
		cov := e.cov[j*q*q : (j+1)*q*q]
		if e.p.own > 0 {
			for l, v := range e.cells(j) {
				cov[l*q+l] += e.p.own * v * mass
			}
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

// cells is the mean variance within the leaves of component j, per coordinate.
func (e *em) cells(j int) []float64 {
	n, q := len(e.p.weight), e.p.q
	mean := make([]float64, q)
	mass := massFloor
	for i, g := range e.shares[j*n : (j+1)*n] {
		if g == 0 {
			continue
		}
		mass += g
		floats.AddScaled(mean, g, e.p.cell[i])
	}
	for l := range mean {
		mean[l] /= mass
	}
	return mean
}

// mixture is the state as a mixture.
func (e *em) mixture() *Mixture {
	q := e.p.q
	m := &Mixture{Weights: e.w, LogLik: e.loglik}
	for j := range e.k {
		m.Means = append(m.Means, e.mean[j*q:(j+1)*q])
		m.Cells = append(m.Cells, e.cells(j))
		m.Covs = append(m.Covs, mat.NewSymDense(q, e.cov[j*q*q:(j+1)*q*q]))
	}
	return m
}
