package em

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of Simplify, chosen on the public tables of experiments/tables.
const (
	simplifyDraws = 8000 // rows that are drawn from the model to judge a merger
	simplifyCosts = 1.0  // KL must exceed the costs of a distinction this many times ..
	leastTold     = .001 // .. and by this many nats per row, for it to be told
)

// Simplify joins, greedily, pairs of components whose distinction the model itself hardly shows:
// KL(f || f with the pair joined), estimated on rows drawn from f with random, against the BIC
// term of merge. Where merge's bound is loose, for pieces that together are one Gaussian,
// this is not. Whether the last two are one is left to the contest. It is post-processing of
// released values. Its error is ctx's.
func (r *Rounds) Simplify(ctx context.Context, random func(draws, components int) Random) error {
	for len(r.Components) > 2 {
		x := r.draw(random(simplifyDraws, len(r.Components)), simplifyDraws)
		logs := make([][]float64, len(r.Components)) // ln w_j N_j(x)
		for j, c := range r.Components {
			logs[j] = logDensities(c, x)
		}
		all := make([]float64, len(x))
		for i := range x {
			all[i] = logSum(logs, i, -1, -1, math.Inf(-1))
		}
		joined, err := r.joinBest(ctx, 0, func(i, j int) float64 {
			m := component.Joined(r.Components[i], r.Components[j])
			merged, loss := logDensities(m, x), 0.0
			for t := range x {
				loss += (all[t] - logSum(logs, t, i, j, merged[t])) / float64(len(x))
			}
			return simplifyCosts*r.bic() + leastTold - loss
		})
		if err != nil || !joined {
			return err
		}
	}
	return nil
}

// Random is a generator of public random numbers; *rand.Rand of math/rand/v2 is one.
type Random interface {
	Float64() float64
	NormFloat64() float64
}

// draw returns rows of the mixture, without the background, in working coordinates.
func (r *Rounds) draw(rng Random, n int) [][]float64 {
	d := r.Space.Dim()
	var ls []*mat.Dense
	for _, c := range r.Components {
		l, _, _ := symmetric.Factor(c.Cov)
		ls = append(ls, l)
	}
	x := make([][]float64, n)
	z := make([]float64, d)
	for t := range x {
		u, j := rng.Float64(), 0
		for j < len(r.Components)-1 && u >= r.Components[j].Weight {
			u -= r.Components[j].Weight
			j++
		}
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		x[t] = append([]float64(nil), r.Components[j].Mean...)
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
	_, inv, logDet := symmetric.Factor(c.Cov)
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

// logSum is the logarithm of the sum of exp(logs[j][t]) over all j but skip1 and skip2, and of
// exp(more).
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
