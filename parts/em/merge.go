package em

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
)

// Merge joins, greedily, pairs of components whose distinction is worth less than it costs: the
// loss of log-likelihood by joining them, at most B = ((wi+wj) ln|S_ij| - wi ln|S_i| - wj
// ln|S_j|)/2 per row, against what a component costs in sampling error (a BIC term) and in noise.
// It is post-processing of released values. Its error is ctx's.
//
// Source: [RUNNALLS07] for the bound B.
func (r *Rounds) Merge(ctx context.Context, mu float64) error {
	for len(r.Components) > 1 {
		joined, err := r.joinBest(ctx, 0, func(i, j int) float64 { return r.mergeGain(r.Components[i], r.Components[j], mu) })
		if err != nil || !joined {
			return err
		}
	}
	return nil
}

// joinBest joins the pair of components, i > j, that gains most and more than least; false if none
// does.
func (r *Rounds) joinBest(ctx context.Context, least float64, gain func(i, j int) float64) (bool, error) {
	bi, bj := -1, -1
	for i := range r.Components {
		for j := range i {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if g := gain(i, j); g > least {
				bi, bj, least = i, j, g
			}
		}
	}
	if bi < 0 {
		return false, nil
	}
	r.Components = component.Join(r.Components, bi, bj)
	return true, nil
}

// mergeGain is what joining a and b is worth in nats per row, at least.
func (r *Rounds) mergeGain(a, b component.Gaussian, mu float64) float64 {
	m := component.Joined(a, b)
	loss := mergeLoss(a, b, m)
	if loss > r.bic()+m.Weight*mostLost { // which is more than any cost
		return -loss
	}
	return r.cost(a, b, m, mu) - loss
}

// cost is what keeping a and b apart, instead of joined in m, costs in nats per row: sampling error
// (a BIC term) and noise.
func (r *Rounds) cost(a, b, m component.Gaussian, mu float64) float64 {
	noise := a.Weight*r.Lost(a.Weight, mu) + b.Weight*r.Lost(b.Weight, mu) - m.Weight*r.Lost(m.Weight, mu)
	return r.bic() + noise
}

// bic is the sampling part of cost.
func (r *Rounds) bic() float64 {
	d := r.Space.Dim()
	params := float64(d*(d+1))/2 + float64(d) + 1
	return mergeBIC * params * math.Log(math.Max(r.Rows, 3)) / r.Rows
}

// mergeBIC is the weight of the BIC term, in ln n per parameter and row. A guess.
const mergeBIC = .5

// mergeLoss is the bound B on the log-likelihood per row that is lost by joining a and b into m.
func mergeLoss(a, b, m component.Gaussian) float64 {
	_, _, la := symmetric.Factor(a.Cov)
	_, _, lb := symmetric.Factor(b.Cov)
	_, _, lm := symmetric.Factor(m.Cov)
	return (m.Weight*lm - a.Weight*la - b.Weight*lb) / 2
}
