package mixture

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/component"
	"github.com/gauze-dp/gauze/blocks/linalg"
)

// Utility constants of simplify.
const (
	simplifyDraws = 8000 // rows that are drawn from the model to judge a merger
	simplifyCosts = 1.0  // KL must exceed the costs of a distinction this many times ..
	leastTold     = .001 // .. and by this many nats per row, for it to be told
)

// simplify joins, greedily, pairs of components whose distinction the model itself hardly shows: KL(f || f with the pair joined),
// estimated on rows drawn from f with a public seed, against the BIC and noise terms of merge. Where merge's bound is loose, for
// pieces that together are one Gaussian, this is not. Whether the last two are one is left to the contest. It is post-processing
// of released values.
func (r *rounds) simplify(mu float64) {
	for len(r.components) > 2 {
		x := r.draw(simplifyDraws)
		logs := make([][]float64, len(r.components)) // ln w_j N_j(x)
		for j, c := range r.components {
			logs[j] = logDensities(c, x)
		}
		all := make([]float64, len(x))
		for i := range x {
			all[i] = logSum(logs, i, -1, -1, math.Inf(-1))
		}
		bi, bj, best := -1, -1, 0.0
		for i := range r.components {
			for j := range i {
				m := component.Joined(r.components[i], r.components[j])
				merged, loss := logDensities(m, x), 0.0
				for t := range x {
					loss += (all[t] - logSum(logs, t, i, j, merged[t])) / float64(len(x))
				}
				if gain := simplifyCosts*r.bic() + leastTold - loss; gain > best {
					bi, bj, best = i, j, gain
				}
			}
		}
		if bi < 0 {
			return
		}
		r.components[bj] = component.Joined(r.components[bi], r.components[bj])
		r.components = append(r.components[:bi], r.components[bi+1:]...)
	}
}

// draw returns rows of the mixture, without the background, in working coordinates.
func (r *rounds) draw(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(len(r.components))))
	d := r.space.Dim()
	var ls []*mat.Dense
	for _, c := range r.components {
		l, _, _ := linalg.Factor(c.Cov)
		ls = append(ls, l)
	}
	x := make([][]float64, n)
	z := make([]float64, d)
	for t := range x {
		u, j := rng.Float64(), 0
		for j < len(r.components)-1 && u >= r.components[j].Weight {
			u -= r.components[j].Weight
			j++
		}
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		x[t] = append([]float64(nil), r.components[j].Mean...)
		for i := range d {
			for k := 0; k <= i; k++ {
				x[t][i] += ls[j].At(i, k) * z[k]
			}
		}
	}
	return x
}

// logDensities is ln w N(x), less the constant d/2 ln 2 pi, of every row.
func logDensities(c component.Gaussian, x [][]float64) []float64 {
	_, inv, logDet := linalg.Factor(c.Cov)
	d := len(c.Mean)
	w := inv.RawMatrix()
	out := make([]float64, len(x))
	for t, row := range x {
		q := 0.0
		for i := range d {
			z := 0.0
			for k := 0; k <= i; k++ {
				z += w.Data[i*w.Stride+k] * (row[k] - c.Mean[k])
			}
			q += z * z
		}
		out[t] = math.Log(math.Max(c.Weight, 1e-12)) - logDet/2 - q/2
	}
	return out
}

// logSum is the logarithm of the sum of exp(logs[j][t]) over all j but skip1 and skip2, and of exp(more).
func logSum(logs [][]float64, t, skip1, skip2 int, more float64) float64 {
	best := more
	for j := range logs {
		if j != skip1 && j != skip2 {
			best = math.Max(best, logs[j][t])
		}
	}
	total := math.Exp(more - best)
	for j := range logs {
		if j != skip1 && j != skip2 {
			total += math.Exp(logs[j][t] - best)
		}
	}
	return best + math.Log(total)
}
