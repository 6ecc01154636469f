package audit

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
)

// String returns the report for people.
func (r *Report) String() string {
	var b strings.Builder
	budget := fmt.Sprintf("epsilon %g, delta %g", r.Epsilon, r.Delta)
	if r.Rho > 0 {
		budget = fmt.Sprintf("rho %g", r.Rho)
	}
	columns := words.Plural(r.Columns, "column")
	if r.Categories > 0 {
		columns += fmt.Sprintf(" and %d of categories", r.Categories)
	}
	fmt.Fprintf(&b, "%s, %s, %s; made-up tables of %s of %s\n", r.Method, r.Relation, budget, words.Plural(r.Rows, "row"), columns)
	if r.Refused != "" {
		fmt.Fprintf(&b, "nothing to attack: the method refuses %s (%s)\n", words.Plural(r.Rows, "row"), r.Refused)
		return b.String()
	}
	if w := r.Whole; w != nil {
		fmt.Fprintf(&b, "%s attacked, %d with a model; all bounds hold together with probability %g\n\n", words.Plural(r.Fits, "fit"), r.Released, r.Confidence)
		fmt.Fprintf(&b, "%-26s %9s %9s %10s %13s %7s  %s\n", "", "epsilon", "mu", "claimed mu", "right guesses", "reach", "neighbours")
		line(&b, "the whole transcript", *w)
		for _, s := range r.Steps {
			line(&b, s.Step, s.Bound)
		}
		for _, step := range r.Unscored {
			fmt.Fprintf(&b, "%-26s replayed only: no vector of sums\n", step)
		}
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(&b, "fault: %s\n", fault)
	}
	fmt.Fprintf(&b, "\n%s\n", r.Verdict())
	return b.String()
}

func line(b *strings.Builder, what string, x Bound) {
	mu, claimed, reach := fmt.Sprintf(">= %.3f", x.Mu), fmt.Sprintf("%.3f", x.Claimed), fmt.Sprintf("%.2f", x.Reach)
	if x.Claimed == 0 {
		mu, claimed, reach = "", "", ""
	}
	above := ""
	if x.Above {
		above = "  ABOVE THE CLAIM"
	}
	fmt.Fprintf(b, "%-26s %9s %9s %10s %13s %7s  %s%s\n", what, fmt.Sprintf(">= %.3f", x.Epsilon), mu, claimed, fmt.Sprintf("%d/%d", x.Right, x.Runs), reach, x.Neighbours, above)
}

// Verdict returns the result in one sentence.
func (r *Report) Verdict() string {
	switch {
	case r.Refused != "":
		return "nothing was attacked: the method refuses tables of so few rows before it measures anything"
	case r.Faults != nil:
		return "the audit found a fault: " + r.Faults[0]
	case !r.Passed():
		return fmt.Sprintf("the audit guessed right more often than the claim allows, which chance does with probability %g at most: the program is less private than it says", r.FalseAlarm)
	}
	return "no bound is above its claim, and no replay asked, paid or said anything else"
}
