// Package audit attacks the methods of the catalogue, as `gauze audit` does, and forges releases;
// it writes what the attacks prove. Noise and coins are the operating system's: nothing has a seed.
package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	attack "github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

type line = engine.Line[subject]

// A subject is a method and what it is asked.
type subject struct {
	method     string
	rows       int
	components int
	// told: bounds that hold for the clusters of all made-up tables, for methods that need them.
	told bool
	pure bool // delta 0
}

// subjects are in the order in which they are attacked: the cheap ones first, and of the literal
// ones those that measure small tables. The rows are among the fewest at which a method measures
// anything: a guess.
var subjects = []subject{
	{method: "univariate:kv18", rows: 600},
	{method: "univariate:kv18", rows: 2000, told: true, pure: true},
	{method: "gaussian:coinpress", rows: 2000, told: true},
	{method: "univariate", rows: 200},
	{method: "gaussian", rows: 600},
	{method: "axis-aligned", rows: 600},
	{method: "general", rows: 600},
	{method: "separated", rows: 2000},
	{method: "heavy-tailed", rows: 600},
	{method: "black-box", rows: 6000, components: 1},
	{method: "general:amn24", rows: 600, components: 1, told: true},
	{method: "univariate:amn24", rows: 600, components: 1},
}

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// untried is why a method of the catalogue is not attacked at all, as its refusals and a few fits
// at epsilon 1, with one component and bounds that hold, have shown.
var untried = map[string]string{
	"axis-aligned:aal21":         slow,
	"general:aal21":              slow,
	"univariate:aal21":           slow,
	"separated:paper":            "released nothing of 600 rows; more were not tried",
	"separated:warm-up":          few,
	"separated:sample-aggregate": few,
	"gaussian:kmssu22":           few,
	"heavy-tailed:paper":         few,
	"black-box:paper":            few,
	"gaussian:ppe-line":          "has to be told the variance, which the study does not",
}

const (
	slow = "lists mixtures: a few fits of 600 rows take seconds to a minute, and more were not tried"
	few  = "refuses 600 rows at ε = 1; more were not tried"
)

const about = "Lower bounds on what the methods really lose, as `gauze audit` finds them: a fit to one of two made-up tables of one column, which differ in one row, drawn by a fair coin, " +
	"is guessed from everything that it released, intermediate answers too. All bounds of one audit hold together with probability .95: one audit in " +
	"twenty may show a bound above what is true. A verdict of *above the claim* has a false-alarm rate of 1e-6 in each audit. The pairs are attacked in an order that is fixed, and an audit that was not over when the study was stopped is not here: nothing is selected by outcome."

const legend = "- **runs** are those of the pair of tables that tells the most; where another pair tells far more of some steps, that was attacked as often, for these alone.\n" +
	"- **claimed μ** is that of the whole plan; without one the claim is of ε alone.\n" +
	"- **reach** is the part of it that these neighbours can show at all, from exact answers, on the path where they show most. What keeps it below 1 are " +
	"measurements that the row which differs does not touch, paths that ended early, and steps that have no score.\n" +
	"- **μ ≥ and ε ≥** are the bounds: ε that of a Gaussian mechanism of that μ at the budget's δ. With N runs a bound lies about 5/√N below what is true: " +
	".16 with 1,000 runs, which prove little of a μ of .24, and .07 with 5,000.\n" +
	"- **best step** is the step of the plan whose own bound is the largest part of its claim.\n" +
	"- **replayed only** are steps that are no vectors of sums over rows: choices, masks, thresholds and noise that is not Gaussian. No bound speaks of them; the first thirty fits of each pair of tables " +
	"are replayed on both, where nothing that they ask, pay or say may differ."

// Study is the study: attacks on the methods, and forged releases.
var Study = study{}

type study struct{}

// Title returns the study in one line.
func (study) Title() (name, about string) { return methods.Name, methods.About }

// Names returns those of its experiments.
func (study) Names() []string { return append(methods.Names(), forgeryReport.Names()...) }

// Run makes the experiments named, or the attacks on the methods.
func (study) Run(ctx context.Context, o engine.Options, names []string) error {
	if slices.Contains(names, "forged") {
		return forgeryReport.Run(ctx, o, names)
	}
	if o.Out == "" && !o.Quick { // -runs is how much is attacked, and no part of it
		o.Out = pages
	}
	return methods.Run(ctx, o, names)
}

// pages is the folder of the study's pages.
const pages = engine.Pages + "/audit"

// methods are the attacks.
var methods = &engine.Study[subject]{
	Name: "audit", About: "attacks on the methods: lower bounds on the epsilon that they really have; and forged releases",
	PassRate: 1, Seed: 1, Unseeded: true,
	Experiments: []engine.Experiment[subject]{{Name: "methods", Title: "What attacks prove", About: about, Runs: 1, Lines: lines}},
	Legend:      legend,
	Columns: []engine.Column{
		share("right guesses", "right"), number("claimed μ", "claimed", 3), number("reach", "reach", 2), number("μ ≥", "mu", 3), number("ε ≥", "epsilon", 2),
		{Head: "best step: μ ≥ of claimed; replayed only; neighbours; verdict", Show: func(runs []engine.Result) any { return runs[0].Note }},
	},
	Printed: []string{"right", "claimed", "mu", "epsilon"},
}

// Numbers of runs, for each pair of tables that is attacked.
const (
	usualRuns = 1000
	quickRuns = 4
)

// lines returns the subjects under both relations, and in the note what is not attacked.
func lines(o engine.Options) (out []*line, note string) {
	runs := o.Runs
	if o.Quick {
		runs = quickRuns
	} else if runs == 0 {
		runs = usualRuns
	}
	for _, s := range subjects {
		if o.Methods != nil && !slices.Contains(o.Methods, s.method) {
			continue
		}
		for _, r := range relations {
			ask := s.request(o, r, runs)
			out = append(out, &line{Cell: s, Name: fmt.Sprintf("%s, ε = %g, δ = %g", s.method, ask.Fit.Budget.Epsilon, ask.Fit.Budget.Delta), By: r.String(), Rows: []int{s.rows}, Once: true,
				Params: runs, Make: func(ctx context.Context, n int, _ uint64) (engine.Outcome, error) {
					start := time.Now()
					report, err := attack.Run(ctx, ask)
					if err != nil {
						return engine.Outcome{}, err
					}
					return outcome(report, engine.Since(start)), nil
				}})
		}
	}
	return out, fmt.Sprintf("%d runs of each pair of tables. Not attacked: %s. Every method, these too, is audited in a small form by `go test ./audit`, which also plants a fault of each class in fits of its own, "+
		"and each is found. More columns than one are attacked nowhere here.", runs, strings.Join(never(), "; "))
}

// request returns the request of the audit.
func (s subject) request(o engine.Options, r privacy.Relation, runs int) attack.Request {
	fit := gauze.Request{Method: s.method, Relation: r, Budget: o.Budget, Components: s.components}
	if s.pure {
		fit.Budget.Delta = 0
	}
	if s.told {
		fit.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 20, Eigenvalues: [2]float64{.25, 25}}
	}
	return attack.Request{Fit: fit, Rows: s.rows, Runs: runs}
}

// outcome returns an audit's result: a run succeeds if no bound is above its claim, and no replay
// found a query, a cost or a text that the answers did not decide.
func outcome(r *attack.Report, seconds float64) engine.Outcome {
	out := engine.Outcome{Success: r.Passed(), Seconds: seconds, Values: engine.Values{}}
	if r.Refused != "" {
		out.Why = "refused: " + r.Refused
	}
	if w := r.Whole; w != nil {
		out.Values = engine.Values{"right": float64(w.Right) / float64(w.Runs), "claimed": w.Claimed, "reach": w.Reach, "mu": w.Mu, "epsilon": w.Epsilon}
		out.Note = fmt.Sprintf("%s; %s; %s; %s", bestStep(r), strings.Join(r.Unscored, ", "), w.Neighbours, r.Verdict())
	}
	return out
}

// number returns a column of a value, "none" if no mu is claimed.
func number(head, value string, digits int) engine.Column {
	return engine.Column{Head: head, Show: func(runs []engine.Result) any {
		if v := runs[0].Values; v["claimed"] > 0 || value == "epsilon" && runs[0].Why == "" {
			return fmt.Sprintf("%.*f", digits, v[value])
		}
		return "none"
	}}
}

func share(head, value string) engine.Column {
	return engine.Column{Head: head, Show: func(runs []engine.Result) any { return fmt.Sprintf("%.1f%%", 100*runs[0].Values[value]) }}
}

func bestStep(r *attack.Report) string {
	if len(r.Steps) == 0 {
		return "none has a score"
	}
	best := slices.MaxFunc(r.Steps, func(a, b attack.Step) int {
		if a.Mu*b.Claimed < b.Mu*a.Claimed {
			return -1
		}
		return 1
	})
	if best.Mu == 0 {
		return "none above 0"
	}
	return fmt.Sprintf("%s: %.3f of %.3f", best.Step, best.Mu, best.Claimed)
}

// never returns the methods that the study does not try.
func never() (out []string) {
	for name, why := range untried {
		out = append(out, fmt.Sprintf("`%s`: %s", name, why))
	}
	slices.Sort(out)
	return out
}
