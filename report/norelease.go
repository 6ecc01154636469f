package report

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"

	"github.com/gauze-dp/gauze/release"
)

// A NoRelease is a fit that ended without a model. All of it may be published.
type NoRelease struct {
	Reason, Advice string              // Reason is required.
	Certificate    release.Certificate // What was asked, and what was measured all the same.
}

//go:embed norelease.html
var noReleaseSource string

//go:embed budget.html
var budgetSource string

//go:embed head.html
var headSource string

//go:embed svg.html
var pictureSource string

//go:embed model.html
var modelSource string

//go:embed diagnostics.html
var diagnosticsSource string

var noReleaseTemplate = parsed("norelease", noReleaseSource)

// parsed parses a page, with the head and the tables of the budget that all pages show.
func parsed(name, source string) *template.Template {
	page := template.Must(template.New(name).Funcs(said).Parse(source))
	template.Must(page.New("head.html").Parse(headSource))
	template.Must(page.New("budget.html").Parse(budgetSource))
	template.Must(page.New("model.html").Parse(modelSource))
	template.Must(page.New("diagnostics.html").Parse(diagnosticsSource))
	template.Must(page.New("overall.html").Parse(overallSource))
	template.Must(page.New("svg.html").Parse(pictureSource))
	return page
}

// HTMLNoRelease writes a page like HTML's for a fit that ended without a model: why, what would
// help, and what was spent. It fails if there is no reason, or if w fails.
func HTMLNoRelease(w io.Writer, n NoRelease, o Options) error {
	if n.Reason == "" {
		return errors.New("report: NoRelease.Reason: wanted why there is no model, got none; take that of the fit's result")
	}
	r := &release.Release{Certificate: n.Certificate}
	p := &page{Title: clean(cmp.Or(o.Title, "No release")), Style: template.CSS(styleSource), Release: r, Facts: facts(r), Reason: clean(n.Reason), Advice: clean(n.Advice)}
	if err := noReleaseTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
