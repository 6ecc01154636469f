package privateem

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of the count, guesses.
const (
	// outsideSDs beyond sqrt d, in its own sds, a component of d columns has about one row in
	// 20,000.
	outsideSDs = 3.0
	countDraws = 8000 // of the model, which say whose rows are counted where
	// a component has no rows if fewer than this many noise sds are counted for it
	nearSDs = 2.0
)

// Outside returns the region where no component is near.
func Outside(space component.Space, components []component.Gaussian) (out query.Region) {
	radius := math.Sqrt(float64(space.Dim())) + outsideSDs
	for _, c := range components {
		q, _ := space.Density(c, c.Weight)
		out.Conditions = append(out.Conditions, query.Condition{Map: q.Map, Radius: radius, Outside: true})
	}
	return out
}

// Count counts the rows outside every component, for LeftOut, and of the others those that most
// likely belong to each component, all in one release that costs mu. The noise of a whole row is a
// fraction of that of a count among moments, so the weights follow these counts. With prune,
// unreliable components without support are dropped: noise has moved them away from their rows.
// random draws rows of the model, which show how many rows of one component are counted for
// another.
func (r *Rounds) Count(a *kernel.SubBudget, step string, random func(draws, components int) Random, mu float64, prune bool) error {
	k := len(r.Components)
	p := query.Partition{Regions: []query.Region{Outside(r.Space, r.Components), {}}, Below: []query.Partition{{}, r.Parted()}}
	answers, err := parts.AskLeaves(a, step, p, make([]query.Count, 1+k), mu)
	if err != nil {
		return err
	}
	sd := answers[0].Sigma
	r.outside, r.outsideSD = answers[0].Values[0], sd
	counts := parts.Map(answers[1:], func(ans kernel.Answer) float64 { return ans.Values[0] })
	if !r.Without.Counts {
		r.reweigh(counts, sd, r.confusion(random(countDraws, k)))
	}
	if prune && !r.Without.Prune {
		r.prune(counts, sd)
	}
	r.normalise(false)
	return nil
}

// prune drops the components whose shapes are noise and that hold no clear number of rows, unless
// that leaves none.
func (r *Rounds) prune(counts []float64, sd float64) {
	var kept []component.Gaussian
	for j, c := range r.Components {
		if c.Sigma*r.spectral() <= hazy || counts[j] >= nearSDs*sd {
			kept = append(kept, c)
		}
	}
	if len(kept) > 0 {
		r.Components = kept
	}
}

// confusion returns in row j and column i the part of component i's rows that most likely belong to
// component j.
func (r *Rounds) confusion(random Random) *mat.Dense {
	k := len(r.Components)
	x := r.draw(random, countDraws)
	shares := make([][]float64, k)
	for j, c := range r.Components {
		shares[j] = x.logDensities(c)
	}
	share(shares)
	out, total := mat.NewDense(k, k, nil), make([]float64, k)
	for t := range countDraws {
		best := 0
		for j := range k {
			if shares[j][t] > shares[best][t] {
				best = j
			}
		}
		for i := range k {
			out.Set(best, i, out.At(best, i)+shares[i][t])
			total[i] += shares[i][t]
		}
	}
	out.Apply(func(j, i int, v float64) float64 {
		switch {
		case total[i] > 0:
			return v / total[i]
		case i == j:
			return 1
		}
		return 0
	}, out)
	return out
}

// reweigh moves the weights to what best explains both themselves, as far as their noise goes, and
// the counts of rows by component, with noise sd.
func (r *Rounds) reweigh(counts []float64, sd float64, confusion *mat.Dense) {
	k, rows := len(counts), floats.Sum(counts)
	if !(rows > sd*math.Sqrt(float64(k))) {
		return
	}
	x, y := mat.NewDense(2*k, k, nil), mat.NewVecDense(2*k, nil)
	for j, c := range r.Components {
		prior := rows / math.Max(c.CountSD, sd)
		x.Set(j, j, prior)
		y.SetVec(j, prior*c.Weight)
		for i := range k {
			x.Set(k+j, i, confusion.At(j, i)*rows/sd)
		}
		y.SetVec(k+j, counts[j]/sd)
	}
	var w mat.VecDense
	if w.SolveVec(x, y) != nil {
		return
	}
	for j := range k {
		c := &r.Components[j]
		c.Weight = math.Max(w.AtVec(j), leastCounted*c.Weight)
		c.CountSD = 1 / math.Hypot(1/math.Max(c.CountSD, sd), 1/sd)
	}
}

// leastCounted of a weight is left whatever the counts say.
const leastCounted = .1
