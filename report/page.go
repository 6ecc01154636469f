package report

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// A page is the content of page.html, norelease.html and text.txt.
type page struct {
	Title, File    string
	Back           string // address; "" for none
	Style          fill.Raw
	Release        *release.Release // without a model if there is none
	Reason, Advice string           // why there is none
	Facts          []fact
	Verdict        []verdict
	Overall        *overallTable
	Noisy          string // Text about components whose numbers are noise; empty for none.
	Background     string // Text about the components that are not shown; empty for none.
	Marginals      []figure
	MarginalNote   string
	Pairs          []figure
	PairNote       string
	Components     []componentRow
	Largest        float64 // weight of a component
	Marked         bool    // One of the components has a flag.
	Columns        []columnRow
	Categories     []categoryTable
	Profile        []profileRow // of the columns beside the model
	Certificate    string
	whole          overall.Table
	Anchor         string // before the names of sections, if there are several models
}

// LeastBackground is the share of the rows from which on a background is reported.
const LeastBackground = overall.LeastBackground

// A fact is one line of the heading.
type fact struct{ Name, Value string }

// newPage returns all of a page but its pictures and the full certificate.
func newPage(r *release.Release, o Options) *page {
	parts := partsOf(r)
	p := &page{
		Back: o.Back, Title: clean(cmp.Or(o.Title, r.Title(), "Gauze release")), File: shellWord(clean(cmp.Or(o.File, "release.json"))), Style: fill.Raw(styleSource), Release: r,
		Facts: facts(r), Columns: columnRows(r), Background: backgroundText(r), Noisy: noisyText(r), Largest: largestWeight(parts),
	}
	whole := overall.Of(r)
	names := make([]string, len(whole.Columns))
	for j := range names {
		names[j] = shorten(columnName(r.Column(j).Called(), j), nameCells)
	}
	for _, q := range parts {
		n, called := note(r, q.index), ""
		if len(parts) > 1 {
			called = whole.Called(q.mean, names)
		}
		p.Components = append(p.Components, componentRow{n, q.index + 1, partClass(q.index) + hatch(q.index), called, q.weight})
		p.Marked = p.Marked || len(n.Flags) > 0
	}
	p.Categories, p.Profile = categoryTables(r, parts), profileRows(r, "p")
	p.whole = whole
	p.Verdict, p.Overall = judge(r, whole, p.Components), newOverall(r, whole)
	return p
}

//go:embed *.txt
var textFiles embed.FS

// says holds the templates that are not HTML, by the names of their files.
var says = sync.OnceValue(func() *fill.Set { return fill.Files(textFiles, "*.txt", said) })

// facts returns the heading: the lines of facts.txt, for a release or none.
func facts(r *release.Release) (out []fact) {
	of := struct {
		*release.Release
		Groups, Background int
		Faint              int     // components that describe groups of rows, and are not shown
		Share              float64 // of the background
	}{Release: r}
	if r.Model != nil {
		groups, background := r.Model.Split()
		of.Groups, of.Background = len(partsOf(r)), len(background)
		of.Faint = len(groups) - of.Groups
		if _, of.Share = r.Model.WithoutBackground(); of.Share < LeastBackground {
			of.Background = 0
		}
	}
	var b strings.Builder
	if err := says().Execute(&b, "facts.txt", of); err != nil {
		panic(err) // a strings.Builder never fails, and the fields that the template names exist
	}
	for line := range strings.Lines(b.String()) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out = append(out, fact{name, value})
	}
	return out
}

// said are the templates' functions on releases.
var said = fill.Funcs{
	"bar": bar, "listed": listed, "blocks": blocks, "clean": clean, "digits": words.Digits, "direction": directionText, "join": strings.Join, "measured": measured, "name": columnName,
	"noisy": noisyShare, "number": number, "percent": percent, "plural": words.Plural, "renyi": renyiText, "rows": rows, "seen": seen, "share": shareOf,
	"shorten": shorten, "spent": spentRows, "texts": flags.Texts[string], "total": totalOf, "weight": weightText,
	// What stands behind a point and is no field.
	"Bare": (*release.Release).Bare, "CovarianceType": (*model.Mixture).CovarianceType, "Dim": (*model.Mixture).Dim, "Error": error.Error, "Plain": release.Certificate.Plain,
	"faults": func(r *release.Release) []error {
		if r.Bare() {
			return nil
		}
		return release.Verify(r)
	},
	"format": func() string { return release.Format },
	"scaled": func(r *release.Release, i int) string { return columnName(scaled(r, i), i) },
	"sd":     func(c *release.Core, i int) float64 { return math.Sqrt(c.Covariance[i][i]) },
	"half":   func(x float64) float64 { return x / 2 }, // the noise of an sd is half that of a variance, relatively
}

func (p *page) drawMarginals(r *release.Release, parts []part, most int) {
	d := r.Model.Dim()
	for j := range min(d, most) {
		p.Marginals = append(p.Marginals, marginalPicture(r, parts, j))
	}
	if d > most {
		p.MarginalNote = fmt.Sprintf("The first %d of %s are drawn.", most, words.Plural(d, "column"))
	}
}

func (p *page) drawPairs(r *release.Release, parts []part, most int) {
	pairs, of := pairsOf(parts, r.Model.Dim(), most)
	for _, at := range pairs {
		p.Pairs = append(p.Pairs, pairPicture(r, parts, at, p.whole.Correlations[at.a][at.b].Value))
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

// indented returns v as JSON for a reader.
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
