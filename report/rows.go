package report

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/release"
)

// A componentRow is one line of the table of components.
type componentRow struct {
	release.ComponentNote
	Number int
	Class  string
	Called string // a readable name; empty for none
	Weight float64
}

// weightText returns a share with one decimal, so that shares in a column can be compared.
func weightText(w float64) string {
	if w > 0 && w < 0.0005 {
		return percent(w)
	}
	return strconv.FormatFloat(100*w, 'f', 1, 64) + " %"
}

// noisyText returns the line for the components whose numbers are noise; "" if there are none, or
// too few rows to mention.
func noisyText(r *release.Release) string {
	groups, _ := r.Model.Split()
	parts, share := partsOf(r), 0.0
	for _, i := range groups {
		share += r.Model.Weights[i]
	}
	for _, q := range parts {
		share -= q.weight
	}
	if len(parts) == len(groups) {
		return ""
	}
	return fmt.Sprintf("%s, with %s of the rows: too few to tell place and spread from the noise", words.Plural(len(groups)-len(parts), "component"), percent(math.Max(0, share)))
}

// backgroundText returns the line for the components of the background; "" if there are none, or
// too few rows to mention.
func backgroundText(r *release.Release) string {
	_, background := r.Model.Split()
	if background == nil {
		return ""
	}
	_, share := r.Model.WithoutBackground()
	if share < LeastBackground {
		return ""
	}
	return fmt.Sprintf("%s of the rows are in none of these: in the model file %s for them", percent(share), stand(len(background)))
}

func stand(n int) string {
	if n == 1 {
		return "1 component stands"
	}
	return fmt.Sprintf("%d components stand", n)
}

// seenSDs is the number of noise standard deviations from which on a share is reported as observed.
const seenSDs = 2

func seen(share, noise float64) bool { return share >= seenSDs*noise }

// noisyShare returns a share in words: one that is below its noise, or one that was observed.
func noisyShare(share, noise float64) string {
	if !seen(share, noise) {
		return "up to " + percent(share+seenSDs*noise) + " of the rows may be missing from the model"
	}
	return percent(share) + ", give or take " + percent(noise)
}

// A columnRow is one line of a table: a column, with a cell for each component that stands for a
// group of rows, or for each figure of the whole.
type columnRow struct {
	Name  string
	Cells []cell
}

// A cell is a figure, and its possible error or the spread of the rows about it.
type cell struct{ Value, Off string }

func cellOf(c release.Column, mean, sd float64) cell {
	text, spread, _ := strings.Cut(around(mean, sd), " ± ")
	if date := dateOf(mean); date != "" && c.Kind == release.KindDate {
		text = date
	}
	return cell{withMinus(text), spread}
}

// scaled returns a column's heading on the components' scale: its logarithm, if that is fitted.
func scaled(r *release.Release, j int) string {
	return onScale(r, j, r.Column(j).Heading())
}

// onScale adds that scale to a heading.
func onScale(r *release.Release, j int, heading string) string {
	if j < len(r.Model.Cells) && r.Model.Cells[j].Log.Maps() {
		heading += ", as " + r.Model.Cells[j].Log.String()
	}
	return heading
}

func columnRows(r *release.Release) []columnRow {
	out, parts := make([]columnRow, r.Model.Dim()), partsOf(r)
	for j := range out {
		out[j].Name = columnName(onScale(r, j, tabled(r.Column(j))), j)
		for _, q := range parts {
			out[j].Cells = append(out[j].Cells, cellOf(r.Column(j), q.mean[j], q.sd[j]))
		}
	}
	return out
}

// totalOf returns what the Gaussian steps of a plan cost together, mu^2.
func totalOf(c release.Certificate) (total float64) {
	for _, s := range c.Plan {
		total += float64(s.Count) * s.Mu * s.Mu
	}
	return total
}

// shareOf returns a step's share of that total; 0 for one with a curve in the place of a mu.
func shareOf(s release.PlanStep, total float64) float64 {
	if total == 0 || len(s.Renyi) > 0 {
		return 0
	}
	return float64(s.Count) * s.Mu * s.Mu / total
}

// measured returns the measurements of a certificate by what they were for, with their shares.
func measured(c release.Certificate) []release.Purpose {
	total, steps := totalOf(c), make([]release.Purpose, len(c.Plan))
	for i, s := range c.Plan {
		steps[i] = release.Purpose{Text: s.Step, Count: s.Count, Share: shareOf(s, total)}
	}
	return release.Purposes(c.Method, steps)
}

// bar returns a part of a whole in percent, with one decimal, limited to the length of a bar.
func bar(part, whole float64) float64 {
	return math.Max(0, math.Min(100, math.Round(1000*part/whole)/10))
}

// renyiText describes a curve: its source, the number of stated orders, and its value at order 2 or
// at the first above.
func renyiText(s release.PlanStep) string {
	type point struct{ order, nats float64 }
	var points []point
	for text, nats := range s.Renyi {
		if order, err := strconv.ParseFloat(text, 64); err == nil {
			points = append(points, point{order, nats})
		}
	}
	text := "Rényi curve of " + words.Plural(len(s.Renyi), "order")
	switch {
	case s.Mask != nil:
		text = "mask, " + s.Mask.String() + ": " + text
	case s.Pure > 0:
		text = "pure loss of ε₀ = " + number(s.Pure, 4) + ": " + text
	}
	if len(points) == 0 {
		return text
	}
	sort.Slice(points, func(a, b int) bool { return points[a].order < points[b].order })
	at := points[len(points)-1]
	for i := len(points) - 1; i >= 0 && points[i].order >= 2; i-- {
		at = points[i]
	}
	return fmt.Sprintf("%s, %s nats at order %s", text, number(at.nats, 3), number(at.order, 4))
}

// A spentRow compares what was spent with what was requested, 0 for nothing.
type spentRow struct {
	Name, Meaning string
	Asked, Spent  float64
	Unknown       bool // what was spent cannot be stated in this unit
}

func spentRows(c release.Certificate) []spentRow {
	gaussian, curved := "Gaussian differential privacy", c.Spent.Rho == 0 && c.Spent.Mu > 0
	if curved {
		gaussian += ", of the steps without a Rényi curve"
	}
	epsilon := "epsilon, at the δ below"
	if c.Epsilon > 0 && c.Delta == 0 && c.Rho == 0 {
		epsilon = "epsilon, of pure differential privacy"
	}
	if c.Concentrated() {
		asked, delta := release.Implied(c.Rho)
		spent, _ := release.Implied(c.Spent.Rho)
		return []spentRow{
			{"ρ", "zero-concentrated differential privacy", c.Rho, c.Spent.Rho, false},
			{"ε", "epsilon that ρ implies at δ = " + number(delta, 3), asked, spent, false},
			{"μ", gaussian, 0, c.Spent.Mu, false},
		}
	}
	return []spentRow{
		{"ε", epsilon, c.Epsilon, c.Spent.Epsilon, false},
		{"δ", "delta, thresholds and tests included", c.Delta, c.Spent.Delta, false},
		{"ρ", "zero-concentrated differential privacy", c.Rho, c.Spent.Rho, curved},
		{"μ", gaussian, 0, c.Spent.Mu, false},
	}
}

// largestEntries is the number of columns of a direction that are named.
const largestEntries = 4

// directionText names the largest entries of a direction: "0.8·age − 0.6·bmi".
func directionText(columns []string, v []float64) string {
	order := make([]int, len(v))
	for j := range order {
		order[j] = j
	}
	sort.SliceStable(order, func(a, b int) bool { return math.Abs(v[order[a]]) > math.Abs(v[order[b]]) })
	var b strings.Builder
	for a, j := range order {
		if v[j] == 0 || a == largestEntries {
			if v[j] != 0 {
				b.WriteString(" + …")
			}
			break
		}
		name := fmt.Sprintf("(column %d)", j+1)
		if j < len(columns) {
			name = shorten(columnName(columns[j], j), nameCells)
		}
		switch {
		case v[j] < 0 && a == 0:
			b.WriteString(minus)
		case v[j] < 0:
			b.WriteString(" " + minus + " ")
		case a > 0:
			b.WriteString(" + ")
		}
		b.WriteString(number(math.Abs(v[j]), 2) + "·" + name)
	}
	return b.String()
}
