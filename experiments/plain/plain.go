// Package plain asks whether clusters that a glance at the right picture shows are found: fresh
// random instances of few clusters far from one another, in any units, with nothing given but
// epsilon and delta.
package plain

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// A cell is a placement with a gap in so many columns. A run draws the rest.
type cell struct {
	columns   int
	placement madeup.Placement
	gap       float64
	contender
}

// A contender is a way to ask: by a method with the number of components left to it or given, or,
// without a method, scikit-learn.
type contender struct {
	name, method string
	given        bool
	runs         int
}

// Names of contenders.
const (
	auto    = "auto"
	open    = "separated"
	givenK  = "separated, k given"
	byOther = "scikit-learn, k by BIC"
)

var contenders = []contender{
	{name: auto, method: "auto", runs: 6}, {name: open, method: "separated", runs: 2}, {name: givenK, method: "separated", given: true, runs: 1},
	{name: byOther, runs: 2},
}

// Placements beside those of two clusters and more: a single one; and more than the usual number of
// rows pays for, with more rows, anywhere.
const one, many madeup.Placement = "one", "many"

var (
	allColumns = []int{1, 2, 3, 8, 20, 30}
	allGaps    = []float64{5, 6, 30, 300, 1e5, 1e9}
)

// Numbers of rows, and of columns from which on there are more; the most clusters; and the n mu
// that every column of every cluster needs to have an answer.
const (
	usualRows, wideRows, wide = 12_000, 30_000, 20
	mostClusters              = 10
	answerRows                = 60
)

// manyRows are those that pay for the most clusters.
var manyRows = map[int]int{8: 21_000, 20: 60_000, 30: 130_000}

// leastBar and mostBar are the least and the largest madeup.Limit of a total variation: there are
// no more clusters than the latter allows.
const leastBar, mostBar = .08, .35

func (c cell) rows() int {
	switch {
	case c.placement == many:
		return manyRows[c.columns]
	case c.columns >= wide:
		return wideRows
	}
	return usualRows
}

// most is the largest number of clusters that the rows pay for: the limit is at most mostBar, and
// there is an answer at the usual budget.
func (c cell) most() int {
	total, err := privacy.Calibrate(privacy.Budget{Epsilon: 1, Delta: 1e-6}, privacy.Needs{})
	if err != nil {
		panic(err) // a constant
	}
	n, k := c.rows(), 1
	for k < mostClusters && madeup.Limit(k+1, c.columns, n) <= mostBar+1e-9 && float64(n)*total.Mu >= float64(answerRows*c.columns*(k+1)) {
		k++
	}
	return k
}

// least is the smallest number of clusters that there are.
func (c cell) least() int {
	switch c.placement {
	case one:
		return 1
	case madeup.Paired, madeup.Simplex:
		return 3
	case many:
		return 6
	}
	return 2
}

// Study is the study. Its instances have fresh seeds in every run: nothing can be chosen on them
// twice.
var Study = &engine.Study[cell]{
	Name: "plain", About: "plain clusters in any place, units and number: are they found?",
	PassRate: .85,
	Experiments: []engine.Experiment[cell]{repeats, {Name: "clusters", Title: "Plain clusters", Runs: 6, Lines: lines, Summary: summary,
		About: "One to ten clusters, far from one another. Right: a total variation (of the whole model, background and all, from the true mixture) of at most a limit that depends on k, d and n alone."}},
	Lead: lead, Legend: "TV over limit: median and ninth decile of the total variation by its limit.",
	Head: func(*results) []string {
		return []string{"right", "k exact", "TV", "TV over limit", "k - true k", "no model", "s per fit"}
	},
	Describe: describe,
	Shown:    []string{variation, limit, found, truth},
	Worth:    func(r engine.Result) bool { return !r.Success },
}

// cells are all: no random line in one column, and no placement of more clusters than there may be.
func cells() (out []cell) {
	for _, d := range allColumns {
		out = append(out, cell{columns: d, placement: one, gap: 1})
		for _, p := range []madeup.Placement{madeup.Along, madeup.OnLine, madeup.Simplex, madeup.Paired} {
			for _, gap := range allGaps {
				c := cell{columns: d, placement: p, gap: gap}
				if c.most() < c.least() || d == 1 && (p == madeup.OnLine || p == madeup.Simplex) {
					continue
				}
				out = append(out, c)
			}
		}
		if manyRows[d] > 0 {
			out = append(out, cell{columns: d, placement: many, gap: 1})
		}
	}
	return out
}

func (c cell) String() string {
	if c.placement == one || c.placement == many {
		return fmt.Sprintf("d=%d/%s", c.columns, c.placement)
	}
	return fmt.Sprintf("d=%d/%s/gap=%g", c.columns, c.placement, c.gap)
}

// before is what the same experiment said of the program before anybody worked on it.
const before = "Before (commit e203bdc, `go run ./experiments plain -seed 1795386007855185 -runs 2 -methods auto,separated clusters`): `auto` right in 178 of 258 runs, k exact in 187; " +
	"`separated` right in 104, k exact in 185."

// peer says what scikit-learn is asked.
const peer = "scikit-learn: GaussianMixture without privacy, columns in their standard deviations, one to twelve full covariances from one start of k-means each, k by BIC; below 20 columns."

func lines(o engine.Options) (out []*line, note string) {
	by := contenders
	note = before + " " + peer
	if !engine.HasScikit() {
		by, note = by[:len(by)-1], before+" scikit-learn is left out, because python3 cannot import it here."
	}
	if o.Methods != nil {
		by, note = nil, before
		for _, m := range o.Methods {
			by = append(by, contender{name: m, method: m})
		}
	}
	for _, c := range cells() {
		for _, c.contender = range by {
			if c.method != "" || c.columns < wide { // it would take hours
				out = append(out, c.line(o))
			}
		}
	}
	return out, note
}

// params is what a line's names stand for.
type params struct {
	Columns   int
	Placement madeup.Placement
	Gap       float64
	Budget    privacy.Budget
}

func (c cell) line(o engine.Options) *line {
	return &line{Cell: c, Name: c.String(), By: c.name, Rows: []int{c.rows()}, Runs: c.runs, Params: params{c.columns, c.placement, c.gap, o.Budget},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			seed = engine.SeedOf(c.String(), seed) // the same instances for all contenders
			p, relation := c.instance(rand.New(rand.NewPCG(seed, 1)), o.Relation)
			in, err := p.Draw(seed, n)
			if err != nil {
				return engine.Outcome{}, err
			}
			got, err := c.learn(ctx, in, gauze.Request{Relation: relation, Budget: o.Budget, Method: c.method}, seed)
			if err != nil {
				return engine.Outcome{}, err
			}
			return outcome(p, relation, in, got)
		}}
}

// instance draws what a cell leaves open.
func (c cell) instance(rng *rand.Rand, relation privacy.Relation) (madeup.Plain, privacy.Relation) {
	coin := func() bool { return rng.IntN(2) == 0 }
	p := madeup.Plain{Components: 1, Columns: c.columns, Placement: c.placement, Gap: c.gap, Ellipsoids: coin(), Mapped: coin()}
	if coin() {
		relation = privacy.AddRemoveOne
	}
	switch c.placement {
	case one:
		p.Placement = madeup.Along
		return p, relation
	case many:
		p.Gap = allGaps[1+rng.IntN(len(allGaps)-1)]
		p.Placement = madeup.Simplex
		if coin() {
			p.Placement = madeup.OnLine
		}
	}
	p.Components = c.least() + rng.IntN(c.most()-c.least()+1)
	p.Scaled, p.Uneven = coin(), coin()
	return p, relation
}

func (c cell) learn(ctx context.Context, in *madeup.Instance, r gauze.Request, seed uint64) (engine.Fitted, error) {
	if c.method == "" {
		return engine.ScikitByBIC(ctx, in.Rows, mostClusters+2, seed%(1<<31))
	}
	if c.given {
		r.Components = in.Truth.K()
	}
	return engine.Fit(ctx, in.Rows, r)
}

// Names of values.
const (
	variation  = "tv"
	limit      = "limit"
	found      = "k"
	truth      = "true_k"
	exact      = "exact"
	background = "background"
	warned     = "warned"
	// what the run drew
	scaled, uneven, ellipsoids, mapped, addRemove = "scaled", "uneven", "ellipsoids", "mapped", "add_remove"
)

// variationRows are those of a total variation in several columns: a standard error of .01.
const variationRows = 4000

func outcome(p madeup.Plain, relation privacy.Relation, in *madeup.Instance, got engine.Fitted) (engine.Outcome, error) {
	n, d := in.Rows.Dims()
	out := engine.Outcome{Seconds: got.Seconds, Why: got.Why, Values: engine.Values{found: 0, truth: float64(p.Components), limit: madeup.Limit(p.Components, d, n),
		variation: 1, exact: 0, scaled: number(p.Scaled), uneven: number(p.Uneven), ellipsoids: number(p.Ellipsoids), mapped: number(p.Mapped),
		addRemove: number(relation == privacy.AddRemoveOne)}}
	if got.Foreground == nil {
		return out, nil
	}
	whole := got.Foreground
	if got.Release != nil {
		whole = got.Release.Model
		flags, _, _ := engine.Warnings(got.Release)
		out.Values[warned] = number(len(flags) > 0)
		out.Note = fmt.Sprintf("%+v", p)
	}
	tv, err := madeup.TotalVariation(in.Truth, whole, variationRows)
	if err != nil {
		return out, err
	}
	out.Values[variation], out.Values[found], out.Values[background] = tv, float64(got.Foreground.K()), got.Background
	out.Values[exact] = number(got.Foreground.K() == p.Components)
	out.Success = tv <= out.Values[limit]
	return out, nil
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
