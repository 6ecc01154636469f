package program

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
)

// Refusal returns a *estimate.Refusal: nothing must be spent on the problem.
func Refusal(advice, format string, args ...any) error {
	return &estimate.Refusal{Reason: fmt.Sprintf(format, args...), Advice: advice}
}

// OneComponent refuses a problem of several components for a method of that name that fits one.
func OneComponent(name string, p estimate.Problem) error {
	if p.Components <= 1 {
		return nil
	}
	return Refusal("use --components 1, or --method general for a mixture", "method %s fits one component, %d were asked for", name, p.Components)
}

// Needs returns the advice for too few rows: how many there should be, as estimate.AboutRows rounds
// it, or only that there should be more if rows is 0; of, if not "", says what they are for. Or
// fewer columns, if there are several, or what else would help. A table that has as many rows
// (p.Rows, public or released) is not told that fewer would do.
func Needs(p estimate.Problem, rows float64, of string, or ...string) string {
	text := "needs more rows"
	if about := estimate.AboutRows(rows); rows > 0 && !math.IsInf(rows, 1) {
		if text = fmt.Sprintf("needs about %.0f rows%s at this epsilon", about, of); float64(p.Rows) >= about {
			text = fmt.Sprintf("about %.0f rows%s do as a rule, and these need more, or a larger epsilon", about, of)
		}
	}
	if p.Columns > 1 {
		or = append([]string{"fewer columns"}, or...)
	}
	if len(or) > 0 {
		text += "; or " + strings.Join(or, ", or ")
	}
	return text
}

// OfEqualWeight returns an argument of for Needs.
func OfEqualWeight(k int) string { return fmt.Sprintf(" for %d components of about equal weight", k) }

// Refuse returns the outcome of a fit that ends without a model.
func (r *Run) Refuse(format string, args ...any) estimate.Outcome {
	advice := r.Advice
	if advice == "" {
		p := r.Problem
		p.Rows = max(p.Rows, int(math.Min(r.Rows, math.MaxInt32)))
		advice = r.Advise(p)
	}
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: advice}, Diagnostics: r.Notes}
}

// Follow makes the steps of a fit one after another, and ends in outcome; or, where a step doubts
// that there is a model, in what refuse makes of that.
func Follow(ctx context.Context, refuse func(format string, args ...any) estimate.Outcome, outcome func() estimate.Outcome, steps ...func() (doubt string, err error)) (out estimate.Outcome, err error) {
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		switch doubt, err := step(); {
		case err != nil:
			return out, err
		case doubt != "":
			return refuse("%s", doubt), nil
		}
	}
	return outcome(), nil
}

// Outsize returns the outcome for an estimate that a model cannot hold.
func Outsize(notes estimate.Diagnostics) estimate.Outcome {
	return estimate.Outcome{Diagnostics: notes, NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the columns in other units"}}
}
