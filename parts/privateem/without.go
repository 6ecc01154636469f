package privateem

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of PrunePath, guesses: how many rows are drawn of a component, and the least
// part of all rows for which another one changes.
const (
	withoutDraws = 2048
	leastTaken   = .001
)

// PrunePath returns the components, and what is left of them as they become fewer, one by one: by
// what loses least by the model itself, as long as that is less than most nats per row. Either two
// are joined, or one that is not apart from all others is left out, and its rows go to these. Its
// error is ctx's.
func (r *Rounds) PrunePath(ctx context.Context, random func(draws, components int) Random, most float64) ([][]component.Gaussian, error) {
	left, judged := *r, r.judge(random)
	out := [][]component.Gaussian{r.Components}
	for len(left.Components) > 2 {
		next, loss, err := left.leaveOut(ctx, judged, random, most)
		if err != nil {
			return nil, err
		}
		joined := left
		joined.Components = slices.Clone(left.Components)
		joins, err := joined.joinUntold(ctx, judged, -loss, func(_, _ component.Gaussian) float64 { return 0 })
		switch {
		case err != nil:
			return nil, err
		case joins:
			next = joined.Components
		case next == nil:
			return out, nil
		}
		left.Components = next
		out = append(out, next)
	}
	return out, nil
}

// leaveOut returns the components without the one that loses least by the model itself, of those
// that are not apart from all others, and the loss; nil and most if none loses less than that.
func (r *Rounds) leaveOut(ctx context.Context, by *judge, random func(draws, components int) Random, most float64) (next []component.Gaussian, loss float64, err error) {
	was, apart := by.next(), r.apartBySDs()
	of := parts.Map(r.Components, func(c component.Gaussian) []float64 { return by.density(was, c) })
	total := make([]float64, simplifyDraws)
	for _, f := range of {
		floats.Add(total, f)
	}
	all, loss := logSum(total), most
	for j, c := range r.Components {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if !slices.ContainsFunc(r.Components, func(o component.Gaussian) bool { return sameAs(o) != sameAs(c) && !apart(o, c) }) {
			continue
		}
		without, changed := r.without(j, random)
		rest := floats.SubTo(make([]float64, simplifyDraws), total, of[j])
		for i, o := range slices.Delete(slices.Clone(of), j, j+1) {
			if changed[i] {
				floats.Sub(rest, o)
				floats.Add(rest, by.density(was, without[i]))
			}
		}
		if l := (all - logSum(rest)) / simplifyDraws; l < loss {
			next, loss = without, l
		}
	}
	return next, loss, nil
}

// without returns the components but j, whose rows go to those that they most likely belong to
// otherwise, and which of these have changed: a step of EM on the model itself. A component that
// noise has laid over several others is no part of any single one.
func (r *Rounds) without(j int, random func(draws, components int) Random) (others []component.Gaussian, changed []bool) {
	c := r.Components[j]
	others = slices.Delete(slices.Clone(r.Components), j, j+1)
	changed = make([]bool, len(others))
	alone := *r
	alone.Components = []component.Gaussian{c}
	x := alone.draw(random(withoutDraws, len(others)), withoutDraws)
	x.standardise(c)
	shares := parts.Map(others, x.logDensities)
	share(shares)
	for i, of := range shares {
		taken := x.moments(of, len(c.Mean))
		if taken.Weight *= c.Weight; taken.Weight > leastTaken {
			taken.Rows, taken.Sigma, taken.CountSD, taken.Uncertainty = c.Rows, c.Sigma, c.CountSD, c.Uncertainty
			others[i], changed[i] = component.Joined(others[i], taken), true
		}
	}
	return others, changed
}

// standardise moves rows that were drawn from c so that their mean and covariance are its own.
func (x drawn) standardise(c component.Gaussian) {
	d := len(c.Mean)
	all := x.moments(slices.Repeat([]float64{1}, len(x)/d*width), d)
	_, inv, _ := symmetric.Factor(all.Cov)
	l, _, _ := symmetric.Factor(c.Cov)
	var w mat.Dense
	w.Mul(l, inv)
	off := make([]float64, d)
	for t := range len(x) / d * width {
		for i, m := range all.Mean {
			off[i] = x[t/width*d+i][t%width] - m
		}
		for i, m := range c.Mean {
			x[t/width*d+i][t%width] = m + floats.Dot(w.RawRowView(i), off)
		}
	}
}

// moments returns the mean share of rows of d columns, and their mean and covariance by the shares.
func (x drawn) moments(shares []float64, d int) component.Gaussian {
	total := floats.Sum(shares)
	c := component.Gaussian{Weight: total / float64(len(shares)), Mean: make([]float64, d), Cov: mat.NewSymDense(d, nil)}
	if c.Weight <= leastTaken {
		return c
	}
	for t, s := range shares {
		for i := range d {
			c.Mean[i] += s / total * x[t/width*d+i][t%width]
		}
	}
	off := mat.NewVecDense(d, nil)
	for t, s := range shares {
		if s /= total; s > 0 {
			for i, m := range c.Mean {
				off.SetVec(i, x[t/width*d+i][t%width]-m)
			}
			c.Cov.SymRankOne(c.Cov, s, off)
		}
	}
	return c
}
