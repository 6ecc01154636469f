package report

import (
	"fmt"
	"html/template"
	"math"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gauze-dp/gauze/model"
)

const (
	// marginalWidth and marginalHeight are in points.
	marginalWidth, marginalHeight = 360, 190
	// marginalReach is how many standard deviations of every component a marginal shows.
	marginalReach = 3.3
	// spikeWidth is the standard deviation, as a share of the axis, below which a component is
	// drawn as a spike.
	spikeWidth = 1.0 / 800
)

// A figure is a picture with the words under it.
type figure struct {
	Name string // of the column or the pair
	SVG  template.HTML
	Note string // empty for nothing
}

// marginalPicture draws the density of column j and what each part adds to it.
func marginalPicture(m *model.Mixture, parts []part, j int) (figure, error) {
	a := newAxis(parts, j, marginalReach, 7)
	name := columnName(m.Columns[j], j)
	wide, spikes := splitSpikes(parts, j, a)
	p := newPlot()
	a.show(&p.X, "")
	p.HideY()
	marks := numerals{lift: 8}
	addDensities(p, &marks, wide, j, a)
	addSpikes(p, &marks, spikes, j, a)
	if len(parts) > 1 {
		p.Add(marks)
	}
	about := caption{fmt.Sprintf("column-%d", j+1), "Density of " + name, describeColumn(parts, j)}
	svg, err := render(p, marginalWidth, marginalHeight, about)
	return figure{Name: name, SVG: svg, Note: spikeNote(a, spikes, wide)}, err
}

// addDensities draws each part's share of the density and, if there are several, their sum; it sets
// p's height.
func addDensities(p *plot.Plot, marks *numerals, wide []part, j int, a axis) {
	lines, total, peak := densities(wide, j, a)
	p.Y.Min, p.Y.Max = 0, 1
	if peak > 0 {
		p.Y.Max = peak * 1.12
	}
	for b, q := range wide {
		seen := thinned(visible(lines[b], p.Y.Max/2000), a.hi-a.lo, p.Y.Max)
		p.Add(region{rings: [][]plotter.XY{seen}, fill: faint(partRole(q.index), 0.22)})
		p.Add(curve{seen, lineStyle(solid(partRole(q.index)), lineWidth, dashes(q.index))})
		marks.add(highest(lines[b]), q)
	}
	if len(wide) > 1 {
		p.Add(curve{thinned(total, a.hi-a.lo, p.Y.Max), lineStyle(solid(roleMixture), boldWidth, nil)})
	}
}

// densities returns each part's weighted density of column j in units of the axis, their sum, and
// the sum's largest value.
func densities(wide []part, j int, a axis) (lines [][]plotter.XY, total []plotter.XY, peak float64) {
	xs := a.places(wide, j)
	total = make([]plotter.XY, len(xs))
	for i, x := range xs {
		total[i].X = x
	}
	for _, q := range wide {
		line := make([]plotter.XY, len(xs))
		for i, x := range xs {
			line[i] = plotter.XY{X: x, Y: q.weight * bell(x, a.u(q.mean[j]), q.sd[j]/a.unit)}
			total[i].Y += line[i].Y
			peak = math.Max(peak, total[i].Y)
		}
		lines = append(lines, line)
	}
	return lines, total, peak
}

// addSpikes draws each part as a line with a dot on top, as high as its weight relative to the
// other spikes'.
func addSpikes(p *plot.Plot, marks *numerals, spikes []part, j int, a axis) {
	for _, q := range spikes {
		top := plotter.XY{X: a.u(q.mean[j]), Y: p.Y.Max * 0.85 * q.weight / largestWeight(spikes)}
		p.Add(curve{[]plotter.XY{{X: top.X}, top}, lineStyle(solid(partRole(q.index)), boldWidth, dashes(q.index))})
		p.Add(dot{top, 3.2, solid(partRole(q.index))})
		marks.add(plotter.XY{X: top.X, Y: top.Y + p.Y.Max*0.025}, q)
	}
}

// splitSpikes parts the components that can be drawn as a density from those too narrow for the
// picture.
func splitSpikes(parts []part, j int, a axis) (wide, spikes []part) {
	for _, q := range parts {
		if q.sd[j]/a.unit <= spikeWidth*(a.hi-a.lo) {
			spikes = append(spikes, q)
		} else {
			wide = append(wide, q)
		}
	}
	return sortedByWeight(wide), sortedByWeight(spikes)
}

func spikeNote(a axis, spikes, wide []part) string {
	switch {
	case a.constant:
		return "Constant: every component has this one value and no spread."
	case len(spikes) == 0:
		return ""
	case len(wide) == 0:
		return "All components are too narrow to draw at this scale and stand as spikes; a spike's height is its weight."
	case len(spikes) == 1:
		return fmt.Sprintf("Component %d is too narrow to draw at this scale and stands as a spike of no particular height.", spikes[0].index+1)
	}
	return fmt.Sprintf("Components %s are too narrow to draw at this scale and stand as spikes; their heights compare with each other only.", listed(spikes))
}

// listed writes the parts' numbers: "1, 2".
func listed(parts []part) string {
	names := make([]string, len(parts))
	for i, q := range parts {
		names[i] = strconv.Itoa(q.index + 1)
	}
	return strings.Join(names, ", ")
}

func describeColumn(parts []part, j int) string {
	said := make([]string, len(parts))
	for i, q := range parts {
		said[i] = fmt.Sprintf("component %d: weight %s, mean %s", q.index+1, percent(q.weight), around(q.mean[j], q.sd[j]))
	}
	return strings.Join(said, "; ") + "."
}

// places are where a density is evaluated: evenly, and densely about every part's mean.
func (a axis) places(parts []part, j int) []float64 {
	const even, about = 160, 32
	var xs []float64
	for i := 0; i <= even; i++ {
		xs = append(xs, a.lo+(a.hi-a.lo)*float64(i)/even)
	}
	for _, q := range parts {
		sd := q.sd[j] / a.unit
		if sd > (a.hi-a.lo)/20 {
			continue
		}
		for i := -about; i <= about; i++ {
			if x := a.u(q.mean[j]) + sd*4*float64(i)/about; x > a.lo && x < a.hi {
				xs = append(xs, x)
			}
		}
	}
	sort.Float64s(xs)
	return xs
}

// bell is the density of N(mean, sd^2) at x.
func bell(x, mean, sd float64) float64 {
	z := (x - mean) / sd
	return math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
}

// visible cuts the ends of a line that lie below floor, and closes what is left at the axis.
func visible(line []plotter.XY, floor float64) []plotter.XY {
	from, to := 0, len(line)
	for from < to-1 && line[from+1].Y < floor {
		from++
	}
	for to > from+1 && line[to-2].Y < floor {
		to--
	}
	out := []plotter.XY{{X: line[from].X}}
	out = append(out, line[from:to]...)
	return append(out, plotter.XY{X: line[to-1].X})
}

func highest(line []plotter.XY) plotter.XY {
	best := line[0]
	for _, p := range line {
		if p.Y > best.Y {
			best = p
		}
	}
	return best
}

// thinned leaves out points of a line that lie, to a twentieth of a percent of the picture, between
// their neighbours.
func thinned(line []plotter.XY, width, height float64) []plotter.XY {
	if len(line) < 3 {
		return line
	}
	out := line[:1:1]
	last := 0
	for i := 2; i < len(line); i++ {
		for b := last + 1; b < i; b++ {
			t := (line[b].X - line[last].X) / math.Max(line[i].X-line[last].X, math.SmallestNonzeroFloat64)
			if math.Abs(line[last].Y+t*(line[i].Y-line[last].Y)-line[b].Y) > height/1500 || line[i].X-line[last].X > width/8 {
				out = append(out, line[i-1])
				last = i - 1
				break
			}
		}
	}
	return append(out, line[len(line)-1])
}
