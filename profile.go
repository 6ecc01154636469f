package gauze

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// MethodProfile is the method of a request for table one, which [Describe] sets.
const MethodProfile = profile.Name

// Describe measures table one, a description of every column by itself, within the request's
// budget. The release has a profile instead of a model. It is [Fit] with the method
// [MethodProfile], and fails as that does.
func Describe(ctx context.Context, table *kernel.Table, r Request) (*Result, error) {
	r.Method = MethodProfile
	return Fit(ctx, table, r)
}

// profileOf returns a profile with columns named, kept within what is publicly known of them.
func profileOf(p *estimate.Profile, columns []source.Column) (out []release.ColumnProfile) {
	numbers, categories := p.Columns, p.Categories
	for j := range columns {
		if columns[j].Categorical() {
			out, categories = append(out, categoryProfile(categories[0], columns[j])), categories[1:]
			continue
		}
		c := numbers[0]
		numbers = numbers[1:]
		own := release.ColumnProfile{Name: columns[j].Name, Cells: c.Cells, CellsNoise: c.CellsNoise, HeldOut: c.HeldOut}
		if c.HeldOut == "" {
			fillProfile(&own, c, columns[j])
		}
		out = append(out, own)
	}
	return out
}

// categoryProfile returns the profile of a column of categories, with its values named.
func categoryProfile(c estimate.CategoryProfile, column source.Column) release.ColumnProfile {
	last := len(c.Shares) - 1
	out := release.ColumnProfile{Name: column.Name, Cells: 1 - c.Shares[last], CellsNoise: c.Noise}
	for v, value := range column.Values() {
		out.Values = append(out.Values, release.ValueShare{Value: value, Share: c.Shares[v], Noise: c.Noise})
	}
	return out
}

func fillProfile(own *release.ColumnProfile, c estimate.ColumnProfile, public source.Column) {
	within := func(x float64) float64 {
		if public.AtLeast != nil {
			x = math.Max(x, *public.AtLeast)
		}
		if public.AtMost != nil {
			x = math.Min(x, *public.AtMost)
		}
		return x
	}
	own.Quantiles, own.RankNoise = map[string]float64{}, map[string]float64{}
	if l := public.Log(); l.Maps() {
		c.NoMean, c.NoSD, c.Grid, c.Offset = true, true, 0, 0
		c.Notes = append(slices.Clone(c.Notes), "it is counted by its logarithms: without mean and sd, which those do not say")
		limits := within
		within = func(y float64) float64 { return limits(l.From(y)) }
	}
	last := math.Inf(-1)
	for _, q := range c.Quantiles {
		last = math.Max(last, within(q.Value))
		own.Quantiles[release.ShareName(q.P)], own.RankNoise[release.ShareName(q.P)] = last, q.RankNoise
	}
	if !c.NoMean {
		own.Mean = &release.Noisy{Value: within(c.Mean), Noise: c.MeanNoise}
	}
	if !c.NoSD {
		own.SD = &release.Noisy{Value: c.SD, Noise: c.SDNoise}
	}
	own.Within, own.Beyond = []float64{within(c.Low), within(c.High)}, c.Beyond
	own.Grid, own.Offset, own.Notes = c.Grid, c.Offset, c.Notes
	for _, a := range c.Atoms {
		a.Value = within(a.Value)
		own.Atoms = append(own.Atoms, release.Atom(a))
	}
	for _, b := range c.Histogram {
		own.Histogram = append(own.Histogram, release.Bar{Low: within(b.Low), High: within(b.High), Share: b.Share})
	}
	for _, b := range c.Counted {
		if low, high := within(b.Low), within(b.High); b.Low == b.High || low < high {
			own.Counted = append(own.Counted, release.Bar{Low: low, High: high, Share: b.Share, Noise: b.Noise})
		}
	}
}
