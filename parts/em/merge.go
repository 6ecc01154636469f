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
		bi, bj, best := -1, -1, 0.0
		for i := range r.Components {
			if err := ctx.Err(); err != nil {
				return err
			}
			for j := range i {
				if gain := r.mergeGain(r.Components[i], r.Components[j], mu); gain > best {
					bi, bj, best = i, j, gain
				}
			}
		}
		if bi < 0 {
			break
		}
		r.Components[bj] = component.Joined(r.Components[bi], r.Components[bj])
		r.Components = append(r.Components[:bi], r.Components[bi+1:]...)
	}
	return nil
}

// mergeGain is what joining a and b is worth in nats per row, at least.
func (r *Rounds) mergeGain(a, b component.Gaussian, mu float64) float64 {
	m := component.Joined(a, b)
	return r.cost(a, b, m, mu) - mergeLoss(a, b, m)
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

// Reduce joins, greedily, the pairs that lose least until k components are left. Its error is ctx's.
func (r *Rounds) Reduce(ctx context.Context, k int) error {
	for len(r.Components) > k {
		bi, bj, least := 1, 0, math.Inf(1)
		for i := range r.Components {
			if err := ctx.Err(); err != nil {
				return err
			}
			for j := range i {
				a, b := r.Components[i], r.Components[j]
				if loss := mergeLoss(a, b, component.Joined(a, b)); loss < least {
					bi, bj, least = i, j, loss
				}
			}
		}
		r.Components[bj] = component.Joined(r.Components[bi], r.Components[bj])
		r.Components = append(r.Components[:bi], r.Components[bi+1:]...)
	}
	return nil
}

// mergeLoss is the bound B on the log-likelihood per row that is lost by joining a and b into m.
func mergeLoss(a, b, m component.Gaussian) float64 {
	_, _, la := symmetric.Factor(a.Cov)
	_, _, lb := symmetric.Factor(b.Cov)
	_, _, lm := symmetric.Factor(m.Cov)
	return (m.Weight*lm - a.Weight*la - b.Weight*lb) / 2
}
