package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page of a fit without a release says why and what was spent, and is as closed as that of a
// release.
func TestNoReleasePage(t *testing.T) {
	n := NoRelease{Reason: "the estimates of 40 blocks do not agree on 2 components", Advice: "needs about 20,000 rows", Certificate: masked(t).Certificate}
	html := func(n NoRelease) string {
		var b bytes.Buffer
		if err := HTMLNoRelease(&b, n, Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := html(n)
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, "norelease.html"), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkClosed(t, page)
	for _, want := range []string{"<h1>No release</h1>", n.Reason, "What would help: needs about 20,000 rows.", "Its cost is spent", "own (not part of Gauze)",
		"mask, gamma = 0.03, eta = 0.2, dimension 4: Rényi curve of", "of the steps without a Rényi curve", "<td class=\"n\">0.946259</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the page", want)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "ZgotmplZ", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q: %s", bad, around20(page, bad))
		}
	}
	n.Reason, n.Certificate = script, hostile(t).Certificate
	checkClosed(t, html(n))
	if err := HTMLNoRelease(&bytes.Buffer{}, NoRelease{}, Options{}); err == nil {
		t.Error("a page without a reason was written")
	}
}

// The page of a release with a mask says what its line costs.
func TestMaskedPage(t *testing.T) {
	page := htmlOf(t, masked(t), Options{})
	for _, want := range []string{"mask, gamma = 0.03, eta = 0.2, dimension 4: Rényi curve of", "nats at order 2</td>", "converted to ε and δ as one",
		"<dt>learner</dt><dd>own (not part of Gauze)</dd>", "provided by whoever made this release"} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the page", want)
		}
	}
	if strings.Contains(page, "contradicts itself") {
		t.Error("a consistent release is said not to be")
	}
}
