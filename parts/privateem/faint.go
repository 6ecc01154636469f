package privateem

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of LikeOthers, guesses: a component is faint if it holds less than mostFaint of
// the rows and the noise of its shape is faintNoise of it or more, and far in a column farSDs sds
// of the others and farOwn of its own away. It is wide in a column if it is wideOthers times as
// wide as all others together, and lies elsewhere if its mean is that many sds of its noise away,
// which is at least meanNoise of that of the shape.
const (
	mostFaint            = .12
	faintNoise           = .3
	farSDs, farOwn       = 6.0, 3.0
	wideOthers           = 2.0
	elsewhere, meanNoise = 2.5, .5
)

// LikeOthers makes components of few rows that are far from all others in some columns like these
// in the columns in which they seem wider and are not seen to lie elsewhere: noise has a wide frame
// shrink over many rounds, while one that is too narrow grows in a few. mu is the loss of a round.
func (r *Rounds) LikeOthers(mu float64) {
	faint := func(c component.Gaussian) bool {
		return c.Weight < mostFaint && r.relative(c.Weight, mu) > faintNoise
	}
	clear := slices.DeleteFunc(slices.Clone(r.Components), faint)
	if len(clear) == 0 || r.Form == query.SphericalForm {
		return
	}
	others := component.Joined(clear[0], clear[1:]...)
	for i, c := range r.Components {
		if faint(c) {
			r.Components[i] = likeOthers(c, others)
		}
	}
}

// likeOthers is LikeOthers of one component.
func likeOthers(c, others component.Gaussian) component.Gaussian {
	var wide []int
	far := false
	noise := math.Max(math.Sqrt(c.Uncertainty.Mean), meanNoise*c.Sigma) // of a mean, in the component's own sds
	for j, m := range c.Mean {
		away, sd, own := math.Abs(m-others.Mean[j]), math.Sqrt(others.Cov.At(j, j)), math.Sqrt(c.Cov.At(j, j))
		switch {
		case away > farSDs*sd && away > farOwn*math.Max(1, noise)*own:
			far = true
		case own > wideOthers*sd && away < elsewhere*noise*own:
			wide = append(wide, j)
		}
	}
	if !far || wide == nil {
		return c
	}
	c.Mean = slices.Clone(c.Mean)
	for _, j := range wide {
		c.Mean[j] = others.Mean[j]
	}
	cov := c.Cov
	c.Cov = symmetric.Of(len(c.Mean), func(i, j int) float64 {
		switch isWide := slices.Contains(wide, i) || slices.Contains(wide, j); {
		case isWide && i == j:
			return others.Cov.At(j, j)
		case isWide:
			return 0
		}
		return cov.At(i, j)
	})
	return c
}
