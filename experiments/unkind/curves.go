package unkind

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// curves are errors by epsilon and by the number of rows, which may not rise.
var curves = engine.Experiment[cell]{Name: "curves", Title: "Errors by epsilon and by rows", Runs: 1, Lines: curveLines, Summary: curveSummary,
	About: "Held-out families of mixtures, with nothing given but ε and δ. Errors are total variations from the truth above that of EM started there, and of *curved*, *blocks* and *skewed* nats per " +
		"row below one Gaussian (less than 0 is better than one)."}

var (
	curveSorts    = []string{"plain", "weights", "pancakes", "chain", "nested", "grid", "thin", "curved", "blocks", "skewed"}
	curveEpsilons = []float64{1, 3, 10, 30, 100, 300, 1000}
	curveRows     = []int{1000, 10_000, 100_000, 1_000_000}
)

// Of the curve along epsilon; and how much an error may rise by chance, as a part and beside it.
const (
	rowsOfCurve             = 20_000
	riseByPart, riseByValue = 1.25, .03
)

func curveLines(o engine.Options) (out []*line, note string) {
	v := variants[slices.IndexFunc(variants, func(v variant) bool { return v.name == "auto" })]
	for _, f := range madeup.Families() {
		if f.Use != madeup.UseSeveral || !f.Held || !slices.Contains(curveSorts, f.Sort) {
			continue
		}
		for _, epsilon := range curveEpsilons {
			out = append(out, curveLine(o, cell{family: f, variant: v, epsilon: epsilon}))
		}
	}
	return out, ""
}

// curveLine is a family at an epsilon; at the first one along all numbers of rows.
func curveLine(o engine.Options, c cell) *line {
	rows := []int{rowsOfCurve}
	if c.epsilon == curveEpsilons[0] {
		rows = append(rows, curveRows...)
		slices.Sort(rows)
	}
	budget := privacy.Budget{Epsilon: c.epsilon, Delta: o.Budget.Delta}
	return &line{Cell: c, Name: fmt.Sprintf("%s/epsilon=%g", c.family.Name(), c.epsilon), By: c.name, Rows: rows, Params: params{c.family, budget, c.name, 0},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			seed = engine.SeedOf(c.family.Name(), seed) // one table along a curve, longer or at another epsilon
			return c.run(ctx, o, n, seed, rand.New(rand.NewPCG(seed, 1)))
		}}
}

// curveSummary is the median error along both.
func curveSummary(p *engine.Page, r *results) {
	byEpsilon := engine.Table{Head: []string{fmt.Sprintf("n = %s, ε =", engine.Rows(rowsOfCurve))}}
	for _, e := range curveEpsilons {
		byEpsilon.Head = append(byEpsilon.Head, fmt.Sprint(e))
	}
	byRows := engine.Table{Head: []string{fmt.Sprintf("ε = %g, n =", curveEpsilons[0])}}
	for _, n := range curveRows {
		byRows.Head = append(byRows.Head, engine.Rows(n))
	}
	for _, family := range r.Distinct(func(l *line) string { return l.Cell.family.Name() }) {
		var alongEpsilon, alongRows []float64
		for _, l := range r.Lines {
			if l.Cell.family.Name() != family {
				continue
			}
			alongEpsilon = append(alongEpsilon, engine.Median(engine.Pick(l.Results[rowsOfCurve], distance)))
			if l.Cell.epsilon == curveEpsilons[0] {
				for _, n := range curveRows {
					alongRows = append(alongRows, engine.Median(engine.Pick(l.Results[n], distance)))
				}
			}
		}
		byEpsilon.Add(curveRow(family, alongEpsilon)...)
		byRows.Add(curveRow(family, alongRows)...)
	}
	byEpsilon.Head, byRows.Head = append(byEpsilon.Head, "rises"), append(byRows.Head, "rises")
	p.Table(byEpsilon)
	p.Table(byRows)
}

// curveRow are a family's errors, and how often one is larger than another before it by more than
// chance.
func curveRow(family string, errors []float64) []any {
	row, rises := []any{family}, 0
	for i, e := range errors {
		row = append(row, engine.Number(e))
		if i > 0 && e > max(errors[i-1], errors[i-1]*riseByPart)+riseByValue {
			rises++
		}
	}
	return append(row, rises)
}
