// Package unkind judges fits of tables as people bring them (experiments/families): is the
// model right, does it say what is wrong with it, was nothing spent where there is no answer? What
// is released will be believed, so the worst is a model that is wrong and says nothing, and the
// next is a budget spent on nothing. verdict.go says what counts as right, and why.
package unkind

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/families"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// A cell is a family given to a method.
type cell struct {
	family families.Family
	variant
	// own, if set, is the method with constants of its own.
	own estimate.Estimator
}

// A variant is a way to ask a method.
type variant struct {
	name   string
	method string
	shape  estimate.CovarianceType
	// mixture: a law is asked for, not its moments; auto: and the number of components is left to
	// the method.
	mixture, auto bool
	uses          []families.Use
}

var (
	moments = []families.Use{families.UseOne, families.UseColumn}
	rows    = []families.Use{families.UseOne}
	several = []families.Use{families.UseSeveral}
)

// variants are all ways to ask.
var variants = []variant{
	{name: "gaussian", method: "gaussian", uses: moments},
	{name: "gaussian/diagonal", method: "gaussian", shape: estimate.Diagonal, uses: rows},
	{name: "gaussian/spherical", method: "gaussian", shape: estimate.Spherical, uses: rows},
	{name: "heavy-tailed", method: "heavy-tailed", uses: moments},
	{name: "heavy-tailed/diagonal", method: "heavy-tailed", shape: estimate.Diagonal, uses: rows},
	{name: "univariate/k", method: "univariate", mixture: true, uses: []families.Use{families.UseColumn}},
	{name: "univariate/auto", method: "univariate", mixture: true, auto: true, uses: []families.Use{families.UseColumn}},
	{name: "axis-aligned/k", method: "axis-aligned", shape: estimate.Diagonal, mixture: true, uses: []families.Use{families.UseAxis}},
	{name: "axis-aligned/auto", method: "axis-aligned", shape: estimate.Diagonal, mixture: true, auto: true, uses: []families.Use{families.UseAxis}},
	{name: "known/k", method: "axis-aligned", mixture: true, uses: []families.Use{families.UseKnown}},
	{name: "auto", method: "auto", mixture: true, auto: true, uses: several},
	{name: "auto/k", method: "auto", mixture: true, uses: several},
	{name: "separated/k", method: "separated", mixture: true, uses: several},
	{name: "separated/auto", method: "separated", mixture: true, auto: true, uses: several},
	{name: "black-box/k", method: "black-box", mixture: true, uses: several},
	{name: "known/auto", method: "axis-aligned", mixture: true, auto: true, uses: []families.Use{families.UseKnown}},
}

// Numbers of rows are log-uniform between these.
const fewestRows, mostRows = 2000, 50_000

// runsOfUse are the runs of a line: more where there are few families, so that all methods can be
// judged.
var runsOfUse = map[families.Use]int{families.UseOne: 3, families.UseColumn: 3, families.UseAxis: 6, families.UseKnown: 18, families.UseSeveral: 3}

// mostComponents is the limit where their number is left to the method.
const mostComponents = 10

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// Study is the study. Its tables have fresh seeds in every run: nothing can be chosen on them
// twice.
var Study = &engine.Study[cell]{
	Name: "unkind", About: "tables as people bring them: fine, flagged, refused for free, no release, silently wrong",
	PassRate: 1,
	Experiments: []engine.Experiment[cell]{
		experiment("dev", false, false, "Unkind tables, for development", "The half of the families on which constants may be chosen."),
		experiment("held", true, false, "Unkind tables", "The half of the families on which nothing was chosen."),
		experiment("mixtures-dev", false, true, "Mixtures in several columns, for development", "The half of the families on which constants may be chosen. "+wholes),
		experiment("mixtures", true, true, "Mixtures in several columns", "The half of the families on which nothing was chosen. "+wholes),
	},
	Lead: lead, Columns: perVerdict(),
	Printed: []string{columns, rowsUsed, ratio, meanError, correlationError, distance, found, asked},
	Prints:  func(r engine.Result) bool { return r.Values[fine] == 0 || r.Values[unsaid] == 1 },
}

// wholes says how mixtures in several columns are judged.
const wholes = "A model of a mixture of Gaussians is right if it is not much farther from the truth, in total variation, than EM that was started there; of another law, if " +
	"other rows are not less likely than under the one Gaussian with the rows' moments (several.go)."

func experiment(name string, held, whole bool, title, about string) engine.Experiment[cell] {
	return engine.Experiment[cell]{Name: name, Title: title, About: about, Runs: 3, Summary: summary,
		Lines: func(o engine.Options) (out []*line, note string) {
			for _, f := range families.Families() {
				if f.Held != held || (f.Use == families.UseSeveral) != whole {
					continue
				}
				for _, v := range variants {
					if v.fits(f) && (o.Methods == nil || contains(o.Methods, v.method)) {
						out = append(out, lineOf(o, cell{family: f, variant: v}))
					}
				}
			}
			return out, ""
		}}
}

func contains[T comparable](list []T, x T) bool {
	for _, y := range list {
		if y == x {
			return true
		}
	}
	return false
}

// kind says that the family is what the method is made for.
func (c cell) kind() bool { return c.family.Kind && (c.mixture || !c.family.Grouped) }

// fits says that a variant is asked of a family: moments are of whatever has some to ask for, and
// one spread for all columns where they can be had in one scale.
func (v variant) fits(f families.Family) bool { return contains(v.uses, f.Use) }

// Names of values, beside the verdicts.
const (
	columns          = "d"
	rowsUsed         = "rows"
	ratio            = "sd_ratio"
	meanError        = "mean_error"
	correlationError = "correlation_error"
	distance         = "distance"
	found            = "k"
	asked            = "true_k"
	spoke            = "flags"
)

// params is what a line's names stand for.
type params struct {
	Family  families.Family
	Budget  privacy.Budget
	Asked   string
	MostFor int
}

// lineOf returns a family by a variant: draw, fit, judge.
func lineOf(o engine.Options, c cell) *line {
	return &line{Cell: c, Name: c.family.Name(), By: c.name, Rows: []int{mostRows}, Runs: runsOfUse[c.family.Use], Params: params{c.family, o.Budget, c.name, mostRows},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			seed = engine.SeedOf(c.family.Name()+" by "+c.name, seed)
			rng := rand.New(rand.NewPCG(seed, 1))
			return c.run(ctx, o, c.rowsOf(o, n, rng), seed, rng)
		}}
}

// rowsOf draws the number of rows, at most n, unless the command line says it.
func (c cell) rowsOf(o engine.Options, n int, rng *rand.Rand) int {
	if o.Rows != nil {
		return n
	}
	least := float64(fewestRows)
	if c.family.Rows[1] > 0 {
		n = min(n, c.family.Rows[1])
		least = float64(min(n, c.family.Rows[0]))
	}
	return int(math.Round(least * math.Pow(float64(n)/least, rng.Float64())))
}

// run draws, fits and judges.
func (c cell) run(ctx context.Context, o engine.Options, n int, seed uint64, rng *rand.Rand) (engine.Outcome, error) {
	q, r := c.ask(o, c.family.Draw(seed, n), rng)
	if c.family.Use == families.UseSeveral {
		q.other = c.family.Again(seed, otherRows).Rows
	}
	got, err := engine.Fit(ctx, q.table.Rows, r)
	if err != nil {
		return engine.Outcome{}, err
	}
	j, err := q.judge(got)
	return j.outcome(q, r, got), err
}

// ask returns the request for a table: under both relations in turn, and for one column with one to
// three components if the truth has no number of them.
func (c cell) ask(o engine.Options, t *families.Table, rng *rand.Rand) (question, gauze.Request) {
	q := question{table: t, mixture: c.mixture, shape: c.shape, most: 1}
	r := gauze.Request{Relation: o.Relation, Budget: o.Budget, Method: c.method, Components: 1, Covariance: c.shape,
		KnownCovariance: t.Covariance}
	if c.own != nil {
		r.Method, r.Estimator = "", c.own
	}
	if _, d := t.Rows.Dims(); t.Declared != nil {
		r.Columns = gauze.Named(model.DefaultColumns(d)...)
		for j, unit := range t.Declared {
			r.Columns[j].RoundedTo = unit
		}
	}
	if rng.IntN(2) == 0 {
		r.Relation = privacy.AddRemoveOne
	}
	if c.mixture {
		r.Components = t.Components
		if t.Labels == nil && c.family.Use == families.UseColumn {
			r.Components += rng.IntN(3)
		}
		q.k = r.Components
	}
	if c.auto {
		r.Components, r.MaxComponents, q.k, q.most = 0, mostComponents, 0, mostComponents
	}
	if c.auto && c.family.Use == families.UseSeveral { // nothing but epsilon and delta
		r.MaxComponents, q.most = 0, math.MaxInt
	}
	if c.shape == estimate.Spherical {
		oneScale(t.Rows)
	}
	if total, err := privacy.Calibrate(r.Budget, privacy.Needs{}); err == nil {
		q.mu = total.Mu
	}
	return q, r
}

// oneScale divides every column by about its spread: one spread for all is asked of nothing else.
func oneScale(rows *mat.Dense) {
	n, d := rows.Dims()
	for a := range d {
		numbers := []float64{}
		for _, x := range mat.Col(nil, a, rows) {
			if !math.IsNaN(x) {
				numbers = append(numbers, x)
			}
		}
		s := engine.MomentsOf([][]float64{numbers})
		if s.SD[0] == 0 {
			continue
		}
		unit := math.Exp2(math.Round(math.Log2(s.SD[0])))
		for i := range n {
			rows.Set(i, a, rows.At(i, a)/unit)
		}
	}
}

// outcome returns what a results file keeps.
func (j judgement) outcome(q question, r gauze.Request, got engine.Fitted) engine.Outcome {
	n, d := q.table.Rows.Dims()
	out := engine.Outcome{Seconds: got.Seconds, Success: j.verdict == fine || j.verdict == flagged || j.verdict == refused || j.verdict == hopeless,
		Values: engine.Values{columns: float64(d), rowsUsed: float64(n)}}
	out.Values[j.verdict] = 1
	if got.Release != nil {
		out.Values[ratio], out.Values[meanError], out.Values[correlationError] = j.ratio, j.mean, j.correlation
		if q.mixture {
			out.Values[distance], out.Values[asked] = j.distance, float64(q.table.Components)
			if got.Foreground != nil {
				out.Values[found] = float64(got.Foreground.K())
			}
		}
		if j.said {
			out.Values[spoke] = 1
		}
		if !q.mixture {
			out.Values[namedColumns], out.Values[namedRight] = float64(j.strict.named), float64(j.strict.namedRight)
			if j.strict.unsaid != "" {
				out.Values[unsaid] = 1
			} else if j.strict.few {
				out.Values[fewUnseen] = 1
			}
		}
	}
	if j.verdict == faulty {
		out.Why = got.Why
		return out
	}
	number := ""
	if q.mixture {
		number = fmt.Sprintf(" k=%d", r.Components)
	}
	out.Note = fmt.Sprintf("%s%s, %s; %s", r.Relation, number, q.table.What, strings.ToUpper(j.verdict))
	if j.strict.unsaid != "" {
		out.Note += " (unsaid: " + j.strict.unsaid + ")"
	}
	if j.why != "" {
		out.Note += ": " + j.why
	}
	if len(j.flags) > 0 {
		out.Note += flagMark + strings.Join(j.flags, flagBetween)
	}
	return out
}

// flagMark comes before the flags of a note, and flagBetween between them.
const flagMark, flagBetween = " | flags: ", " | "
