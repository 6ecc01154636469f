package blackbox

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/stable"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// fit is the state of one run.
type fit struct {
	p      estimate.Problem
	k      int
	a      *kernel.Allotment
	mu2    float64 // of the Gaussian steps
	factor float64 // sqrt2 under replace-one, 1 under add-or-remove-one
	rows   float64 // released
	cols   *program.Columns
}

// run is the whole fit.
func (f *fit) run(ctx context.Context) (estimate.Outcome, error) {
	var err error
	if f.cols, err = program.Count(f.a, stepCount, f.mu(countPart)); err != nil {
		return estimate.Outcome{}, err
	}
	f.rows = math.Max(f.cols.Rows, 1)
	cut := newCutter(f.p)
	c := cut.cut(f.rows)
	if c.margin < hopeless {
		return f.refuse(fmt.Sprintf("blocks of about %.0f rows cannot agree on %d components well enough at this epsilon", f.rows, f.k)), nil
	}
	anchor, ok, err := f.a.Stable(stepBlocks, blocks(f.p, c.rules.Estimates), kernel.Stability{Rules: c.rules, Eta: cut.mask.Eta}, testMu(f.k, f.mu2))
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		return f.refuse(fmt.Sprintf("the estimates of %d blocks of about %.0f rows do not agree on %d components", c.rules.Estimates,
			f.rows/float64(c.rules.Estimates), f.k)), nil
	}
	r, ok := f.start(anchor)
	if !ok {
		return f.cols.Outsize(), nil
	}
	if err := f.em(ctx, r); err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r)
}

// Doubts of a masked mean, in units of the mask's eta squared: what its noise is to first order,
// and something for the blocks' bias.
const (
	doubtShape, doubtScale, doubtMean, doubtWeight = 2.5, 2.5, 1.5, 4.5
	goneRows                                       = 5.0
)

// misfit is that of clip.Radius2: EM without privacy follows tails that are heavier than a
// Gaussian's, and where components are told apart so should this; one component is counted on to be
// what was asked for.
func misfit(k int) float64 {
	if k == 1 {
		return 1
	}
	return 6
}

// start is private EM at the masked mean, in the table's columns, centred at the mean of the anchor
// and in units of its first component's spread; false if it has none in float64.
func (f *fit) start(anchor []stable.Component) (*em.Rounds, bool) {
	d := f.p.Columns
	space := component.Space{Center: make([]float64, d), Scale: make([]float64, d)}
	total, finite := 0.0, true
	for _, c := range anchor {
		total += c.Weight
	}
	for i := range d {
		space.Columns = append(space.Columns, i)
		for _, c := range anchor {
			space.Center[i] += c.Weight / total * c.Mean[i]
			space.Scale[i] = math.Max(space.Scale[i], norm(c.Root[i*d:(i+1)*d]))
		}
		finite = finite && !math.IsInf(space.Center[i], 0) && space.Scale[i] < 0x1p500 && space.Scale[i] > 0x1p-500
	}
	if f.p.Covariance == estimate.Spherical { // which is so in one unit only
		space = program.OneUnit(space, f.p.Covariance)
	}
	r := &em.Rounds{Space: space, Form: program.Form(f.p.Covariance), Rows: f.rows, Factor: f.factor, Misfit: misfit(f.k), Gone: goneRows,
		Grid: program.Grid(space, f.p.RoundedTo)}
	e2 := eta(f.p) * eta(f.p)
	for _, c := range anchor {
		g := component.Gaussian{Weight: c.Weight / total, Mean: make([]float64, d), Rows: c.Weight / total * f.rows,
			Doubt: component.Doubt{Shape: doubtShape * e2, Scale: doubtScale * e2, Mean: doubtMean * e2, Weight: doubtWeight * e2}}
		root := mat.NewDense(d, d, nil)
		for i := range d {
			g.Mean[i] = (c.Mean[i] - space.Center[i]) / space.Scale[i]
			for j := range d {
				root.Set(i, j, c.Root[i*d+j]/space.Scale[i])
			}
		}
		g.Cov = mat.NewSymDense(d, nil)
		g.Cov.SymOuterK(1, root)
		r.Components = append(r.Components, g)
	}
	return r, finite
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s = math.Hypot(s, x)
	}
	return s
}

// em runs the rounds of private EM; their losses grow, as what is known does.
func (f *fit) em(ctx context.Context, r *em.Rounds) error {
	for i := 0; ; i++ {
		n, growth := rounds(f.k, overlap(r.Components))
		if i >= n-1 {
			return r.Round(f.a, stepLast, f.a.LeftMu(), true)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		left := 0.0 // of a geometric series
		for j := range n - i {
			left += math.Pow(growth, float64(j))
		}
		if err := r.Round(f.a, stepEM, math.Sqrt(f.a.Left()/left)*(1-1e-12), false); err != nil {
			return err
		}
	}
}

// overlap is the largest Bhattacharyya coefficient of two components: 0 if they are apart, 1 if
// they are the same.
func overlap(cs []component.Gaussian) (most float64) {
	for i, a := range cs {
		for _, b := range cs[:i] {
			mid := mat.NewSymDense(len(a.Mean), nil)
			mid.AddSym(a.Cov, b.Cov)
			mid.ScaleSym(.5, mid)
			_, inv, logDet := symmetric.Factor(mid)
			_, _, da := symmetric.Factor(a.Cov)
			_, _, db := symmetric.Factor(b.Cov)
			diff, z := mat.NewVecDense(len(a.Mean), nil), mat.NewVecDense(len(a.Mean), nil)
			diff.SubVec(mat.NewVecDense(len(a.Mean), a.Mean), mat.NewVecDense(len(b.Mean), b.Mean))
			z.MulVec(inv, diff)
			most = math.Max(most, math.Exp((da+db)/4-logDet/2-mat.Dot(z, z)/8))
		}
	}
	return most
}
