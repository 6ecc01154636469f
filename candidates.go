package gauze

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/kernel"
)

// compare states what to expect of every method for one component, and what none can reach; guess
// has the number of rows even where it is a guess.
func (s *Statement) compare(r Request, guess estimate.Problem) {
	s.Candidates = Methods().Candidates(s.problem, guess.Rows)
	for i, c := range s.Candidates {
		if c.Refused == "" {
			if err := affordable(r, c.Method, s.problem); err != nil {
				s.Candidates[i] = catalog.Candidate{Method: c.Method, Refused: err.Error()}
			}
		}
	}
	if s.Candidates == nil && guess.Rows > 0 {
		s.boundMixtures(r, guess)
	}
	if s.Candidates == nil || guess.Rows == 0 {
		return
	}
	bound := expected.LowerBound(guess, float64(guess.Rows))
	s.LowerBound = &bound
	for _, c := range s.Candidates {
		if c.Method != s.Method || c.CovarianceError == 0 {
			continue
		}
		// What was measured takes the place of what the method says of itself.
		s.Expect.RelativeError, s.Expect.CovarianceError, s.Expect.MeanError = c.RelativeError, c.CovarianceError, c.MeanError
	}
}

// boundMixtures states what no method can promise for mixtures, unless something is known that
// could help it.
func (s *Statement) boundMixtures(r Request, guess estimate.Problem) {
	k := guess.Components
	if k == 0 {
		k = guess.MaxComponents
	}
	if guess.Known() == nil && k > 1 {
		bound := expected.LowerBoundMixture(guess, r.Budget, k, float64(guess.Rows))
		s.MixtureBound = &bound
	}
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

// affordable says why a method's plan does not fit the budget: thresholds, for instance, need a
// delta.
func affordable(r Request, name string, problem estimate.Problem) error {
	method, _, err := Methods().Choose(name, problem)
	if err != nil {
		return err
	}
	plan, err := method.Plan(problem)
	if err != nil {
		return err
	}
	_, err = kernel.Calibrate(plan, r.Relation, r.Budget)
	return err
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
