package studies

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

const (
	weightOff = "weight_off" // largest error of a true weight, by the nearest mean
	times     = "tv_x"       // total variation, in that of EM started at the truth
)

// Of small tables: means within nearMeans of their sds and weights within nearWeight are right. Of
// large ones: wantedTimes is the wanted ratio of total variations.
const nearMeans, nearWeight, wantedTimes = 1, .05, 1.3

// enough asks for the rows that shall be enough: by little for the groups to be found, by much for
// the error to be nearly that of the sample.
var enough = &study{
	Name: "enough", About: "mixtures: small tables, and large ones beside EM started at the truth",
	PassRate: .85,
	Experiments: []experiment{
		{Name: "small", Title: "Clusters in small tables", Runs: 40, Lines: lines(smallTables, rightGroups), Summary: smallSummary,
			About: fmt.Sprintf("Success: as many components as there are, means within %d standard deviation (Mahalanobis) and weights within %g. Every table is tried at half of its rows too, where a wrong model has to be flagged.", nearMeans, nearWeight)},
		{Name: "large", Title: "Large tables beside EM started at the truth", Runs: 20, Lines: lines(largeTables, besideEM),
			About: fmt.Sprintf("Success: a total variation, background and all, of at most %g times that of EM started at the truth on the same rows. `separated` has half of the rows.", wantedTimes)},
	},
	Lead: func(r *results) string {
		return setting(r) + "Every run draws an instance anew, with the closest clusters as many standard deviations apart as the cell says, at places of one another that are all as close, " +
			"spheres or ellipsoids of condition number 10, columns in units of their own or a linear map of condition number 100; *uneven* weights differ by up to 1:4."
	},
	Columns: []engine.Column{succeeded, {Head: "k exact", Show: func(runs []engine.Result) any { return fmt.Sprintf("%d/%d", engine.Total(runs, exact), len(runs)) }},
		median("TV", variation), median("by EM", reference), median("ratio", times), seconds},
	Printed: []string{variation, times, found, worstMean, weightOff},
	Prints:  func(r engine.Result) bool { return !r.Success },
}

// clusterCell returns a cell of plain clusters that are all as close as the gap.
func clusterCell(d, k int, gap float64, uneven bool, rows []int, by ...contender) cell {
	name := fmt.Sprintf("d=%d/k=%d/gap=%g", d, k, gap)
	if uneven {
		name += "/uneven"
	}
	return cell{name: name, law: name, d: d, k: k, rows: rows, by: by, draw: func(seed uint64, n int) (table, error) {
		seed = engine.SeedOf(name, seed)
		p := madeup.Plain{Components: k, Columns: d, Placement: madeup.Simplex, Distance: gap, Uneven: uneven, Ellipsoids: seed%2 == 0, Mapped: seed%4 < 2}
		return ofMixture(p.Draw(seed, n))
	}}
}

func smallTables() (out []cell) {
	for _, l := range []struct {
		d, k, n int
		uneven  bool
	}{{2, 2, 1000, false}, {2, 3, 2000, true}, {5, 2, 1400, false}, {5, 3, 2800, true}, {10, 3, 4000, false}} {
		out = append(out, clusterCell(l.d, l.k, 10, l.uneven, []int{l.n / 2, l.n}, contender{name: "auto", method: "auto"}))
	}
	return out
}

func largeTables() (out []cell) {
	for _, l := range []struct {
		d, k, n int
		gap     float64
	}{{2, 3, 15_000, 7}, {5, 3, 25_000, 7}, {10, 5, 50_000, 7}, {5, 3, 60_000, 3.5}} {
		out = append(out, clusterCell(l.d, l.k, l.gap, false, []int{l.n}, contender{name: "auto", method: "auto"}),
			clusterCell(l.d, l.k, l.gap, false, []int{l.n / 2}, contender{name: "separated", method: "separated"}))
		out[len(out)-1].name += "/half"
	}
	return out
}

// rightGroups measures a fit of a small table.
func rightGroups(c cell, t table, f engine.Fitted) (engine.Outcome, error) {
	out, err := mixture(false, func(engine.Values, cell) bool { return false })(c, t, f)
	if f.Release == nil {
		return out, err
	}
	v := out.Values
	flags, _, _ := engine.Warnings(f.Release)
	v[warned], v[exact], v[weightOff] = number(len(flags) > 0), number(int(v[found]) == c.k), weightsOff(t.mixture.Truth, f.Foreground)
	out.Success = v[exact] == 1 && v[worstMean] <= nearMeans && v[weightOff] <= nearWeight
	return out, err
}

// weightsOff returns the largest difference of a true weight from that of the nearest component.
func weightsOff(truth, fitted *model.Mixture) (most float64) {
	for i, g := range truth.Components {
		nearest, weight := math.Inf(1), 0.0
		for j, f := range fitted.Components {
			if d, _ := madeup.Distances(f, g); d < nearest {
				nearest, weight = d, fitted.Weights[j]
			}
		}
		most = max(most, math.Abs(weight-truth.Weights[i]))
	}
	return most
}

// besideEM measures a fit of a large table, beside EM on its rows.
func besideEM(c cell, t table, f engine.Fitted) (engine.Outcome, error) {
	out, err := mixture(true, func(v engine.Values, _ cell) bool { return v[variation] <= wantedTimes*v[reference] })(c, t, f)
	if f.Release != nil {
		out.Values[times], out.Values[exact] = out.Values[variation]/out.Values[reference], number(int(out.Values[found]) == c.k)
	}
	return out, err
}

// smallSummary counts what is wrong with nothing said.
func smallSummary(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"table", "rows", "right", "no model", "wrong and flagged", "wrong, no flag"}}
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			var none, told, quiet int
			for _, run := range l.Results[n] {
				switch {
				case run.Success:
				case run.Why != "":
					none++
				case run.Values[warned] == 1:
					told++
				default:
					quiet++
				}
			}
			t.Add(l.Name, engine.Rows(n), engine.Rate(engine.Count(l.Results[n]), len(l.Results[n])), none, told, quiet)
		}
	}
	p.Table(t)
}
