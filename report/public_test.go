package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// TestPublicFacts: a page is called as its release is, and columns as people call them, whatever
// that holds; pictures end where values do.
func TestPublicFacts(t *testing.T) {
	r, least := typical(t), 0.
	r.Identity = &release.Identity{Title: "Heights & <weights>", Dataset: "clinic\n2026", Created: "2026-02-03", Program: "gauze 1.2.3 (abc)"}
	for _, name := range r.Model.Columns {
		r.Columns = append(r.Columns, release.Column{Name: name})
	}
	r.Columns[0].AtLeast, r.Columns[0].Label, r.Columns[0].UnitOfMeasure = &least, "Ag<e", "years"
	r.Keep()
	var page, text bytes.Buffer
	if err := HTML(&page, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>Heights &amp; &lt;weights&gt;</title>", "clinic\uFFFD2026", "2026-02-03", "gauze 1.2.3 (abc)", "Ag&lt;e (years)",
		"<bdi>Ag&lt;e (years), column " + r.Model.Columns[0] + "</bdi>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, fault := range release.Verify(r) {
		if !strings.Contains(fault.Error(), "shapes of its queries") { // made up, they have none
			t.Error(fault)
		}
	}
	if got := text.String(); !strings.Contains(got, "Ag<e (years)") || !strings.HasPrefix(got, "data set clinic") {
		t.Errorf("the text: %s", got)
	}
}
