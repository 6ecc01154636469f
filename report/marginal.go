package report

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/release"
)

const (
	// marginalWidth and marginalHeight are in points.
	marginalWidth, marginalHeight = 360, 190
	// marginalReach is the number of standard deviations of every component that a marginal shows.
	marginalReach = 3.3
	// spikeWidth is the standard deviation, as a share of the axis, below which a component is
	// drawn as a spike.
	spikeWidth = 1.0 / 800
)

// A figure is a picture with the words under it.
type figure struct {
	Name string // of the column or the pair
	SVG  *picture
	Note string // empty for nothing
}

// marginalPicture draws the density of column j and what each part adds to it.
func marginalPicture(r *release.Release, parts []part, j int) figure {
	a := newAxis(parts, j, marginalReach, 7)
	name := columnName(scaled(r, j), j)
	wide, spikes := splitSpikes(parts, j, a)
	lines, total, peak := densities(wide, j, a)
	height := axis{hi: 1}
	if peak > 0 {
		height.hi = peak * 1.12
	}
	p := newPicture(marginalWidth, marginalHeight, a, height, "", "")
	p.ID, p.Title, p.Desc = fmt.Sprintf("column-%d", j+1), "Density of "+name, describeColumn(parts, j)
	number := func(q part, at point) {
		if len(parts) > 1 {
			p.number(q, at, 8)
		}
	}
	for b, q := range wide {
		seen := visible(lines[b], height.hi/2000)
		p.area(partClass(q.index), 0.22, seen)
		p.line(partClass(q.index), lineWidth, dashes(q.index), 0, seen)
	}
	if len(wide) > 1 {
		p.line(classMix, boldWidth, "", 0, total)
	}
	for _, q := range spikes { // their heights are their weights relative to each other
		top := point{a.u(q.mean[j]), height.hi * 0.85 * q.weight / largestWeight(spikes)}
		p.line(partClass(q.index), boldWidth, dashes(q.index), 0, []point{{X: top.X}, top})
		p.dot(partClass(q.index), 3.2, top)
	}
	for b, q := range wide {
		number(q, highest(lines[b]))
	}
	for _, q := range spikes {
		number(q, point{a.u(q.mean[j]), height.hi * (0.025 + 0.85*q.weight/largestWeight(spikes))})
	}
	return figure{Name: columnName(r.Column(j).Caption(), j), SVG: p, Note: spikeNote(a, spikes)}
}

// densities returns each part's weighted density of column j in units of the axis, their sum, and
// the sum's largest value.
func densities(wide []part, j int, a axis) (lines [][]point, total []point, peak float64) {
	xs := a.places(wide, j)
	total = make([]point, len(xs))
	for i, x := range xs {
		total[i].X = x
	}
	for _, q := range wide {
		line := make([]point, len(xs))
		for i, x := range xs {
			line[i] = point{X: x, Y: q.weight * bell(x, a.u(q.mean[j]), q.sd[j]/a.unit) / q.inside(j)}
			total[i].Y += line[i].Y
			peak = math.Max(peak, total[i].Y)
		}
		lines = append(lines, line)
	}
	return lines, total, peak
}

// splitSpikes separates the components that can be drawn as a density from those too narrow for the
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

func sortedByWeight(parts []part) []part {
	out := append([]part(nil), parts...)
	sort.SliceStable(out, func(a, b int) bool { return out[a].weight > out[b].weight })
	return out
}

func spikeNote(a axis, spikes []part) string {
	switch {
	case a.constant:
		return "Constant: every component has this one value and no spread."
	case len(spikes) == 0:
		return ""
	}
	names := make([]string, len(spikes))
	for i, q := range spikes {
		names[i] = strconv.Itoa(q.index + 1)
	}
	return "Too narrow to draw at this scale, and shown as a spike whose height compares with other spikes' only: component " + strings.Join(names, ", ") + "."
}

func describeColumn(parts []part, j int) string {
	said := make([]string, len(parts))
	for i, q := range parts {
		said[i] = fmt.Sprintf("component %d: weight %s, mean %s", q.index+1, percent(q.weight), around(q.mean[j], q.sd[j]))
	}
	return strings.Join(said, "; ") + "."
}

// places returns the points at which a density is evaluated: evenly, and densely about every part's
// mean.
func (a axis) places(parts []part, j int) []float64 {
	const even, about = 120, 24
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

// bell returns the density of N(mean, sd^2) at x.
func bell(x, mean, sd float64) float64 {
	z := (x - mean) / sd
	return math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
}

// visible cuts off the ends of a line that lie below floor, and closes the rest at the axis.
func visible(line []point, floor float64) []point {
	from, to := 0, len(line)
	for from < to-1 && line[from+1].Y < floor {
		from++
	}
	for to > from+1 && line[to-2].Y < floor {
		to--
	}
	out := []point{{X: line[from].X}}
	out = append(out, line[from:to]...)
	return append(out, point{X: line[to-1].X})
}

func highest(line []point) point {
	best := line[0]
	for _, p := range line {
		if p.Y > best.Y {
			best = p
		}
	}
	return best
}
