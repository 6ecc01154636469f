package program

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Refusal is a *estimate.Refusal: nothing must be spent on the problem.
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

// TooShort refuses a table that is known to have fewer than least rows, for any budget.
func TooShort(p estimate.Problem, least float64, advice string) error {
	if p.Relation != privacy.ReplaceOne || float64(p.Rows) >= least {
		return nil
	}
	return Refusal(advice, "the table has %d rows, too few for a fit of %d columns at any epsilon", p.Rows, p.Columns)
}

// leastUnit of the number of rows in an advice about mixtures: nothing is known better.
const leastUnit = 50

// Needs is the advice where rows are too few: about how many there should be, rounded up to two
// digits, or only that there should be more if rows is 0; of, if not "", says what they are for. Or
// fewer columns, where there are several, or what else would help.
func Needs(p estimate.Problem, rows float64, of string, or ...string) string {
	return needs(p, rows, leastUnit, of, or)
}

// NeedsOfOne is Needs for one distribution, of which two digits are known however few the rows are.
func NeedsOfOne(p estimate.Problem, rows float64, or ...string) string {
	return needs(p, rows, 1, "", or)
}

func needs(p estimate.Problem, rows, unit float64, of string, or []string) string {
	text := "needs more rows"
	if rows > 0 && !math.IsInf(rows, 1) {
		unit = math.Max(unit, math.Pow(10, math.Floor(math.Log10(rows))-1))
		text = fmt.Sprintf("needs about %.0f rows%s at this epsilon", math.Ceil(rows/unit)*unit, of)
	}
	if p.Columns > 1 {
		or = append([]string{"fewer columns"}, or...)
	}
	if len(or) > 0 {
		text += "; or " + strings.Join(or, ", or ")
	}
	return text
}

// OfEqualWeight is an of of Needs.
func OfEqualWeight(k int) string { return fmt.Sprintf(" for %d components of about equal weight", k) }

// Refuse is the outcome of a fit that ends without a model.
func (r *Run) Refuse(format string, args ...any) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: r.Advice}, Diagnostics: r.Notes}
}

// Outsize is the outcome for an estimate that a model cannot hold.
func Outsize(notes estimate.Diagnostics) estimate.Outcome {
	return estimate.Outcome{Diagnostics: notes, NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the columns in other units"}}
}
