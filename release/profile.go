package release

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A ColumnProfile describes one column by itself, by the cells that it has. Noise is the standard
// deviation of the noise in the table's own figure.
//
// Invariant: HeldOut is set exactly where nothing but Cells is known.
type ColumnProfile struct {
	Name string `json:"name"` // Required.
	// The share of the rows that have a cell, in [0, 1].
	Cells      float64 `json:"cells"`
	CellsNoise float64 `json:"cells_noise"`
	// Why nothing else is stated of the column.
	HeldOut string `json:"held_out,omitempty"`
	// The value below which a share of the cells lies, by the share, as "0.25"; and the noise of
	// that share.
	Quantiles map[string]float64 `json:"quantiles,omitempty"`
	RankNoise map[string]float64 `json:"rank_noise,omitempty"`
	Mean      *Noisy             `json:"mean,omitempty"`
	SD        *Noisy             `json:"sd,omitempty"`
	// The least and the largest value where cells were counted, as far as bins resolve it, and the
	// largest share of the cells that may lie beyond uncounted: mean and sd are those of the cells
	// within.
	Within []float64 `json:"within,omitempty"`
	Beyond float64   `json:"beyond,omitempty"`
	// The values are Offset plus multiples of Grid; 0 where that is not known.
	Grid   float64 `json:"grid,omitempty"`
	Offset float64 `json:"offset,omitempty"`
	Atoms  []Atom  `json:"atoms,omitempty"` // Values that many cells have.
	// For a column of categories: the shares of all rows that have each value, "" for missing.
	Values []ValueShare `json:"values,omitempty"`
	// Shares of the cells from one value up to another, which is excluded; the same value for one.
	Histogram []Bar `json:"histogram,omitempty"`
	// Beside a model, the shares as they were counted, before they are made consistent: some may be
	// negative. Drawn rows keep to them.
	Counted []Bar    `json:"counted,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Noisy is a figure and the standard deviation of its noise.
type Noisy struct {
	Value float64 `json:"value"`
	Noise float64 `json:"noise"`
}

// An Atom is one value, and the share of the cells that have it.
type Atom struct {
	Value float64 `json:"value"`
	Share float64 `json:"share"`
	Noise float64 `json:"noise"`
}

// A ValueShare is one value of a category, and the share of the rows that have it.
type ValueShare struct {
	Value string  `json:"value"`
	Share float64 `json:"share"`
	Noise float64 `json:"noise"`
}

// A Bar is a share of the cells, whose values lie in [Low, High).
type Bar struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Share float64 `json:"share"`
	Noise float64 `json:"noise,omitempty"`
}

// methodProfile is the method of a release without a model.
const methodProfile = "profile"

// Probabilities returns the shares at which the column has quantiles, increasing.
func (c *ColumnProfile) Probabilities() (shares []float64) {
	for text := range c.Quantiles {
		if p, err := strconv.ParseFloat(text, 64); err == nil {
			shares = append(shares, p)
		}
	}
	slices.Sort(shares)
	return shares
}

// Quantile returns the quantile of a share; NaN if there is none.
func (c *ColumnProfile) Quantile(share float64) float64 {
	if x, ok := c.Quantiles[ShareName(share)]; ok {
		return x
	}
	return math.NaN()
}

// ShareName returns the name of a share in Quantiles.
func ShareName(share float64) string { return strconv.FormatFloat(share, 'g', -1, 64) }

// profile checks a profile of d columns.
func (v *verifier) profile(r *Release, d int) {
	if r.Profile == nil {
		return
	}
	names := r.Names()
	if r.Columns != nil { // a model may lack some of them
		names, d = nil, len(r.Columns)
		for _, c := range r.Columns {
			names = append(names, c.Name)
		}
	}
	v.fault(len(r.Profile) != d, "profile", fmt.Sprintf("a line for each of %d columns", d), fmt.Sprint(len(r.Profile)))
	for j := range r.Profile {
		c := &r.Profile[j]
		field := fmt.Sprintf("profile[%d].", j)
		v.fault(c.Name == "" || j < len(names) && c.Name != names[j], field+"name", "that of the column", strconv.Quote(c.Name))
		v.amount(field+"cells", c.Cells, 1)
		v.amount(field+"cells_noise", c.CellsNoise, math.MaxFloat64)
		known := c.Quantiles != nil || c.Mean != nil || c.SD != nil || c.Histogram != nil || c.Atoms != nil || c.Values != nil
		v.fault((c.HeldOut != "") == known, field+"held_out", "a reason, or figures", "both or neither")
		for _, x := range []*Noisy{c.Mean, c.SD} {
			if x != nil {
				v.amount(field+"noise", x.Noise, math.MaxFloat64)
			}
		}
		if c.SD != nil {
			v.amount(field+"sd", c.SD.Value, math.MaxFloat64)
		}
		v.amount(field+"grid", c.Grid, math.MaxFloat64)
		v.amount(field+"beyond", c.Beyond, 1)
		last := math.Inf(-1)
		for _, p := range c.Probabilities() {
			x := c.Quantile(p)
			v.fault(!(p > 0 && p < 1 && x >= last), field+"quantiles", "values that increase with shares between 0 and 1", fmt.Sprintf("%v at %v", x, p))
			last = x
		}
		v.fault(len(c.Probabilities()) != len(c.Quantiles), field+"quantiles", "shares between 0 and 1", "another name")
		for _, a := range c.Atoms {
			v.amount(field+"atoms", a.Share, 1)
		}
		for _, a := range c.Values {
			v.amount(field+"values", a.Share, 1)
			v.amount(field+"values", a.Noise, math.MaxFloat64)
		}
		for _, b := range c.Histogram {
			v.amount(field+"histogram", b.Share, 1)
			v.fault(!(b.Low <= b.High), field+"histogram", "bars from a value to one that is no less", fmt.Sprintf("%v to %v", b.Low, b.High))
		}
		last = math.Inf(-1)
		for _, b := range c.Counted {
			v.amount(field+"counted", b.Noise, math.MaxFloat64)
			v.fault(!(b.Low <= b.High && b.Low >= last && math.Abs(b.Share) <= math.MaxFloat64), field+"counted", "bars in increasing order, with finite shares", fmt.Sprintf("%v from %v to %v", b.Share, b.Low, b.High))
			last = b.High
		}
	}
}
