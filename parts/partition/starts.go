package partition

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// one returns the component that a box is, if it holds one; its weight is a share of rows.
func (b Box) one(rows float64) component.Gaussian {
	variances := parts.Map(b.Scale, func(s float64) float64 { return s * s })
	return component.Gaussian{Weight: b.Mass / rows, Mean: append([]float64(nil), b.Center...), Cov: symmetric.Diagonal(variances), Uncertainty: component.StartUncertainty()}
}

// A StartConfig says how many components to start from.
type StartConfig struct {
	Components int     // that are asked for; 0 if their number is not known
	Most       int     // where it is not known
	Rows       float64 // that weights are shares of
	// Uniform makes the generator of a start of a fit by k components, of numbers in [0, 1).
	Uniform func(k int) func(start int) func() float64
}

// Utility constants of the starts, guesses.
const (
	spare      = 2 // components beyond those asked for: private EM joins the least needed
	starts     = 12
	scrap      = .4 // of the lightest box that is needed: lighter ones are scraps
	complexity = .7 // of BIC, what a component must gain where their number is not known
)

// Start returns the components to start private EM from, weights summing to 1, and about how many
// rows are in their boxes: one for every box
// or, where there are fewer boxes than components asked for, more in boxes whose trees show more;
// where their number is not known, only boxes that look mixed in some column get a tree. mu2 is the
// part of mu^2 that the trees may spend.
func Start(ctx context.Context, a *kernel.SubBudget, step string, found []Box, mu2 float64, c StartConfig) ([]component.Gaussian, float64, error) {
	found = withoutScraps(joinAlike(found, c.Components), c.Components)
	wanted := Box.isMixed
	most, penalty := c.Most, complexity
	if c.Components > 0 {
		wanted = func(Box) bool { return len(found) < c.Components }
		most, penalty = c.Components+spare, 0
	}
	var out []component.Gaussian
	for _, b := range found {
		if !wanted(b) {
			out = append(out, b.one(c.Rows))
		}
	}
	if len(out) < len(found) {
		sets, err := trees(a, step, found, wanted, c.Rows, mu2)
		if err != nil {
			return nil, 0, err
		}
		more, err := share(ctx, sets, most-len(out), penalty, c)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, more...)
	}
	total := parts.Sum(out, func(g component.Gaussian) float64 { return g.Weight })
	for i := range out {
		out[i].Weight /= total
	}
	return out, total * c.Rows, nil
}

// joinAlike joins, of more boxes than components asked for, those that differ only in columns where
// one of them has one value: a column of few values does not make components.
func joinAlike(found []Box, components int) []Box {
	found = slices.Clone(found)
	for components > 0 && len(found) > components {
		i, j := alikePair(found)
		if i < 0 {
			break
		}
		found[i] = joined(found[i], found[j])
		found = slices.Delete(found, j, j+1)
	}
	return found
}

// alikePair returns the heaviest pair that is alike, i < j; negative if there is none.
func alikePair(found []Box) (i, j int) {
	i, j = -1, -1
	most := 0.0
	for a, x := range found {
		for b, y := range found[:a] {
			if m := math.Min(x.Mass, y.Mass); m > most && alike(x, y) {
				i, j, most = b, a, m
			}
		}
	}
	return i, j
}

// Utility constants of what is alike, guesses.
const (
	alikeApart = .6 // of the larger sd, the distance of two means
	alikeRatio = 1.6
	alikeValue = 8.0 // sds from a mean that a value may be
)

func alike(x, y Box) bool {
	for j := range x.Center {
		small, large := math.Min(x.Scale[j], y.Scale[j]), math.Max(x.Scale[j], y.Scale[j])
		apart := math.Abs(x.Center[j] - y.Center[j])
		switch {
		case x.Atom[j] && y.Atom[j]:
		case x.Atom[j] || y.Atom[j]:
			if apart > alikeValue*large {
				return false
			}
		case apart > alikeApart*large || large > alikeRatio*small:
			return false
		}
	}
	return true
}

// joined returns the hull of two boxes, with the moments of both.
func joined(x, y Box) Box {
	out := x.clone()
	out.Mass += y.Mass
	p := y.Mass / out.Mass
	for j, m := range x.Center {
		out.Low[j], out.High[j] = math.Min(x.Low[j], y.Low[j]), math.Max(x.High[j], y.High[j])
		by := y.Center[j] - m
		out.Center[j] = m + p*by
		out.Atom[j] = x.Atom[j] && y.Atom[j] && by == 0
		if !out.Atom[j] {
			out.Scale[j] = math.Hypot(math.Sqrt(p*(1-p))*by, math.Hypot(math.Sqrt(1-p)*x.Scale[j], math.Sqrt(p)*y.Scale[j]))
		}
		out.Gain[j] = math.Max(x.Gain[j], y.Gain[j])
	}
	return out
}

// withoutScraps drops, if there are more boxes than requested components, those that hold little
// compared with the others. (A row in none of the boxes goes to the nearest component.)
func withoutScraps(found []Box, components int) []Box {
	if components == 0 || len(found) <= components {
		return found
	}
	masses := parts.Map(found, func(b Box) float64 { return b.Mass })
	slices.Sort(masses)
	least := scrap * masses[len(masses)-components]
	return slices.DeleteFunc(slices.Clone(found), func(b Box) bool { return b.Mass < least })
}

// share fits the leaves of every set by 1, 2, .. components, in all at most most but at least one
// for each set, and returns the components of the best way to share them out, by dynamic
// programming. penalty is the least gain of a component, in units of BIC's.
//
// Source: [AAL21] Section 5 of the restatement, step 5 (which shares components out among roots).
func share(ctx context.Context, sets []set, most int, penalty float64, c StartConfig) ([]component.Gaussian, error) {
	most = max(most, len(sets))
	fits := make([][]*coreset.Mixture, len(sets))
	total := slices.Repeat([]float64{math.Inf(-1)}, most+1) // of the sets so far with so many components, the best
	total[0] = 0
	took := make([][]int, len(sets))
	for b, s := range sets {
		next := slices.Repeat([]float64{math.Inf(-1)}, most+1)
		took[b] = make([]int, most+1)
		for k := 1; k <= most-len(sets)+1 && k <= max(1, len(s.Leaves.Points)); k++ {
			gain := -penalty * float64(k) * s.bic(c.Rows)
			var m *coreset.Mixture
			if len(s.Leaves.Points) > 0 {
				var err error
				if m, err = coreset.Fit(ctx, s.Leaves, k, starts, c.Uniform(k)); err != nil {
					return nil, err
				}
				gain += m.LogLik
			}
			fits[b] = append(fits[b], m)
			for have := range most + 1 - k {
				if v := total[have] + gain; v > next[have+k] {
					next[have+k], took[b][have+k] = v, k
				}
			}
		}
		total = next
	}
	at := floats.MaxIdx(total)
	var out []component.Gaussian
	for b := len(sets) - 1; b >= 0; b-- {
		k := took[b][at]
		at -= k
		out = append(out, sets[b].lift(fits[b][k-1], c.Rows)...)
	}
	return out, nil
}

// lift turns a mixture of the set's coordinates into components of all columns.
func (s set) lift(m *coreset.Mixture, rows float64) (out []component.Gaussian) {
	one := s.Box.one(rows)
	if m == nil || len(m.Weights) == 1 {
		return []component.Gaussian{one}
	}
	for j, w := range m.Weights {
		g := s.Box.one(rows)
		g.Weight *= w
		for i, y := range m.Means[j] {
			a := s.Columns[i]
			g.Mean[a] += s.Box.Scale[a] * y
			for l, b := range s.Columns[:i+1] {
				g.Cov.SetSym(a, b, s.Box.Scale[a]*s.Box.Scale[b]*m.Covs[j].At(i, l))
			}
		}
		out = append(out, g)
	}
	return out
}

// bic returns what a component must gain, in nats: half the logarithm of the rows for each
// parameter, times how much noisier the counts are than rows alone would make them.
func (s set) bic(rows float64) float64 {
	q := float64(len(s.Columns))
	inflation := 1 + s.Leaves.SD*s.Leaves.SD*float64(len(s.Leaves.Points))/math.Max(s.Leaves.Total, 1)
	return (2*q + 1) / 2 * math.Log(math.Max(rows, 3)) * inflation
}
