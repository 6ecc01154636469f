package gauze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// Guesses at when figures contradict each other, by more than noise is likely to cause: the rows
// behind components exceed the public number by more than roomSDs of the noise and roomRows of the
// number, or fall short of fewRows of it by more than that.
const (
	roomSDs   = 10.0
	roomRows  = .1
	fewRows   = .6
	offWeight = .1 // error of a weight against the rows behind its component
	offNoise  = .1 // relative error of a share's noise against that of the count that it comes from

	// a share of rows is clear of its noise by every method's rule (package estimate), and shares
	// differ if by more than someShare; beyond mostMarked, marked components may hold less
	clearSDs, clearShare = 4.0, .005
	someShare            = .05
	mostMarked           = .5
	// a flag's number and the diagnostics' are the same up to writing them down
	sameShare = 1e-9
)

// doubts warns of contradictions that a genuine release seldom has.
func (v *Verdict) doubts(r *release.Release) {
	if r.Groups == nil {
		if r.Model != nil {
			v.doubt(r, "")
		}
		return
	}
	for i := range r.Groups {
		if r.Groups[i].Model != nil {
			v.doubt(r.Of(i), "group "+r.Groups[i].Name(r.Certificate.By)+": ")
		}
	}
}

// doubt does what doubts does for one model; of begins every sentence.
func (v *Verdict) doubt(r *release.Release, of string) {
	say := func(format string, args ...any) { v.warn("%s%s", of, fmt.Sprintf(format, args...)) }
	if len(r.Diagnostics.Components) == 0 {
		say("it has no diagnostics, which every fit writes, so it does not say how far its components can be trusted")
	}
	beyondLimits(r, say)
	figures(r, say)
	leftOut(r, say)
}

// leftOutWhole reports whether a flag is about all rows that the model leaves out, not about those
// of a single column.
func leftOutWhole(f release.Flag) bool {
	return f.Code == flags.LeftOut && f.Columns == nil || f.Code == flags.Uncoded && strings.Contains(f.Text, "of the rows are not described by the model")
}

// undescribed returns the share of the rows that u leaves out, in one column if it is named; known
// is false where u does not say.
func undescribed(u *release.Undescribed, columns []string) (share float64, known bool) {
	switch {
	case u == nil || len(columns) > 1:
		return 0, false
	case len(columns) == 0:
		return u.Share, true
	}
	for _, c := range u.Columns {
		if c.Column == columns[0] {
			return c.Share, true
		}
	}
	return 0, false
}

// background reports whether component j is marked as a background of outliers.
func background(r *release.Release, j int) bool {
	return j < len(r.Model.Background) && r.Model.Background[j]
}

// beyondLimits warns of means outside the range of a column's values.
func beyondLimits(r *release.Release, say func(string, ...any)) {
	for i := range r.Model.Columns {
		c := source.Column(r.Column(i))
		for j, g := range r.Model.Components {
			if background(r, j) {
				continue
			}
			mean := g.Mean[i]
			if l := c.Log(); l.Maps() {
				mean = l.From(mean)
			}
			switch {
			case c.AtLeast != nil && mean < *c.AtLeast:
				say("component %d has the mean %g in %q, below %g, the least that a value can be", j+1, mean, c.Name, *c.AtLeast)
			case c.AtMost != nil && mean > *c.AtMost:
				say("component %d has the mean %g in %q, above %g, the most that a value can be", j+1, mean, c.Name, *c.AtMost)
			}
		}
	}
}

// countNoise returns the noise of the released number of rows; 0 if none was released.
func countNoise(c *release.Certificate) float64 {
	for _, line := range c.Plan {
		if line.Query == "count" && line.Noise > 0 {
			return line.Noise
		}
	}
	return 0
}

// figures warns if the rows behind components contradict the number of rows, or the weights.
func figures(r *release.Release, say func(string, ...any)) {
	notes := r.Diagnostics.Components
	if len(notes) != len(r.Model.Components) {
		return
	}
	sum := 0.0
	for _, n := range notes {
		sum += n.EffectiveRows
	}
	if rows := r.Certificate.Rows; rows != nil {
		n := float64(*rows)
		switch room := roomSDs*countNoise(&r.Certificate) + roomRows*n; {
		case sum > n+room:
			say("the noisy counts behind its components add up to about %.0f rows, and the table is said to have %d", sum, *rows)
		case sum < fewRows*n-room:
			say("the noisy counts behind its components add up to about %.0f rows, and the table is said to have %d: most rows were not used, or there are fewer", math.Max(0, sum), *rows)
		}
	}
	if u := r.Diagnostics.Undescribed; u != nil && sum > 0 {
		told, counted, noise := u.Noise*sum, false, 0.0
		for _, line := range r.Certificate.Plan { // one Gaussian's counts of the rows left out, of which the last one is told
			if strings.HasSuffix(line.Step, "beyond") {
				counted, noise = true, line.Noise
			}
		}
		if counted && math.Abs(told-noise) > offNoise*noise {
			say("the rows that the model leaves out are said to be known to within %.3g, and the plan counts them with a noise of %.3g", told, noise)
		}
	}
	for j, n := range notes {
		if off := math.Abs(n.EffectiveRows/sum - r.Model.Weights[j]); sum > 0 && off > offWeight {
			say("component %d has the weight %.3g, and the counts say about %.3g", j+1, r.Model.Weights[j], n.EffectiveRows/sum)
		}
	}
}

// counting are the methods that always state how many rows their model leaves out, and silent those
// of them that state no noise for background components, but do for all others.
var (
	counting = []string{"gaussian", "heavy-tailed", "univariate", "axis-aligned", "general", "separated"}
	silent   = []string{"axis-aligned", "general", "separated"}
)

// leftOut warns if the statements about rows that the model leaves out contradict the flags, or the
// components marked as background.
func leftOut(r *release.Release, say func(string, ...any)) {
	c, d := &r.Certificate, &r.Diagnostics
	marked, told := 0.0, false
	for j, w := range r.Model.Weights {
		if background(r, j) {
			marked += w
		}
	}
	for _, flag := range d.Flags {
		told = told || leftOutWhole(flag)
	}
	u := d.Undescribed
	for _, flag := range d.Flags {
		if share, known := undescribed(u, flag.Columns); flag.Code == flags.LeftOut && known && math.Abs(flag.Share-share) > sameShare {
			say("a flag says that the model leaves out %.3g%% of the rows, and the diagnostics say %.3g%%", 100*flag.Share, 100*share)
		}
	}
	if u == nil {
		// columns described by themselves are described whole
		alone := slices.ContainsFunc(c.Plan, func(m release.PlanStep) bool { return m.Step == profile.StepRest })
		if (told || slices.Contains(counting, c.Method) && !alone) && !point(r) {
			say("it does not say how many rows the model leaves out, as every fit of the method %s does", c.Method)
		}
		return
	}
	stands := strings.Contains(u.Where, "background")
	switch {
	case told && !(u.Share > 0 || u.Noise > 0): // noise alone may hide so many that a flag says so
		say("a flag tells of rows that are not described by the model, and their share is said to be 0, without noise")
	case !told && u.Share > clearSDs*u.Noise && u.Share > clearShare:
		say("%.2g%% of the rows are not described by the model, which is clear of the noise, and no flag says so, as every fit would", 100*u.Share)
	}
	switch room := clearSDs*u.Noise + someShare; {
	case stands && marked == 0 && u.Share > clearSDs*u.Noise, stands && marked < math.Min(u.Share, mostMarked)-room:
		say("%.2g%% of the rows are in no component but the background, and components marked as background hold %.2g%%", 100*u.Share, 100*marked)
	case stands && marked > u.Share+room:
		say("components marked as background hold %.2g%% of the rows, and only %.2g%% are said to be in no other component", 100*marked, 100*u.Share)
	}
	if !slices.Contains(silent, c.Method) || c.Facts != nil && c.Facts.KnownCovariance != nil || len(d.Components) != len(r.Model.Components) {
		return
	}
	if !slices.ContainsFunc(d.Components, func(n release.ComponentNote) bool { return n.EffectiveNoise > 0 }) {
		return
	}
	for j, n := range d.Components {
		if n.EffectiveNoise == 0 && !background(r, j) {
			say("component %d has no noise, like those of the background, but is not marked as background", j+1)
		}
	}
}
