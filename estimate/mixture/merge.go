package mixture

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// merge joins, greedily, pairs of components whose distinction is worth less than it costs: the loss of log-likelihood by joining
// them, at most B = ((wi+wj) ln|S_ij| - wi ln|S_i| - wj ln|S_j|)/2 per row, against what a component costs in sampling error
// (a BIC term) and in noise. It is post-processing of released values.
//
// Source: [RUNNALLS07] for the bound B.
func (r *rounds) merge(mu float64) {
	for len(r.components) > 1 {
		bi, bj, best := -1, -1, 0.0
		for i := range r.components {
			for j := range i {
				if gain := r.mergeGain(r.components[i], r.components[j], mu); gain > best {
					bi, bj, best = i, j, gain
				}
			}
		}
		if bi < 0 {
			return
		}
		r.components[bj] = joined(r.components[bi], r.components[bj])
		r.components = append(r.components[:bi], r.components[bi+1:]...)
	}
}

// mergeGain is what joining a and b is worth in nats per row, at least.
func (r *rounds) mergeGain(a, b gauss, mu float64) float64 {
	m := joined(a, b)
	return r.cost(a, b, m, mu) - mergeLoss(a, b, m)
}

// cost is what keeping a and b apart, instead of joined in m, costs in nats per row: sampling error (a BIC term) and noise.
func (r *rounds) cost(a, b, m gauss, mu float64) float64 {
	noise := a.w*r.lost(a.w, mu) + b.w*r.lost(b.w, mu) - m.w*r.lost(m.w, mu)
	return r.bic() + noise
}

// bic is the sampling part of cost.
func (r *rounds) bic() float64 {
	d := r.space.dim()
	params := float64(d*(d+1))/2 + float64(d) + 1
	return mergeBIC * params * math.Log(math.Max(r.rows, 3)) / r.rows
}

// mergeBIC is the weight of the BIC term, in ln n per parameter and row.
const mergeBIC = .5

// joined is the Gaussian with the weight, mean and covariance of the two together.
func joined(a, b gauss) gauss {
	w := a.w + b.w
	pa, pb := a.w/w, b.w/w
	d := len(a.mean)
	m := gauss{w: w, mean: make([]float64, d), cov: mat.NewSymDense(d, nil), rows: a.rows + b.rows,
		sigma: math.Max(a.sigma*pa, b.sigma*pb)}
	for i := range d {
		m.mean[i] = pa*a.mean[i] + pb*b.mean[i]
	}
	for i := range d {
		for j := i; j < d; j++ {
			m.cov.SetSym(i, j, pa*(a.cov.At(i, j)+(a.mean[i]-m.mean[i])*(a.mean[j]-m.mean[j]))+
				pb*(b.cov.At(i, j)+(b.mean[i]-m.mean[i])*(b.mean[j]-m.mean[j])))
		}
	}
	m.doubt = doubt{
		shape: pa*a.doubt.shape + pb*b.doubt.shape, scale: pa*a.doubt.scale + pb*b.doubt.scale,
		mean: pa*a.doubt.mean + pb*b.doubt.mean, weight: pa*a.doubt.weight + pb*b.doubt.weight,
	}
	return m
}

// reduce joins, greedily, the pairs that lose least until k components are left.
func (r *rounds) reduce(k int) {
	for len(r.components) > k {
		bi, bj, least := 1, 0, math.Inf(1)
		for i := range r.components {
			for j := range i {
				a, b := r.components[i], r.components[j]
				if loss := mergeLoss(a, b, joined(a, b)); loss < least {
					bi, bj, least = i, j, loss
				}
			}
		}
		r.components[bj] = joined(r.components[bi], r.components[bj])
		r.components = append(r.components[:bi], r.components[bi+1:]...)
	}
}

// mergeLoss is the bound B on the log-likelihood per row that is lost by joining a and b into m.
func mergeLoss(a, b, m gauss) float64 {
	_, _, la := factor(a.cov)
	_, _, lb := factor(b.cov)
	_, _, lm := factor(m.cov)
	return (m.w*lm - a.w*la - b.w*lb) / 2
}
