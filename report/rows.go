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
	Number  int
	Class   string
	Weight  string
	Percent float64 // The same, of the largest, for the bar.
	Rows    string
	Known   string // to what part of it the spread is known
	Misfit  string
	Flags   []string
}

// unknown stands for a number that a release does not tell.
const unknown = "–"

func componentRows(r *release.Release) (out []componentRow) {
	parts := partsOf(r)
	for _, q := range parts {
		n := note(r, q.index)
		row := componentRow{Number: q.index + 1, Class: partClass(q.index), Weight: weightText(q.weight), Percent: tenth(100 * q.weight / largestWeight(parts)),
			Rows: unknown, Known: unknown, Misfit: unknown, Flags: cleanAll(n.Flags)}
		if n.EffectiveRows != 0 {
			row.Rows = rows(n.EffectiveRows)
		}
		if n.EffectiveNoise != 0 {
			// it is that of a variance
			row.Known = "± " + percent(n.EffectiveNoise/2)
		}
		if n.Misfit != 0 {
			row.Misfit = percent(n.Misfit)
		}
		out = append(out, row)
	}
	return out
}

// weightText writes a share with one decimal, so that shares under each other compare.
func weightText(w float64) string {
	if w > 0 && w < 0.0005 {
		return percent(w)
	}
	return strconv.FormatFloat(100*w, 'f', 1, 64) + " %"
}

// noisyText is what stands for the components whose numbers are noise; "" if there are none.
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

// backgroundText is what stands for the components of the background; "" if there are none.
func backgroundText(r *release.Release) string {
	_, background := r.Model.Split()
	if background == nil {
		return ""
	}
	_, share := r.Model.WithoutBackground()
	return fmt.Sprintf("%s of the rows are in none of these: in the model file %s for them", percent(share), stand(len(background)))
}

func stand(n int) string {
	if n == 1 {
		return "1 component stands"
	}
	return fmt.Sprintf("%d components stand", n)
}

// An undescribedRow is rows that the model leaves out because of one column.
type undescribedRow struct{ Name, Share, Beyond string }

// undescribedText is the share of the rows that the model leaves out, with its noise, and where
// they are if they were seen; "" if it was not counted.
func undescribedText(r *release.Release) (share, where string, columns []undescribedRow) {
	u := r.Diagnostics.Undescribed
	if u == nil {
		return "", "", nil
	}
	for _, c := range u.Columns {
		if c.Share < seenSDs*c.Noise {
			continue
		}
		row := undescribedRow{Name: columnName(c.Column, 0), Share: noisyShare(c.Share, c.Noise)}
		if len(c.Beyond) == 2 {
			row.Beyond = "below " + number(c.Beyond[0], 4) + " or above " + number(c.Beyond[1], 4)
		}
		columns = append(columns, row)
	}
	if share = noisyShare(u.Share, u.Noise); u.Share >= seenSDs*u.Noise {
		where = clean(u.Where)
	}
	return share, where, columns
}

// seenSDs is how many noise sds a share has to be to be told as one that was seen.
const seenSDs = 2

// noisyShare tells a share that is less than its noise from one that was seen.
func noisyShare(share, noise float64) string {
	if share < seenSDs*noise {
		return "none seen, at most about " + percent(share+seenSDs*noise)
	}
	return percent(share) + ", give or take " + percent(noise)
}

// A columnRow is one line of the table of means and standard deviations: a column, with a cell for
// each component that stands for a group of rows.
type columnRow struct {
	Name  string
	Cells []meanCell
}

type meanCell struct{ Mean, SD string }

func columnRows(r *release.Release) []columnRow {
	out, parts := make([]columnRow, r.Model.Dim()), partsOf(r)
	for j := range out {
		out[j].Name = columnName(r.Model.Columns[j], j)
		for _, q := range parts {
			mean, sd, _ := strings.Cut(around(q.mean[j], q.sd[j]), " ± ")
			out[j].Cells = append(out[j].Cells, meanCell{withMinus(mean), sd})
		}
	}
	return out
}

// A budgetRow is one line of the plan as run.
type budgetRow struct {
	Step, Query, Source           string
	Count                         string
	Sensitivity, Noise, Mu, Delta string
	Renyi                         string // What is known of the curve of a step that has no mu.
	Share                         string
	Percent                       float64 // The same, for the bar.
}

func budgetRows(c release.Certificate) (out []budgetRow, remark string) {
	total := 0.0
	for _, s := range c.Plan {
		total += float64(s.Count) * s.Mu * s.Mu
	}
	for _, s := range c.Plan {
		row := budgetRow{Step: clean(s.Step), Query: clean(s.Query), Source: clean(s.Source), Count: words.Digits(s.Count), Delta: "0", Share: "–"}
		if s.Delta > 0 {
			row.Delta = number(s.Delta, 3)
		}
		if s.Law != "" {
			row.Query += ", law: " + clean(s.Law)
			remark = "Noise is the standard deviation of a Gaussian or, where another law is named, the scale of that law."
		}
		if len(s.Renyi) > 0 {
			row.Renyi = renyiText(s)
			remark = "A step with a Rényi curve is not Gaussian: it has no μ, and the shares are those of the Gaussian steps alone. " +
				"Its curve and theirs are converted to ε and δ as one."
		} else {
			row.Sensitivity, row.Noise, row.Mu = number(s.Sensitivity, 4), number(s.Noise, 4), number(s.Mu, 4)
			if total > 0 {
				share := float64(s.Count) * s.Mu * s.Mu / total
				row.Share, row.Percent = percent(share), math.Round(1000*share)/10
			}
		}
		out = append(out, row)
	}
	return out, remark
}

// renyiText tells what a curve is of, how many orders of it are stated, and its value at order 2 or
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

// A spentRow sets what was spent beside what was asked.
type spentRow struct {
	Name, Meaning, Asked, Spent string
	Percent                     float64 // Spent of asked, for the bar; 0 for none.
}

func spentRows(c release.Certificate) []spentRow {
	row := func(name, meaning string, asked, spent float64) spentRow {
		out := spentRow{Name: name, Meaning: meaning, Asked: "–", Spent: number(spent, 6)}
		if asked > 0 {
			out.Asked = number(asked, 6)
			out.Percent = math.Max(0, math.Min(100, math.Round(1000*spent/asked)/10))
		}
		return out
	}
	epsilon, delta := c.Epsilon, c.Delta
	if c.Epsilon == 0 && c.Rho > 0 {
		epsilon, delta = 0, 0
	}
	rho, mu := row("ρ", "zero-concentrated differential privacy", c.Rho, c.Spent.Rho), row("μ", "Gaussian differential privacy", 0, c.Spent.Mu)
	if c.Spent.Rho == 0 && c.Spent.Mu > 0 {
		rho.Spent, mu.Meaning = "–", "Gaussian differential privacy, of the steps without a Rényi curve"
	}
	return []spentRow{
		row("ε", "epsilon, at the δ below", epsilon, c.Spent.Epsilon),
		row("δ", "delta, thresholds and tests included", delta, c.Spent.Delta),
		rho, mu,
	}
}

// An unresolved direction, in words.
type unresolved struct{ Direction, AtMost string }

// largestEntries is how many columns of a direction are named.
const largestEntries = 4

func unresolvedRows(r *release.Release) []unresolved {
	var out []unresolved
	for _, u := range r.Diagnostics.Unresolved {
		out = append(out, unresolved{directionText(r.Model.Columns, u.Direction), number(u.StdAtMost, 4)})
	}
	return out
}

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
