package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	attack "github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/experiments/engine"
)

// one makes an audit.
func one(ctx context.Context, o engine.Options, p pair, r attack.Request) (entry, error) {
	start := time.Now()
	report, err := attack.Run(ctx, r)
	return entry{p, o.Commit, engine.Since(start), report}, err
}

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

// write is the page.
func write(all []entry) *engine.Page {
	var p engine.Page
	p.Title("What attacks prove")
	var runs, commits []string
	for _, e := range all {
		runs, commits = append(runs, fmt.Sprint(e.Pair.Runs)), append(commits, e.Commit)
	}
	runs, commits = distinct(runs), distinct(commits)
	p.Header(engine.Header{Command: "`go run ./experiments audit -runs N methods`, with `-resume` after the first, for N = " + strings.Join(runs, ", "),
		Runs: strings.Join(runs, ", ") + ", as the table says", Seed: "none: noise and coins are the operating system's", Commit: strings.Join(commits, ", ")})
	p.Text(about)
	p.Text(legend)
	t := engine.Table{Head: []string{"method", "relation", "ε, δ", "rows", "runs", "right guesses", "claimed μ", "reach", "μ ≥", "ε ≥", "best step: μ ≥ of claimed", "replayed only", "neighbours"}}
	var faults, idle []string
	for _, e := range all {
		r := e.Report
		if !r.Passed() {
			faults = append(faults, fmt.Sprintf("- **`%s`, %s**: %s", e.Pair.Method, r.Relation, r.Verdict()))
		}
		if r.Refused != "" {
			idle = append(idle, fmt.Sprintf("- `%s`, %s, of %d rows: refused, %s", e.Pair.Method, r.Relation, r.Rows, r.Refused))
		}
		if w := r.Whole; w != nil {
			t.Add("`"+e.Pair.Method+"`", r.Relation, fmt.Sprintf("%g, %g", r.Epsilon, r.Delta), r.Rows, w.Runs, fmt.Sprintf("%.1f%%", 100*float64(w.Right)/float64(w.Runs)),
				ofMu(*w, w.Claimed, 3), ofMu(*w, w.Reach, 2), ofMu(*w, w.Mu, 3), fmt.Sprintf("%.2f", w.Epsilon), bestStep(r), strings.Join(r.Unscored, ", "), w.Neighbours)
		}
	}
	p.Table(t)
	if faults == nil {
		p.Text(fmt.Sprintf("In these %d audits no bound is above its claim, and no replay found a question, a price or a word that the answers did not decide.", len(t.Rows)))
	} else {
		p.Text(strings.Join(faults, "\n"))
	}
	p.Heading("Not attacked")
	p.Text(strings.Join(append(append(idle, missing(all)...), never()...), "\n"))
	p.Text("Every method of the catalogue, these too, is audited in a small form by `go test ./audit`: replays and exact answers of a few fits, no bound worth the name. The same package plants a " +
		"fault of each class in fits of its own, and each is found. More columns than one are attacked nowhere here.")
	return &p
}

// ofMu is a number that means something where a mu is claimed.
func ofMu(b attack.Bound, x float64, digits int) string {
	if b.Claimed == 0 {
		return "none"
	}
	return fmt.Sprintf("%.*f", digits, x)
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

// missing are the pairs that no audit of the page is of.
func missing(all []entry) (out []string) {
	for _, s := range subjects {
		for _, r := range relations {
			if !slices.ContainsFunc(all, func(e entry) bool {
				return e.Pair.Method == s.method && e.Pair.Relation == r.String() && (e.Pair.Delta == 0) == s.pure
			}) {
				out = append(out, fmt.Sprintf("- `%s`, %v%s: not run", s.method, r, map[bool]string{true: ", δ = 0"}[s.pure]))
			}
		}
	}
	return out
}

// never are the methods that the study does not try.
func never() (out []string) {
	for name, why := range untried {
		out = append(out, fmt.Sprintf("- `%s`: %s", name, why))
	}
	slices.Sort(out)
	return out
}

func distinct(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
