package unkind

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
)

// The strict bar for one distribution: mean and standard deviation of all rows, in every column.
const (
	// A mean may be off by this part of the standard deviation, and this one by the same part of
	// itself, beside strictNoise noise sds.
	strictOff, strictNoise = .1, 2
	// A column that is named is named rightly if it is off by this part of what it may be.
	nearlyOff = .5
)

// excuses are the codes of flags that say of a column that its moments are not to be relied on.
var excuses = []flags.Code{flags.HeavyTail, flags.OutlierGroup, flags.NotGaussian, flags.UncertainMean, flags.Unresolved, flags.ConstantColumn, flags.SharedValue, flags.LeftOut,
	flags.HeldOut, flags.FewRows}

// Names of values of the strict bar.
const (
	unsaid       = "unsaid"
	fewUnseen    = "few_unseen"
	namedColumns = "named"
	namedRight   = "named_right"
)

// A strictVerdict is on one release: the first column that is off with nothing said of it, and why;
// whether columns are off by rows that are too few to be seen, and no more; how many columns flags
// name, and how many of these are off, or nearly so.
type strictVerdict struct {
	unsaid            string
	few               bool
	named, namedRight int
}

// strictly judges every column by the strict bar.
func (c comparison) strictly(m *model.Mixture, cols [][]float64) (v strictVerdict) {
	s, d := engine.MomentsOf(cols), len(cols)
	noise := strictNoise * c.said.noise / math.Sqrt(2*float64(d))
	mean, sd, _ := engine.Overall(m)
	for a := range d {
		named := slices.ContainsFunc(c.release.Diagnostics.Flags, func(f release.Flag) bool {
			return slices.Contains(excuses, f.Code) && (slices.Contains(f.Columns, m.Columns[a]) || d == 1 && f.Columns == nil)
		})
		off, ratio := math.Abs(mean[a]-s.Mean[a])/s.SD[a], sd[a]/s.SD[a]
		wrong := math.Max(off/(strictOff+noise), math.Abs(ratio-1)/(strictOff+noise/2))
		if s.SD[a] == 0 {
			wrong = math.Abs(sd[a]) // 0 or not
		}
		switch {
		case named:
			if v.named++; !(wrong < nearlyOff) {
				v.namedRight++
			}
		case wrong <= 1:
		case c.few(cols[a], s, a, mean[a], sd[a], bar{1 - strictOff - noise/2, 1 + strictOff + noise/2, strictOff + noise}):
			v.few = true
		case v.unsaid == "":
			v.unsaid = fmt.Sprintf("column %d: mean off by %.3g sd, sd x%.3g, noise %.2g", a+1, off, ratio, noise/strictNoise)
		}
	}
	return v
}

// strictTable writes the results by the strict bar, if one distribution was asked for.
func strictTable(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"method", "releases", "off by more, unsaid", "the same by rows too few to be seen", "columns named", "rightly"}}
	add := func(name string, of func(*line) bool) {
		runs := runsOf(r, func(l *line) bool { return !l.Cell.mixture && l.Cell.shape != estimate.Spherical && of(l) })
		n := len(engine.Pick(runs, namedColumns))
		if n > 0 {
			t.Add(name, n, engine.Rate(engine.Total(runs, unsaid), n), engine.Rate(engine.Total(runs, fewUnseen), n), engine.Total(runs, namedColumns), engine.Total(runs, namedRight))
		}
	}
	for _, by := range r.Contenders() {
		add(by, func(l *line) bool { return l.By == by })
	}
	if add("all", func(*line) bool { return true }); len(t.Rows) == 0 {
		return
	}
	p.Heading("One distribution by the strict bar")
	p.Text(fmt.Sprintf("Mean and standard deviation of all rows, within %g of the latter and %g noise sds in every column, or a flag names the column. *Rows too few to be seen*: without the %g/μ rows "+
		"farthest out nothing is off. *Rightly*: columns that a flag names and that are off by half of the bar at least.", strictOff, float64(strictNoise), float64(unseenRows)))
	p.Table(t)
}
