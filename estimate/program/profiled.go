package program

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants of units by a profile, guesses: a column is settled by its profile if less than
// mostAtCentre of its cells have the value that the median is, if the noise of the median's rank is
// no more than rankOfCentre, and if at most beyondCentre may lie beyond what is seen.
const (
	mostAtCentre, rankOfCentre, beyondCentre = .4, .1, .1
	// scaleQuantile of the distances to the centre: its octave is the scale, as location and scale
	// measures it.
	scaleQuantile = .6
)

// A stretch is a share of cells, spread evenly over distances to a centre.
type stretch struct{ near, far, share float64 }

// below returns the share of the cells within a distance.
func (s stretch) below(x float64) float64 {
	if s.far > s.near {
		return s.share * math.Max(0, math.Min((x-s.near)/(s.far-s.near), 1))
	}
	if x >= s.far {
		return s.share
	}
	return 0
}

// distances returns the distances of a column's cells from a centre, and the share at distance 0.
func distances(c *estimate.ColumnProfile, center float64) (out []stretch, same float64) {
	for _, b := range c.Histogram {
		switch low, high := b.Low-center, b.High-center; {
		case low == 0 && high == 0:
			same += b.Share
		case low < 0 && high > 0:
			out = append(out, stretch{0, -low, b.Share * -low / (high - low)}, stretch{0, high, b.Share * high / (high - low)})
		default:
			out = append(out, stretch{math.Min(math.Abs(low), math.Abs(high)), math.Max(math.Abs(low), math.Abs(high)), b.Share})
		}
	}
	return out, same
}

// settled returns the centre and the scale of a column by its profile; ok is false if that does not
// determine them clearly.
func settled(c *estimate.ColumnProfile) (center, scale float64, ok bool) {
	at := slices.IndexFunc(c.Quantiles, func(q estimate.Quantile) bool { return q.P == .5 })
	if c.HeldOut != "" || at < 0 || !(c.SD > 0) || c.Beyond > beyondCentre || c.Quantiles[at].RankNoise > rankOfCentre {
		return 0, 0, false
	}
	center = c.Quantiles[at].Value
	all, same := distances(c, center)
	total, far := 0.0, 0.0
	for _, s := range all {
		total, far = total+s.share, math.Max(far, s.far)
	}
	if same > mostAtCentre || !(total > 0) || !(far < math.MaxFloat64) {
		return 0, 0, false
	}
	low, high := 0.0, far
	for high-low > 1e-6*high { // bisection
		mid, sum := low+(high-low)/2, 0.0
		for _, s := range all {
			sum += s.below(mid)
		}
		if sum < scaleQuantile*total {
			low = mid
		} else {
			high = mid
		}
	}
	_, e := math.Frexp(high)
	return center, math.Ldexp(1, e-1), high > columns.Narrowest
}

// units returns the centres and scales of all columns: by the profile where it settles them, and by
// measuring location and scale only for the others.
func (r *Run) units(cfg columns.UnitsConfig) (u columns.Units, err error) {
	p := r.Problem.Profile
	if p == nil {
		return columns.MeasureUnits(r.SubBudget, cfg)
	}
	ask, open := make([]bool, r.All), 0.0
	centers, scales := make([]float64, r.All), make([]float64, r.All)
	for j := range ask {
		ok := false
		if centers[j], scales[j], ok = settled(&p.Columns[j]); !ok {
			ask[j] = true
			open++
		}
	}
	u = columns.Units{Center: make([]float64, r.All), Scale: make([]float64, r.All), Constant: make([]bool, r.All), Varied: slices.Repeat([]float64{math.NaN()}, r.All)}
	if part := open / float64(r.All); open > 0 {
		cfg.CenterMu2, cfg.ScaleMu2 = part*cfg.CenterMu2, part*cfg.ScaleMu2
		if u, err = columns.MeasureUnitsOf(r.SubBudget, cfg, ask); err != nil {
			return u, err
		}
	}
	before := slices.Clone(r.Grids)
	for j, is := range ask {
		if is {
			continue
		}
		u.Center[j], u.Scale[j], u.Constant[j] = centers[j], scales[j], false
		if c := &p.Columns[j]; r.Grids[j] == (fit1d.Grid{}) && c.Grid > 0 && !few(c) {
			r.Grids[j] = fit1d.Grid{Unit: c.Grid, Offset: c.Offset}
		}
	}
	r.noteLattices(before)
	return u, nil
}

// few reports that nearly all cells have one of two values: see fit1d.Few.
func few(c *estimate.ColumnProfile) bool {
	counts := []float64{0}
	for _, a := range c.Atoms {
		counts = append(counts, a.Share)
	}
	return fit1d.FewValues(counts, 1)
}
