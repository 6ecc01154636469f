package report

import (
	"cmp"
	"strconv"

	"github.com/gauze-dp/gauze/release"
)

// profileNumbers describes one column by itself.
type profileNumbers struct {
	Name          string            `json:"name"`
	Label         string            `json:"label,omitempty"`
	UnitOfMeasure string            `json:"unit_of_measure,omitempty"`
	Cells         estimated         `json:"cells"` // as a share of the rows
	HeldOut       string            `json:"held_out,omitempty"`
	Mean          *estimated        `json:"mean,omitempty"`
	SD            *estimated        `json:"sd,omitempty"`
	Quantiles     map[string]ranked `json:"quantiles,omitempty"` // by the part of the cells below
	Within        []*float64        `json:"within,omitempty"`
	Beyond        *float64          `json:"beyond,omitempty"`
	Grid          *float64          `json:"grid,omitempty"`
	Offset        *float64          `json:"offset,omitempty"`
	Atoms         []atomNumbers     `json:"atoms,omitempty"`
	// For a column of categories, as shares of the rows; "" is a missing cell.
	Values    []valueNumbers `json:"values,omitempty"`
	Histogram []release.Bar  `json:"histogram,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	of        *release.ColumnProfile
}

// ranked is a quantile, and the noise of the part of the cells below it.
type ranked struct {
	Value     *float64 `json:"value,omitempty"`
	RankNoise *float64 `json:"rank_noise,omitempty"`
}

// atomNumbers are a value and the part of the cells that have it.
type atomNumbers struct {
	Value *float64  `json:"value"`
	Share estimated `json:"share"`
}

// valueNumbers are a value of a category and the part of the rows that have it.
type valueNumbers struct {
	Value string    `json:"value"`
	Share estimated `json:"share"`
}

// noisy returns a figure of a profile; nil for none.
func noisy(x *release.Noisy) *estimated {
	if x == nil {
		return nil
	}
	return &estimated{Value: finite(x.Value), Noise: finite(x.Noise)}
}

// columnsOf returns the numbers of a profile.
func columnsOf(r *release.Release) (out []profileNumbers) {
	for j := range r.Profile {
		c, public := &r.Profile[j], r.Named(r.Profile[j].Name)
		own := profileNumbers{Name: c.Name, Label: public.Label, UnitOfMeasure: public.UnitOfMeasure, Cells: estimated{Value: finite(c.Cells), Noise: finite(c.CellsNoise)},
			HeldOut: c.HeldOut, Mean: noisy(c.Mean), SD: noisy(c.SD), Histogram: c.Histogram, Notes: c.Notes, of: c}
		for _, p := range c.Probabilities() {
			if own.Quantiles == nil {
				own.Quantiles = map[string]ranked{}
			}
			name := release.ShareName(p)
			q := ranked{Value: finite(c.Quantile(p))}
			if noise, ok := c.RankNoise[name]; ok {
				q.RankNoise = finite(noise)
			}
			own.Quantiles[name] = q
		}
		for _, x := range c.Within {
			own.Within = append(own.Within, finite(x))
		}
		if c.HeldOut == "" && c.Values == nil {
			own.Beyond = finite(c.Beyond)
		}
		if c.Grid > 0 {
			own.Grid, own.Offset = finite(c.Grid), finite(c.Offset)
		}
		for _, a := range c.Atoms {
			own.Atoms = append(own.Atoms, atomNumbers{finite(a.Value), estimated{Value: finite(a.Share), Noise: finite(a.Noise)}})
		}
		for _, v := range c.Values {
			own.Values = append(own.Values, valueNumbers{v.Value, estimated{Value: finite(v.Share), Noise: finite(v.Noise)}})
		}
		out = append(out, own)
	}
	return out
}

// lines appends the numbers of one column. The noise of a quantile is the noise of the part of the
// cells below it, and has a line of its own.
func (p *profileNumbers) lines(to [][]string, group string) [][]string {
	add := func(f estimated, statistic string) {
		to = append(to, f.line(group, "profile", "", statistic, p.Name, ""))
	}
	add(p.Cells, "cells")
	for _, x := range []struct {
		name string
		of   *estimated
	}{{"mean", p.Mean}, {"sd", p.SD}} {
		if x.of != nil {
			add(*x.of, x.name)
		}
	}
	for _, share := range p.of.Probabilities() {
		name := release.ShareName(share)
		add(estimated{Value: p.Quantiles[name].Value}, "quantile "+name)
		if noise := p.Quantiles[name].RankNoise; noise != nil {
			add(estimated{Value: noise}, "rank noise "+name)
		}
	}
	if p.Beyond != nil {
		add(estimated{Value: p.Beyond}, "beyond")
	}
	if p.Grid != nil {
		add(estimated{Value: p.Grid}, "grid")
	}
	for _, a := range p.Atoms {
		if a.Value != nil {
			add(a.Share, "share of "+strconv.FormatFloat(*a.Value, 'g', -1, 64))
		}
	}
	for _, v := range p.Values {
		add(v.Share, "share of "+cmp.Or(v.Value, missingValue))
	}
	return to
}
