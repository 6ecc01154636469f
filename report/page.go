package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/release"
)

// A page is what page.html shows, top to bottom.
type page struct {
	Title, File  string
	Style        template.CSS
	Facts        []fact
	Bare         bool
	Simulated    bool
	Faults       []string
	Plain        []release.Statement
	Noisy        string // What is said of components whose numbers are noise; empty for none.
	Background   string // What is said of the components that are not shown; empty for none.
	Many         bool   // More than one component is drawn.
	Crowded      bool   // So many are drawn that pictures of pairs should be large.
	Marginals    []figure
	MarginalNote string
	Pairs        []figure
	PairNote     string
	Components   []componentRow
	Marked       bool // One of them has a flag.
	Columns      []columnRow
	Budget       []budgetRow
	BudgetNote   string
	Spent        []spentRow
	Certificate  string
	Format       string

	Flags        []string
	Left, Beyond string // what share of the rows the model leaves out, and where they are
	LeftColumns  []undescribedRow
	Notes        []string
	Unresolved   []unresolved
	Constant     []string
}

// A fact is one line of the heading.
type fact struct{ Name, Value string }

// newPage says all of a release but its pictures and its certificate whole.
func newPage(r *release.Release, o Options) *page {
	parts := partsOf(r)
	p := &page{
		Title: clean(cmp.Or(o.Title, "Gauze release")), File: shellWord(clean(cmp.Or(o.File, "release.json"))), Style: template.CSS(styleSource), Facts: facts(r), Bare: r.Bare(),
		Simulated: r.Certificate.Simulated, Many: len(parts) > 1, Crowded: len(parts) > 10, Components: componentRows(r),
		Columns: columnRows(r), Format: release.Format, Background: backgroundText(r), Noisy: noisyText(r),
		Flags: cleanAll(r.Diagnostics.Flags), Notes: cleanAll(r.Diagnostics.Notes), Constant: cleanAll(r.Diagnostics.ConstantColumns),
		Unresolved: unresolvedRows(r),
	}
	p.Marked = slices.ContainsFunc(p.Components, func(c componentRow) bool { return len(c.Flags) > 0 })
	p.Left, p.Beyond, p.LeftColumns = undescribedText(r)
	if !p.Bare {
		p.certify(r)
	}
	return p
}

// certify fills what the certificate says.
func (p *page) certify(r *release.Release) {
	for _, s := range r.Certificate.Plain() {
		p.Plain = append(p.Plain, release.Statement{Heading: clean(s.Heading), Text: clean(s.Text)})
	}
	for _, fault := range release.Verify(r) {
		p.Faults = append(p.Faults, clean(fault.Error()))
	}
	p.Budget, p.BudgetNote = budgetRows(r.Certificate)
	p.Spent = spentRows(r.Certificate)
}

func facts(r *release.Release) []fact {
	m, c := r.Model, r.Certificate
	out := []fact{{"method", orNone(clean(c.Method))}, {"n", rowsText(r)}}
	if !r.Bare() {
		out = append(out, budgetFacts(c)...)
	}
	if c.Constants != "" {
		out = append(out, fact{"constants", "those that the paper prints"})
	}
	if l := c.Learner; l != nil {
		out = append(out, fact{"learner", learnerText(l)})
	}
	groups, background := m.Split()
	out = append(out, fact{"model", fmt.Sprintf("%s over %s, %s", words.Plural(len(groups), "component"), words.Plural(m.Dim(), "column"), m.CovarianceType())})
	if background != nil {
		_, share := m.WithoutBackground()
		out = append(out, fact{"background", percent(share)})
	}
	if share, _, _ := undescribedText(r); share != "" {
		out = append(out, fact{"not described", share})
	}
	return out
}

// learnerText names what ran on blocks of rows.
func learnerText(l *release.Learner) string {
	text := clean(l.Name)
	if l.Name == release.OwnLearner {
		text = "own (not part of Gauze)"
	}
	if l.Trim > 0 {
		text += ", trims " + percent(l.Trim)
	}
	return text
}

func budgetFacts(c release.Certificate) []fact {
	out := []fact{{"ε", number(c.Epsilon, 4)}, {"δ", number(c.Delta, 4)}}
	if c.Epsilon == 0 && c.Rho > 0 {
		out = []fact{{"ρ (zCDP)", number(c.Rho, 4)}}
	}
	return append(out, fact{"relation", clean(c.Relation)}, fact{"schema", clean(c.Schema)})
}

func rowsText(r *release.Release) string {
	switch {
	case r.Bare():
		return "unknown"
	case r.Certificate.Rows == nil:
		return "private"
	}
	return words.Digits(*r.Certificate.Rows)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (p *page) drawMarginals(r *release.Release, parts []part, most int) {
	d := r.Model.Dim()
	for j := range min(d, most) {
		p.Marginals = append(p.Marginals, marginalPicture(r.Model, parts, j))
	}
	if d > most {
		p.MarginalNote = fmt.Sprintf("The first %d of %s are drawn.", most, words.Plural(d, "column"))
	}
}

func (p *page) drawPairs(r *release.Release, parts []part, most int) {
	pairs, of := pairsOf(parts, r.Model.Dim(), most)
	for _, at := range pairs {
		p.Pairs = append(p.Pairs, pairPicture(r.Model, parts, at))
	}
	switch {
	case r.Model.Dim() == 1:
		p.PairNote = "One column makes no pairs."
	case of == 0:
		p.PairNote = "Fewer than two columns have a spread: there is no pair to draw."
	case len(pairs) < of:
		p.PairNote = fmt.Sprintf("Of %s the %d most telling are drawn: those with the largest correlation or separation, the larger of the two deciding.", words.Plural(of, "pair"), len(pairs))
	default:
		p.PairNote = "All pairs of columns with a spread are drawn."
	}
}

// indented is v as JSON for a reader.
func indented(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("certificate: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}

func cleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = clean(s)
	}
	return out
}
