package coreset

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/parts"
)

// Utility constants of EM on the coreset ([KSSU19] Section C.4 of the restatement).
const (
	lloydSteps   = 12
	emSteps      = 40
	emStepsShort = 8
	poolWeight   = .05 // pull of each covariance towards the pooled one, in components
	massFloor    = 1e-12
	scored       = 4 // steps, of which one computes the likelihood
	// steps that change the likelihood by less, in nats per row, are the last; of 1e-6 and 1e-5
	// the quicker, the distances of 48 fits by separated (d = 10, 5 components) being those of all
	// steps
	settled = 1e-5
)

// PooledFloor is the floor of each variance, in mean cell variances, unless Coreset.OwnCells says
// otherwise. Chosen on the public tables, by experiments/files.
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
	best := topBy(run(ctx, c, c.Parts(ctx, k, starts, uniform), emStepsShort), max(1, starts/4))
	if err := parallel.Each(ctx, len(best), func(i int) { best[i].run(ctx, emSteps) }); err != nil {
		return nil, err
	}
	return topBy(best, 1)[0].mixture(), nil
}

// FitAll runs steps of EM from assignments of the points to components, each of which has points;
// of those that differ in the components' numbers alone, from the first. Once ctx is done there are
// no fits.
func FitAll(ctx context.Context, c *Coreset, starts [][]int, steps int) []*Mixture {
	var distinct [][]int
	for _, start := range starts {
		if start = renumbered(start); !slices.ContainsFunc(distinct, func(s []int) bool { return slices.Equal(s, start) }) {
			distinct = append(distinct, start)
		}
	}
	return parts.Map(run(ctx, c, distinct, steps), (*em).mixture)
}

// run runs steps of EM from each of the assignments; there are no fits once ctx is done.
func run(ctx context.Context, c *Coreset, starts [][]int, steps int) []*em {
	p, fits := pointsOf(c), make([]*em, len(starts))
	if parallel.Each(ctx, len(starts), func(i int) {
		fits[i] = newEM(p, starts[i])
		fits[i].run(ctx, steps)
	}) != nil {
		return nil
	}
	return fits
}

// renumbered returns an assignment with the components in the order of their first points.
func renumbered(assign []int) []int {
	out, number := make([]int, len(assign)), map[int]int{}
	for i, j := range assign {
		if _, ok := number[j]; !ok {
			number[j] = len(number)
		}
		out[i] = number[j]
	}
	return out
}

// topBy returns the n fits of largest likelihood.
func topBy(fits []*em, n int) []*em {
	out := slices.Clone(fits)
	slices.SortStableFunc(out, func(a, b *em) int { return cmp.Compare(b.loglik, a.loglik) })
	return out[:min(n, len(out))]
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

// maximise makes the M-step, with the regularisation of the restatement: a pull towards the pooled
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

// mixture returns the state as a mixture.
func (e *em) mixture() *Mixture {
	q := e.p.q
	m := &Mixture{Weights: e.w, LogLik: e.loglik}
	for j := range e.k {
		m.Means = append(m.Means, e.mean[j*q:(j+1)*q])
		m.Cells = append(m.Cells, floats.ScaleTo(make([]float64, q), 1/(e.sums[j][0]+massFloor), e.sums[j].cells()[:q]))
		m.Covs = append(m.Covs, mat.NewSymDense(q, e.cov[j*q*q:(j+1)*q*q]))
	}
	return m
}
