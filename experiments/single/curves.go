package main

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Groups of the cells of curves.
const (
	againstN  = "n"
	againstD  = "d"
	alongside = "n ~ d^1.5"
)

// fixedRows is n where d grows; and noisePerD is n·μ/d^1.5 where n grows with it.
const (
	fixedRows = 100_000
	noisePerD = 100
)

// curves follows the error as n and d grow.
var curves = experiment{
	name: "curves", title: "Error against n and d",
	about: "κ = 1e4, geometric, the mean 10 largest standard deviations off. What privacy adds is the distance of the private estimate from the sample's own on the same rows. Theory: the sample's errors are √(d(d+1)/n) and √(d/n); noise adds d²/(nμ) to the covariance, d/(nμ) to the mean, up to the logarithms of the clipping radius. Success: a covariance within 2×.",
	cells: func() []cell {
		var out []cell
		add := func(group string, d int, rows ...int) {
			out = append(out, cell{name: fmt.Sprintf("%s/%d", group, d), group: group, x: float64(d), rows: rows, row: fmt.Sprintf("d = %d", d),
				pop: problems.Population{Columns: d, Kappa: 1e4, Offset: usualOffset}})
		}
		add(againstN, 2, 1000, 2000, 4000, 8000, 16_000, 64_000, 256_000)
		add(againstN, 5, 2000, 4000, 8000, 16_000, 64_000, 256_000)
		add(againstN, 10, 5000, 10_000, 20_000, 40_000, 160_000)
		add(againstN, 20, 14_000, 28_000, 56_000, 112_000, 224_000)
		for _, d := range []int{2, 4, 8, 16, 32} {
			add(againstD, d, fixedRows)
			add(alongside, d, int(noisePerD*math.Pow(float64(d), 1.5)/privacy.MuOf(1, 1e-6)))
		}
		return out
	},
	repeats: 24, success: covarianceLearned,
	summary: func(p *page, r *results) {
		for _, by := range r.contenders {
			p.Heading("Against n: " + by.name)
			p.againstRows(r, by.name)
			p.Heading("Against d: " + by.name)
			p.againstColumns(r, by.name)
		}
	},
}

// A quantity is one of the two errors.
type quantity struct{ what, private, plain, extra, axis string }

var quantities = []quantity{{"covariance", covError, sampleCov, covAdded, "Frobenius error"}, {"mean", meanError, sampleMean, meanAdded, "Mahalanobis error"}}

// medians are those of the private error, the sample's and what privacy adds.
func (q quantity) medians(runs []harness.Result) (private, plain, added float64) {
	median := func(name string) float64 { return harness.Median(harness.Pick(runs, name)) }
	return median(q.private), median(q.plain), median(q.extra)
}

// againstRows draws errors against n, and sets slopes beside the theory's.
func (p *page) againstRows(r *results, name string) {
	slopes := harness.Table{Head: []string{"error of", "problem", "private", "without privacy", "theory", "what privacy adds", "theory"}}
	for _, q := range quantities {
		var lines []harness.Line
		for _, c := range r.cells {
			s := r.of(c, name)
			if c.group != againstN || s == nil {
				continue
			}
			line := harness.Line{Name: c.row}
			plainLine := harness.Line{Thin: true}
			var extra []float64
			for _, n := range s.Rows() {
				private, plain, added := q.medians(s.Runs[n])
				v := harness.Pick(s.Runs[n], q.private)
				line.X, line.Y, extra = append(line.X, float64(n)), append(line.Y, private), append(extra, added)
				line.Low, line.High = append(line.Low, harness.Quantile(v, .1)), append(line.High, harness.Quantile(v, .9))
				plainLine.X, plainLine.Y = append(plainLine.X, float64(n)), append(plainLine.Y, plain)
			}
			lines = append(lines, line, plainLine)
			slopes.Add(q.what, c.row, harness.Slope(harness.LogLogSlope(line.X, line.Y)), harness.Slope(harness.LogLogSlope(plainLine.X, plainLine.Y)), "-0.5",
				harness.Slope(harness.LogLogSlope(line.X, extra)), "-1")
		}
		p.Picture("curves-"+q.what+"-"+fileName(name), harness.Picture{Title: name + ": error of the " + q.what + " (median, deciles; dashed: the sample's)", X: "n", Y: q.axis,
			LogX: true, LogY: true, Lines: lines})
	}
	p.Table(slopes)
}

// againstColumns does so against d, at a fixed n and where n·μ grows like d^1.5.
func (p *page) againstColumns(r *results, name string) {
	slopes := harness.Table{Head: []string{"error of", "rows", "private", "without privacy", "theory", "what privacy adds", "theory"}}
	for _, group := range []struct {
		name, rows  string
		plain, adds [2]string // of covariance and mean
	}{
		{againstD, "n = " + harness.Rows(fixedRows), [2]string{"1", "0.5"}, [2]string{"2", "1"}},
		{alongside, fmt.Sprintf("n·μ = %d·d^1.5", noisePerD), [2]string{"0.25", "-0.25"}, [2]string{"0.5", "-0.5"}},
	} {
		for i, q := range quantities {
			var x, y, plain, extra []float64
			for _, c := range r.cells {
				s := r.of(c, name)
				if c.group != group.name || s == nil {
					continue
				}
				a, b, e := q.medians(only(s))
				x, y, plain, extra = append(x, c.x), append(y, a), append(plain, b), append(extra, e)
			}
			slopes.Add(q.what, group.rows, harness.Slope(harness.LogLogSlope(x, y)), harness.Slope(harness.LogLogSlope(x, plain)), group.plain[i],
				harness.Slope(harness.LogLogSlope(x, extra)), group.adds[i])
		}
	}
	p.Table(slopes)
	var lines []harness.Line
	for _, q := range quantities {
		private, plain := harness.Line{Name: q.what}, harness.Line{Thin: true}
		for _, c := range r.cells {
			if s := r.of(c, name); s != nil && c.group == againstD {
				a, b, _ := q.medians(only(s))
				private.X, private.Y = append(private.X, c.x), append(private.Y, a)
				plain.X, plain.Y = append(plain.X, c.x), append(plain.Y, b)
			}
		}
		lines = append(lines, private, plain)
	}
	p.Picture("curves-d-"+fileName(name), harness.Picture{Title: fmt.Sprintf("%s: errors at n = %s (median; dashed: the sample's)", name, harness.Rows(fixedRows)), X: "d", Y: "error",
		LogX: true, LogY: true, Lines: lines})
}

// guide is a thin line of a slope through (from, y).
func guide(name string, from, to, y, slope float64) harness.Line {
	return harness.Line{Name: name, X: []float64{from, to}, Y: []float64{y, y * math.Pow(to/from, slope)}, Thin: true}
}

// fileName makes a contender's name one of a file.
func fileName(name string) string {
	out := []byte(name)
	for i, c := range out {
		if c == ':' || c == '/' || c == ' ' {
			out[i] = '-'
		}
	}
	return string(out)
}
