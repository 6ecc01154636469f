package fit1d

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts"
)

// Utility constants of the steps, how far one may go: guesses.
const (
	farthest   = 2.0 // standard deviations
	mostGrowth = 1.0 // of the log of the sd
	enough     = 1e-2
	firstDamp  = 1e-3
	mostDamp   = 1e6
)

// Polish moves all components by at most steps Levenberg-Marquardt steps and returns them with
// their cost. Its error is ctx's.
func (d *Data) Polish(ctx context.Context, cs []Component, steps int) ([]Component, float64, error) {
	cs, cost := d.polish(ctx, cs, parts.Upto(len(cs)), steps)
	return cs, cost, ctx.Err()
}

// polish moves the active components. Once ctx is done it moves none and calls the cost infinite,
// which ends every search.
func (d *Data) polish(ctx context.Context, start []Component, active []int, steps int) ([]Component, float64) {
	cs := slices.Clone(start)
	if ctx.Err() != nil {
		return cs, math.Inf(1)
	}
	if len(active) == 0 {
		return cs, d.cost(cs)
	}
	w := d.workspace(cs, active)
	cost := d.evaluate(w, cs)
	damp := firstDamp
	for range steps {
		d.normal(w)
		accepted, gained := false, 0.0
		for ; damp < mostDamp && ctx.Err() == nil; damp *= 8 {
			next := slices.Clone(cs)
			if !w.solve(damp) || !d.move(w, next) {
				continue
			}
			if c := d.evaluate(w, next); c < cost {
				gained, cost, cs, accepted = cost-c, c, next, true
				damp = math.Max(damp/16, 1e-9)
				break
			}
		}
		if !accepted || gained < enough {
			break
		}
	}
	return cs, cost
}

// A workspace is what the steps of one polish share.
type workspace struct {
	active    []int
	per       int       // parameters of a component: rows, offset, log of the sd if it is free
	fixed     []float64 // what the others are expected to have
	residual  []float64
	terms     []terms // of the active
	rows, sds []float64
	a, l      []float64 // normal equations, and their factor
	g, x      []float64
}

func (d *Data) workspace(cs []Component, active []int) *workspace {
	w := &workspace{active: active, per: 3, terms: make([]terms, len(active)), rows: make([]float64, len(active)), sds: make([]float64, len(active)),
		residual: make([]float64, len(d.count))}
	if d.known.SD > 0 {
		w.per = 2
	}
	n := w.per * len(active)
	w.a, w.l, w.g, w.x = make([]float64, n*n), make([]float64, n*n), make([]float64, n), make([]float64, n)
	var rest []Component
	for j, c := range cs {
		if !slices.Contains(active, j) {
			rest = append(rest, c)
		}
	}
	w.fixed = d.Expected(rest)
	return w
}

// evaluate fills terms and residuals for cs and returns the cost.
func (d *Data) evaluate(w *workspace, cs []Component) (cost float64) {
	expected := w.residual
	copy(expected, w.fixed)
	for i, j := range w.active {
		d.fill(&w.terms[i], cs[j])
		w.terms[i].addTo(expected, cs[j].Rows)
		w.rows[i], w.sds[i] = cs[j].Rows, cs[j].SD
	}
	cost = d.costOf(expected)
	floats.SubTo(w.residual, d.count, expected)
	return cost
}

// normal sets up the normal equations at what was evaluated last.
func (d *Data) normal(w *workspace) {
	n := len(w.g)
	clear(w.a)
	clear(w.g)
	for i := range w.active {
		for s, si := range w.terms[i].spans {
			for b := si.from; b < si.to; b++ {
				var gi [3]float64
				w.gradient(&gi, i, si.at+b-si.from)
				r := d.weight[b] * w.residual[b]
				for p := range w.per {
					w.g[w.per*i+p] += gi[p] * r
				}
			}
			for k := i; k < len(w.active); k++ {
				sk := w.terms[k].spans[s]
				from, to := max(si.from, sk.from), min(si.to, sk.to)
				if from >= to {
					continue
				}
				sum := w.product(d.weight[from:to], i, si.at+from-si.from, k, sk.at+from-sk.from)
				for p := range w.per {
					for q := range w.per {
						w.a[(w.per*i+p)*n+w.per*k+q] += sum[p][q]
					}
				}
			}
		}
	}
	for i := range n {
		for j := range i {
			w.a[i*n+j] = w.a[j*n+i]
		}
	}
}

// gradient returns the derivative of a count by rows, offset in sds, and log sd of active component
// i.
func (w *workspace) gradient(g *[3]float64, i, at int) {
	t := &w.terms[i]
	g[0], g[1], g[2] = t.p[at], w.rows[i]*t.dm[at], w.rows[i]*t.ds[at]
}

// product returns the sum of weight times gradient of component i times gradient of component k,
// whose terms begin at ati and atk.
func (w *workspace) product(weight []float64, i, ati, k, atk int) (sum [3][3]float64) {
	n, ti, tk := len(weight), &w.terms[i], &w.terms[k]
	pi, mi, si := ti.p[ati:ati+n], ti.dm[ati:ati+n], ti.ds[ati:ati+n]
	pk, mk, sk := tk.p[atk:atk+n], tk.dm[atk:atk+n], tk.ds[atk:atk+n]
	var pp, pm, ps, mp, mm, ms, sp, sm, ss float64
	for b, v := range weight {
		p, m, s := v*pi[b], v*mi[b], v*si[b]
		pp, pm, ps = pp+p*pk[b], pm+p*mk[b], ps+p*sk[b]
		mp, mm, ms = mp+m*pk[b], mm+m*mk[b], ms+m*sk[b]
		sp, sm, ss = sp+s*pk[b], sm+s*mk[b], ss+s*sk[b]
	}
	ri, rk := w.rows[i], w.rows[k]
	return [3][3]float64{{pp, pm * rk, ps * rk}, {mp * ri, mm * ri * rk, ms * ri * rk}, {sp * ri, sm * ri * rk, ss * ri * rk}}
}

// solve solves the damped normal equations by Cholesky's method; false if they are singular.
func (w *workspace) solve(damp float64) bool {
	n := len(w.g)
	copy(w.l, w.a)
	for i := range n {
		w.l[i*n+i] = w.a[i*n+i]*(1+damp) + 1e-12
	}
	if !dense.Cholesky(w.l, n) {
		return false
	}
	copy(w.x, w.g)
	dense.Forward(w.l, w.x, n)
	dense.Backward(w.l, w.x, n)
	return true
}

// move adds the solution to the active components; false if it is no number.
func (d *Data) move(w *workspace, cs []Component) bool {
	for i, j := range w.active {
		c := cs[j]
		x := w.x[w.per*i : w.per*(i+1)]
		if slices.ContainsFunc(x, math.IsNaN) {
			return false
		}
		c.Rows = math.Max(0, c.Rows+x[0])
		c.Offset += w.sds[i] * math.Max(-farthest, math.Min(farthest, x[1]))
		if w.per == 3 {
			c.SD *= math.Exp(math.Max(-mostGrowth, math.Min(mostGrowth, x[2])))
			c.SD = math.Max(math.Min(c.SD, d.widest()), d.floor(c))
		}
		cs[j] = c.centred()
		if !(cs[j].SD > 0) || math.IsInf(cs[j].SD, 1) || math.IsInf(cs[j].Mean(), 0) {
			return false
		}
	}
	return true
}
