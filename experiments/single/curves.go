package single

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Groups of the cells of curves.
const (
	againstN  = "n"
	againstD  = "d"
	alongside = "n ~ d^1.5"
)

// fixedRows is n where d grows; and noisePerD is n mu/d^1.5 where n grows with it.
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
				pop: madeup.Population{Columns: d, Kappa: 1e4, Offset: usualOffset}})
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
	runs: 24, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("Against n: " + by)
			againstRows(p, r, by)
			p.Heading("Against d: " + by)
			againstColumns(p, r, by)
		}
	},
}

// A quantity is one of the two errors.
type quantity struct{ what, private, plain, extra, axis string }

var quantities = []quantity{{"covariance", covError, sampleCov, covAdded, "Frobenius error"}, {"mean", meanError, sampleMean, meanAdded, "Mahalanobis error"}}

// medians are those of the private error, the sample's and what privacy adds.
func (q quantity) medians(runs []engine.Result) (private, plain, added float64) {
	median := func(name string) float64 { return engine.Median(engine.Pick(runs, name)) }
	return median(q.private), median(q.plain), median(q.extra)
}

// againstRows draws errors against n, and sets slopes beside the theory's.
func againstRows(p *engine.Page, r *results, name string) {
	slopes := engine.Table{Head: []string{"error of", "problem", "private", "without privacy", "theory", "what privacy adds", "theory"}}
	for _, q := range quantities {
		var lines []engine.Curve
		for _, l := range r.By(name) {
			if l.Cell.group != againstN {
				continue
			}
			curve, sample, extra := engine.Curve{Name: l.Cell.row}, engine.Curve{Thin: true}, engine.Curve{}
			for _, n := range l.Ran() {
				_, plain, added := q.medians(l.Results[n])
				x := float64(n)
				curve.AddMedian(x, engine.Pick(l.Results[n], q.private))
				sample.X, sample.Y = append(sample.X, x), append(sample.Y, plain)
				extra.X, extra.Y = append(extra.X, x), append(extra.Y, added)
			}
			lines = append(lines, curve, sample)
			slopes.Add(q.what, l.Cell.row, curve.Slope(), sample.Slope(), "-0.5", extra.Slope(), "-1")
		}
		p.Picture("curves-"+q.what+"-"+name, engine.Picture{Title: name + ": error of the " + q.what + " (median, deciles; dashed: the sample's)", X: "n", Y: q.axis,
			LogX: true, LogY: true, Lines: lines})
	}
	p.Table(slopes)
}

// againstColumns does so against d, at a fixed n and where n mu grows like d^1.5.
func againstColumns(p *engine.Page, r *results, name string) {
	slopes := engine.Table{Head: []string{"error of", "rows", "private", "without privacy", "theory", "what privacy adds", "theory"}}
	for _, group := range []struct {
		name, rows  string
		plain, adds [2]string // of covariance and mean
	}{
		{againstD, "n = " + engine.Rows(fixedRows), [2]string{"1", "0.5"}, [2]string{"2", "1"}},
		{alongside, fmt.Sprintf("n·μ = %d·d^1.5", noisePerD), [2]string{"0.25", "-0.25"}, [2]string{"0.5", "-0.5"}},
	} {
		for i, q := range quantities {
			var x, y, plain, extra []float64
			for _, l := range r.By(name) {
				if l.Cell.group != group.name {
					continue
				}
				a, b, e := q.medians(l.First())
				x, y, plain, extra = append(x, l.Cell.x), append(y, a), append(plain, b), append(extra, e)
			}
			slopes.Add(q.what, group.rows, engine.Slope(engine.LogLogSlope(x, y)), engine.Slope(engine.LogLogSlope(x, plain)), group.plain[i],
				engine.Slope(engine.LogLogSlope(x, extra)), group.adds[i])
		}
	}
	p.Table(slopes)
	var lines []engine.Curve
	for _, q := range quantities {
		private, plain := engine.Curve{Name: q.what}, engine.Curve{Thin: true}
		for _, l := range r.By(name) {
			if l.Cell.group == againstD {
				a, b, _ := q.medians(l.First())
				private.X, private.Y = append(private.X, l.Cell.x), append(private.Y, a)
				plain.X, plain.Y = append(plain.X, l.Cell.x), append(plain.Y, b)
			}
		}
		lines = append(lines, private, plain)
	}
	p.Picture("curves-d-"+name, engine.Picture{Title: fmt.Sprintf("%s: errors at n = %s (median; dashed: the sample's)", name, engine.Rows(fixedRows)), X: "d", Y: "error",
		LogX: true, LogY: true, Lines: lines})
}
