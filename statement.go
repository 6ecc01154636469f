package gauze

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// String is the statement as a table for a terminal.
func (s *Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "method    %s (%s); %s\n", s.Method, s.Why, s.Source)
	fmt.Fprintf(&b, "table     %s, %s, %s\n", plural(s.Columns, "column"), s.rows(), s.Relation)
	if s.Facts != nil {
		fmt.Fprintf(&b, "known     %s\n", strings.Join(s.problem.Known(), "; "))
	}
	if l := s.Learner; l != nil {
		fmt.Fprintf(&b, "learner   %s%s\n", l.Name, trimmed(l))
	}
	s.writeBudget(&b)
	wide, wideQuery := len("step"), len("query")
	for _, step := range s.Steps {
		wide, wideQuery = max(wide, len(step.Step)), max(wideQuery, len(step.Query))
	}
	fmt.Fprintf(&b, "\n%-*s  %-*s  %8s  %8s  %9s  %s\n", wide, "step", wideQuery, "query", "share", "count", "mu each", "source")
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "%-*s  %-*s  %7.2f%%  %8d  %9s  %s\n", wide, step.Step, wideQuery, step.Query, 100*step.Share, step.Count, digits(step.Mu), step.From)
	}
	b.WriteString("(the most that each step may do; the total is never exceeded)\n")
	s.writeExpectation(&b)
	s.writeCandidates(&b)
	s.writeMixtureBound(&b)
	for _, note := range s.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

// writeBudget writes what the budget buys: a mu, and where the plan has them the losses beside it.
func (s *Statement) writeBudget(b *strings.Builder) {
	switch {
	case s.Epsilon > 0 && s.Rho == 0:
		fmt.Fprintf(b, "budget    epsilon = %g, delta = %g: Gaussian part mu = %.4g, and beside it, in one Rényi curve,\n",
			s.Epsilon, s.Delta, s.Mu)
		for _, step := range s.Steps {
			if step.Mask != nil {
				fmt.Fprintf(b, "          the mask of step %s: %s\n", step.Step, step.Mask)
			}
			if step.Pure > 0 {
				fmt.Fprintf(b, "          the test of step %s: epsilon = %.4g\n", step.Step, step.Pure)
			}
		}
	case s.Epsilon > 0:
		fmt.Fprintf(b, "budget    epsilon = %g, delta = %g: mu = %.4g, rho = %.4g\n", s.Epsilon, s.Delta, s.Mu, s.Rho)
	default:
		fmt.Fprintf(b, "budget    rho = %.4g: mu = %.4g\n", s.Rho, s.Mu)
	}
	if s.ThresholdDelta > 0 {
		fmt.Fprintf(b, "          of it delta = %.3g for thresholds\n", s.ThresholdDelta)
	}
	if s.TestDelta > 0 {
		fmt.Fprintf(b, "          of it delta = %.3g for the test of whether the blocks agree\n", s.TestDelta)
	}
}

// trimmed says what a learner leaves out, or nothing.
func trimmed(l *release.Learner) string {
	switch {
	case l.Name == release.OwnLearner:
		return ", which is handed raw rows and is the custodian's responsibility"
	case l.Trim > 0:
		return fmt.Sprintf(", which leaves out %g of each block's rows", l.Trim)
	}
	return ""
}

func (s *Statement) rows() string {
	switch {
	case s.Relation != privacy.ReplaceOne.String() && s.Rows > 0:
		return "about " + plural(s.Rows, "row") + " (a guess; the number is private)"
	case s.Relation != privacy.ReplaceOne.String():
		return "a private number of rows"
	}
	return plural(s.Rows, "row")
}

func (s *Statement) writeExpectation(b *strings.Builder) {
	var lines []string
	if s.Expect.RowsNeeded > 0 {
		needed := fmt.Sprintf("about %.0f rows are needed", s.Expect.RowsNeeded)
		if s.problem.Components == 1 && s.Learner == nil {
			needed += " for an error within twice the non-private one"
		}
		lines = append(lines, needed)
	}
	if s.Expect.RelativeError > 0 {
		lines = append(lines, fmt.Sprintf("the error is about %.3g times the non-private one", s.Expect.RelativeError))
	}
	lines = append(lines, s.Expect.Notes...)
	if lines == nil {
		return
	}
	b.WriteString("\nto expect:\n")
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// writeMixtureBound writes the bound for mixtures.
func (s *Statement) writeMixtureBound(b *strings.Builder) {
	m := s.MixtureBound
	if m == nil {
		return
	}
	fmt.Fprintf(b, "\nwhatever the method: on some mixtures of %s the mean total variation from the truth is at least %s with so many\n"+
		"rows (%s without privacy), and %g takes at least %s\n", plural(m.Components, "component"), digits(m.TotalVariation), digits(m.WithoutPrivacy), m.Learned,
		plural(int(math.Ceil(m.Rows)), "row"))
}

// writeCandidates writes the table of candidates.
func (s *Statement) writeCandidates(b *strings.Builder) {
	if s.LowerBound == nil {
		return
	}
	const lowerBound = "lower bound"
	wide := len(lowerBound)
	for _, c := range s.Candidates {
		wide = max(wide, len(c.Method))
	}
	line := func(cells ...string) {
		text := fmt.Sprintf("%-*s  %10s  %8s  %13s  %8s  %s", wide, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5])
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	b.WriteString("\n")
	line("candidate", "covariance", "mean", "x non-private", "released", "")
	for _, c := range s.Candidates {
		released := "-"
		if c.CovarianceError > 0 || c.HeavyCovarianceError > 0 {
			released = fmt.Sprintf("%.0f%%", 100*c.Released)
		}
		line(c.Method, digits(c.CovarianceError), digits(c.MeanError), digits(c.RelativeError), released, remark(c))
	}
	line(lowerBound, digits(s.LowerBound.Covariance), digits(s.LowerBound.Mean), "", "", "for every method at this mu that is told no bounds: root mean square, on the worst Gaussian")
	b.WriteString("(medians of measured runs on Gaussian rows: the covariance's error in the Frobenius norm and the mean's, whitened by the truth; in few\n" +
		" columns a median lies below a root mean square)\n")
}

// remark is the last column of a candidate.
func remark(c catalog.Candidate) string {
	var parts []string
	if c.Refused != "" {
		why, _, _ := strings.Cut(c.Refused, ": ")
		why, _, _ = strings.Cut(why, ", ")
		parts = append(parts, "no: "+why) // in a word; JSON has the rest
	}
	if c.Uses != nil {
		parts = append(parts, "uses "+strings.Join(c.Uses, ", "))
	}
	if c.HeavyCovarianceError > 0 {
		parts = append(parts, fmt.Sprintf("on heavy tails %s and %s", digits(c.HeavyCovarianceError), digits(c.HeavyMeanError)))
	}
	if c.Note != "" {
		parts = append(parts, c.Note)
	}
	return strings.Join(parts, "; ")
}

// digits writes a number with three digits; "-" for 0.
func digits(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", x)
}
