package gauze

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// statementSource is the template of a plan for a terminal.
//
//go:embed statement.txt
var statementSource string

// statementTemplate is parsed when a plan is first written.
var statementTemplate = sync.OnceValue(func() *fill.Set { return fill.Text("statement", statementSource, stated) })

// stated are the template's functions.
var stated = fill.Funcs{
	"about": upTo, "percent": func(x float64) string { return upTo(100*x) + " %" },
	"below": downTo, "lesspercent": func(x float64) string { return downTo(100*x) + " %" },
	"plural": words.Plural, "digits": digits, "join": strings.Join, "remark": remark, "share": share, "row": row,
	"commas":  func(x float64) string { return words.Digits(int(x)) },
	"hundred": func(x float64) float64 { return 100 * x },
	"rows":    func(x float64) string { return known("%.0f", x) },
	"ceil":    func(x float64) int { return int(math.Ceil(x)) },
}

// String returns the statement for a terminal: what to expect, what it costs, what is measured and
// the tables of measured errors.
func (s *Statement) String() string { return s.write("answers", "head", "details", "expect", "notes") }

// Summary returns the statement for a terminal without what is measured and the tables.
func (s *Statement) Summary() string { return s.write("answers", "head", "expect", "notes") }

// Purposes returns what would be measured by what it is for, each at most so often and for such a
// share: of Mu^2, or of epsilon where delta is 0.
func (s *Statement) Purposes() []release.Purpose {
	steps := make([]release.Purpose, len(s.Steps))
	for i, step := range s.Steps {
		steps[i] = release.Purpose{Text: step.Step, Count: step.Count, Share: step.Share}
	}
	return release.Purposes(s.Method, steps)
}

// write returns parts of the statement.
func (s *Statement) write(parts ...string) string {
	of := struct {
		*Statement
		Public, Compared, Groups bool
		Known                    []string
		Measured                 []release.Purpose
		Wide, WideCandidate      int
		Numbers                  int
		Example                  string
	}{
		Statement: s, Public: s.Relation == privacy.ReplaceOne.String(), Compared: s.problem.Components == 1 && s.Learner == nil,
		Groups: s.Accuracy != nil && len(s.Accuracy.RowsFor) > 1, Known: s.problem.Known(),
		Measured: s.Purposes(), Wide: len("what is measured"), WideCandidate: len("lower bound"), Numbers: s.problem.Columns, Example: s.example,
	}
	for _, purpose := range of.Measured {
		of.Wide = max(of.Wide, len(purpose.Text))
	}
	for _, c := range s.Candidates {
		of.WideCandidate = max(of.WideCandidate, len(c.Method))
	}
	var b strings.Builder
	for _, part := range parts {
		if err := statementTemplate().Execute(&b, part, of); err != nil {
			panic(err) // a strings.Builder never fails, and the fields that the template names exist
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// upTo and downTo return a number with two digits, rounded away from and towards 0.
func upTo(x float64) string   { return twoDigits(x, math.Ceil) }
func downTo(x float64) string { return twoDigits(x, math.Floor) }

func twoDigits(x float64, round func(float64) float64) string {
	if !(x > 0) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	whole := math.Round(x / unit)
	if math.Abs(x/unit-whole) > 1e-9 { // else it has two digits
		whole = round(x / unit)
	}
	return strconv.FormatFloat(whole*unit, 'g', 12, 64)
}

// row returns a line of the table of candidates, whose first column is wide characters wide.
func row(wide int, method, covariance, mean, relative, released, remark string) string {
	return strings.TrimRight(fmt.Sprintf("%-*s  %10s  %8s  %13s  %8s  %s", wide, method, covariance, mean, relative, released, remark), " ")
}

// share returns the part of a candidate's runs that ended in a model.
func share(c catalog.Candidate) string {
	if c.CovarianceError > 0 || c.HeavyCovarianceError > 0 {
		return fmt.Sprintf("%.0f%%", 100*c.Released)
	}
	return "-"
}

// remark returns the last column of a candidate.
func remark(c catalog.Candidate) string {
	var parts []string
	if c.Refused != "" {
		why, _, _ := strings.Cut(c.Refused, ": ")
		why, _, _ = strings.Cut(why, ", ")
		parts = append(parts, "no: "+why) // shortened; JSON has the rest
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

// digits returns a number with three digits; "-" for 0.
func digits(x float64) string { return known("%.3g", x) }

// known returns a number, or a dash for one that is not known.
func known(format string, x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf(format, x)
}
