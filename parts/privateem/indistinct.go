package privateem

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of MergeIndistinct, chosen on the public tables, by experiments/files.
const (
	simplifyDraws = 8000 // rows that are drawn from the model to judge a merger
	noiseCosts    = 3.0  // KL must exceed what a distinction costs in noise this many times ..
	leastTold     = .001 // .. and its BIC term by this many nats per row, for the distinction to be kept
	// of an even share of the rows: fewer, with a shape of noise, are no component
	ghostShare = .1
)

// MergeIndistinct joins, greedily, pairs of components whose distinction the model itself hardly
// shows: KL(f || f with the pair joined), estimated on rows drawn from f with random, against the
// costs of merge in a round of mu: noise makes pieces of one Gaussian look unlike one. Where
// merge's bound is loose, for such pieces, this is not. Whether the last two are one is left to the
// contest. It is post-processing of released values. Its error is ctx's.
func (r *Rounds) MergeIndistinct(ctx context.Context, random func(draws, components int) Random, mu float64) error {
	if r.Without.Indistinct {
		return nil
	}
	judged := r.judge(random)
	return r.joinDownTo(2, func() (bool, error) {
		apart, told := r.apartBySDs(), r.told(mu)
		return r.joinUntold(ctx, judged, 0, func(a, b component.Gaussian) float64 {
			if apart(a, b) {
				return math.Inf(-1)
			}
			return told(a, b)
		})
	})
}

// told returns the least gain of a distinction, in nats per row, that a round of mu can measure.
func (r *Rounds) told(mu float64) func(a, b component.Gaussian) float64 {
	return func(a, b component.Gaussian) float64 {
		return leastTold + r.bic() + noiseCosts*(r.cost(a, b, mu)-r.bic())
	}
}

// MergeTo joins pairs of components as MergeIndistinct does, but until k are left, after leaving
// out light ones whose shapes are noise: by the model's own account nothing is as distinct. Its
// error is ctx's.
func (r *Rounds) MergeTo(ctx context.Context, random func(draws, components int) Random, k int, mu float64) error {
	for judged := (*judge)(nil); len(r.Components) > k; {
		j := -1 // the noisiest
		for i, c := range r.Components {
			if !r.Without.Ghosts && c.Weight < ghostShare/float64(k) && c.Sigma*r.spectral() > hazy && (j < 0 || c.Sigma > r.Components[j].Sigma) {
				j = i
			}
		}
		if j >= 0 {
			r.Components = slices.Delete(slices.Clone(r.Components), j, j+1)
			r.normalise(false)
			continue
		}
		if judged == nil {
			judged = r.judge(random)
		}
		joined, err := r.joinUntold(ctx, judged, -math.MaxFloat64, r.told(mu))
		if err != nil {
			return err
		}
		if !joined { // no loss is a number
			r.Components = component.Join(r.Components, 1, 0)
		}
	}
	return nil
}

// joinUntold merges the pair of components whose distinction gains least, relative to the least
// gain wanted, if the difference is less than -least.
func (r *Rounds) joinUntold(ctx context.Context, by *judge, least float64, worth func(a, b component.Gaussian) float64) (bool, error) {
	bound, err := r.likeliestPairs(ctx, by.known, pairsTried*len(r.Components))
	if err != nil {
		return false, err
	}
	was := by.next()
	total := make([]float64, simplifyDraws)
	for _, c := range r.Components {
		floats.Add(total, by.density(was, c))
	}
	all, rest := logSum(total), make([]float64, simplifyDraws)
	return r.joinBest(ctx, least, func(i, j int) float64 {
		a, b := r.Components[i], r.Components[j]
		if by.known.of(a, b) > bound {
			return math.Inf(-1)
		}
		most := worth(a, b)
		if most <= least { // joining loses something
			return math.Inf(-1)
		}
		of, ofB, joined := by.density(was, a), by.density(was, b), by.density(was, a, b)
		for t, f := range total {
			rest[t] = f - of[t] - ofB[t] + joined[t]
		}
		gain := most - (all-logSum(rest))/simplifyDraws
		least = math.Max(least, gain)
		return gain
	})
}

// A judge is rows that are drawn from a mixture, on which mergers of its components are judged, one
// after the other, and what is known of components and of pairs of them.
type judge struct {
	rows      drawn
	base      []float64 // ln of the mixture's density
	densities map[[2]same][]float64
	known     bounds
}

// judge draws the rows.
func (r *Rounds) judge(random func(draws, components int) Random) *judge {
	by := &judge{rows: r.draw(random(simplifyDraws, len(r.Components)), simplifyDraws), densities: map[[2]same][]float64{}, known: bounds{}}
	parts := make([][]float64, len(r.Components))
	for j, c := range r.Components {
		parts[j] = by.rows.logDensities(c)
		by.densities[[2]same{sameAs(c)}] = parts[j]
	}
	by.base = share(parts)
	return by
}

// next forgets all densities but those that are asked for from now on, and returns what there were.
func (by *judge) next() map[[2]same][]float64 {
	was := by.densities
	by.densities = map[[2]same][]float64{}
	return was
}

// density returns the density of a component, or of two joined, at every row, over that of the
// mixture that the rows are drawn from.
func (by *judge) density(was map[[2]same][]float64, c component.Gaussian, others ...component.Gaussian) []float64 {
	key := [2]same{sameAs(c)}
	for _, o := range others {
		key[1] = sameAs(o)
	}
	if now, is := by.densities[key]; is {
		return now
	}
	out, is := was[key]
	if !is {
		out = relative(by.rows.logDensities(component.Joined(c, others...)), by.base)
	}
	by.densities[key] = out
	return out
}

// logSum returns the sum of the logarithms of the densities: one logarithm for the product of many.
func logSum(densities []float64) (sum float64) {
	product := 1.0
	for _, f := range densities {
		product *= min(max(f, leastRatio), 1/leastRatio)
		if product < leastRatio || product > 1/leastRatio {
			sum, product = sum+math.Log(product), 1
		}
	}
	return sum + math.Log(product)
}

// leastRatio: a density that falls, or rises, by more counts as if by this.
const leastRatio = 1e-100

// pairsTried: this many pairs per component are judged on drawn rows, those whose bounds are the
// lowest. A guess.
const pairsTried = 2

// likeliestPairs returns the bound on the loss that the likeliest pairs, that many, are within.
func (r *Rounds) likeliestPairs(ctx context.Context, known bounds, pairs int) (float64, error) {
	var losses []float64
	for i, a := range r.Components {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for _, b := range r.Components[:i] {
			losses = append(losses, known.of(a, b))
		}
	}
	slices.Sort(losses)
	return losses[min(pairs, len(losses))-1], nil
}

// Random is a generator of public random numbers; *rand.Rand of math/rand/v2 is one.
type Random interface {
	Float64() float64
	NormFloat64() float64
}
