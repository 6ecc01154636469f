package release

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/model"
)

// Utility constants of shared values, guesses, tried on made-up columns with zeros.
const (
	// A value that many cells have is that of a component so many of whose sds from it the mean is
	// at most, if the profile has no more than sharedOthers of the component's weight in other
	// values as near.
	sharedSDs, sharedOthers = 3.0, .1
	// .. and is more than so many sds of its noise.
	sharedNoise = 4.0
	// In a column with a declared unit of which no profile says more, a component narrower than
	// this part of the others has one value.
	sharedWidth = 1e-3
)

// shared returns the values that rows of a component share in a column, as [model.Mixture.Shared]:
// a value that the profile shows many cells to have, with a component about it whose spread is what
// the noise could not tell from none. It follows from the release alone, and costs nothing.
func (r *Release) shared(cells []model.Cell) (out [][]float64) {
	any := false
	for i, g := range r.Model.Components {
		own := slices.Repeat([]float64{math.NaN()}, r.Model.Dim())
		for j, name := range r.Model.Columns {
			if cells[j].Log.Maps() || i < len(r.Model.Background) && r.Model.Background[i] {
				continue
			}
			at := slices.IndexFunc(r.Profile, func(p ColumnProfile) bool { return p.Name == name && p.Histogram != nil })
			switch {
			case at >= 0:
				own[j] = r.Profile[at].sharedBy(g.Mean[j], math.Sqrt(g.Cov.At(j, j)), r.Model.Weights[i])
			case r.Column(j).RoundedTo > 0 && math.Sqrt(g.Cov.At(j, j)) < sharedWidth*r.narrowest(j):
				c := cells[j]
				own[j] = math.Max(c.Least, math.Min(c.Most, c.Offset+c.Unit*math.Round((g.Mean[j]-c.Offset)/c.Unit)))
			}
			any = any || own[j] == own[j]
		}
		out = append(out, own)
	}
	if !any {
		return nil
	}
	return out
}

// sharedBy returns the value that a component's rows share, NaN for none.
func (c *ColumnProfile) sharedBy(mean, sd, weight float64) float64 {
	for _, a := range c.Atoms {
		off := math.Abs(mean - a.Value)
		if off > sharedSDs*sd || a.Share < sharedNoise*a.Noise {
			continue
		}
		others, reach := 0., off+sharedSDs*sd
		for _, b := range c.Histogram {
			if b.High > b.Low {
				others += b.Share * math.Max(0, math.Min(b.High, a.Value+reach)-math.Max(b.Low, a.Value-reach)) / (b.High - b.Low)
			}
		}
		for _, b := range c.Atoms {
			if b.Value != a.Value && math.Abs(b.Value-a.Value) <= reach {
				others += b.Share
			}
		}
		if others < sharedOthers*weight {
			return a.Value
		}
	}
	return math.NaN()
}

// narrowest returns the least spread in a column of the components that stand for groups, but for
// those far narrower than the widest.
func (r *Release) narrowest(j int) (sd float64) {
	var all []float64
	for i, g := range r.Model.Components {
		if !(i < len(r.Model.Background) && r.Model.Background[i]) {
			all = append(all, math.Sqrt(g.Cov.At(j, j)))
		}
	}
	slices.Sort(all)
	for _, s := range all {
		if s > sharedWidth*all[len(all)-1] {
			return s
		}
	}
	return 0
}
