package plain

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// repeats is whether two people who fit one table are told the same number of clusters.
var repeats = engine.Experiment[cell]{Name: "repeats", Title: "Plain clusters, one table fitted again and again", Runs: 2, Lines: repeatLines, Summary: repeatSummary,
	About: fmt.Sprintf("A run is a fresh table that is fitted %d times, with fresh noise. It succeeds if all models have one number of components.", fitsOfTable)}

const fitsOfTable = 5

// usual is the share of a table's fits that have the number of components that most of them have.
const usual = "usual_k"

// repeatGaps are the gaps that tables have.
var repeatGaps = []float64{6, 300, 1e9}

func repeatLines(o engine.Options) (out []*line, note string) {
	for _, c := range cells() {
		for _, gap := range repeatGaps {
			if c.gap == gap && c.columns < wide {
				c.contender = contenders[0]
				out = append(out, c.repeatLine(o))
			}
		}
	}
	return out, ""
}

func (c cell) repeatLine(o engine.Options) *line {
	return &line{Cell: c, Name: c.String(), By: c.name, Rows: []int{c.rows()}, Params: params{c.columns, c.placement, c.gap, o.Budget},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			seed = engine.SeedOf(c.String(), seed)
			p, relation := c.instance(rand.New(rand.NewPCG(seed, 1)), o.Relation)
			in, err := p.Draw(seed, n)
			if err != nil {
				return engine.Outcome{}, err
			}
			var out engine.Outcome
			numbers, most := map[float64]int{}, 0
			for range fitsOfTable {
				got, err := c.learn(ctx, in, gauze.Request{Relation: relation, Budget: o.Budget, Method: c.method}, seed)
				if err != nil {
					return out, err
				}
				one, err := outcome(p, relation, in, got)
				if err != nil {
					return out, err
				}
				one.Seconds += out.Seconds
				k := one.Values[found]
				if numbers[k]++; numbers[k] > most {
					most, out = numbers[k], one
				}
				out.Seconds = one.Seconds
			}
			out.Values[usual] = float64(most) / fitsOfTable
			out.Success = len(numbers) == 1
			return out, nil
		}}
}

// repeatSummary is how often the number is the usual one, and how often that is the true one.
func repeatSummary(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"columns", "tables", "all fits alike", "fits with the usual number", "the usual number is the true one"}}
	add := func(name string, of func(cell) bool) {
		var runs []engine.Result
		for _, l := range r.Lines {
			if of(l.Cell) {
				runs = append(runs, l.First()...)
			}
		}
		if len(runs) == 0 {
			return
		}
		t.Add(name, len(runs), engine.Rate(engine.Count(runs), len(runs)), fmt.Sprintf("%.0f %%", 100*engine.Mean(engine.Pick(runs, usual))), engine.Total(runs, exact))
	}
	for _, d := range allColumns {
		if d < wide {
			add(fmt.Sprintf("d = %d", d), func(c cell) bool { return c.columns == d })
		}
	}
	for _, placement := range []madeup.Placement{madeup.Along, madeup.OnLine, madeup.Simplex, madeup.Paired} {
		add(string(placement), func(c cell) bool { return c.placement == placement })
	}
	add("all", func(cell) bool { return true })
	p.Table(t)
}
