package report

import (
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/report/overall"
)

// TestChecklist: what a board that signs a page, and whoever reads it afterwards, has to find, on
// the text and the elements of a page.
func TestChecklist(t *testing.T) {
	r := typical(t)
	page := htmlOf(t, r, Options{})
	text := html.UnescapeString(regexp.MustCompile(`<[^>]+>`).ReplaceAllString(page[strings.Index(page, "<body>"):], ""))

	t.Run("the page to sign comes first, in order", func(t *testing.T) {
		at := -1
		for _, part := range []string{`class="facts"`, `id="promise"`, "How strong it is.", "factor of at most e^epsilon", "What was learned", "What can be trusted", "What cannot", `id="sign"`, "Purpose of the release",
			"<dt>Signature</dt>", `id="overall"`, `id="components"`, `id="plain"`, `id="appendix"`, `id="certificate"`} {
			next := strings.Index(page, part)
			if next <= at {
				t.Errorf("%q is at %d, after %d", part, next, at)
			}
			at = next
		}
		if strings.Count(text, "factor of at most e^epsilon") != 1 {
			t.Error("how strong the promise is stands there more than once")
		}
	})
	t.Run("what is pointed to is where it is said to be", func(t *testing.T) {
		if !strings.Contains(text, "The privacy limit above holds") || strings.Contains(text, "The privacy limit below") {
			t.Error("the privacy limit is looked for below, and stands above")
		}
	})
	t.Run("names break between words on small screens, and print has margins", func(t *testing.T) {
		for _, rule := range []string{"min-width: min(6rem, 22vw); max-width: 11rem; white-space: normal; overflow-wrap: break-word", "@page { margin: 15mm; }", "td.share { white-space: nowrap; }"} {
			if !strings.Contains(page, rule) {
				t.Errorf("the style lacks %q", rule)
			}
		}
	})
	t.Run("one correlation of a pair", func(t *testing.T) {
		if strings.Contains(text, "|correlation|") {
			t.Error("a caption has a correlation without a sign, of the components that are drawn")
		}
		whole := overall.Of(r)
		want := "correlation " + withMinus(strconv.FormatFloat(math.Round(100*whole.Correlations[0][1].Value)/100, 'f', 2, 64))
		if !strings.Contains(text, want) {
			t.Errorf("no caption has %q, as the table has it", want)
		}
	})
	t.Run("one word for components, and one number of them", func(t *testing.T) {
		body := text[:strings.Index(text, "More about the promise")]
		if found := regexp.MustCompile(`\b\d+ groups?\b`).FindAllString(body, -1); found != nil {
			t.Errorf("components are called groups: %q", found)
		}
		counts := map[string]bool{}
		for _, m := range regexp.MustCompile(`(\d+) components over`).FindAllStringSubmatch(body, -1) {
			counts[m[1]] = true
		}
		if len(counts) != 1 {
			t.Errorf("numbers of components: %v", counts)
		}
	})
	t.Run("two chances are told apart", func(t *testing.T) {
		if !strings.Contains(text, "That is less than the") {
			t.Error("nobody says why one limit lies below the other")
		}
	})
	t.Run("print and small screens", func(t *testing.T) {
		print := styleSource[strings.LastIndex(styleSource, "@media print"):]
		for _, want := range []string{".scroll:has(table), #sign { break-inside: avoid; }", "#sign { break-after: page; }"} {
			if !strings.Contains(print, want) {
				t.Errorf("in print lacks %q", want)
			}
		}
		scroll := styleSource[strings.Index(styleSource, "\n.scroll {"):]
		if scroll = scroll[:strings.Index(scroll, "}")]; !strings.Contains(scroll, "overflow-x: auto") || !strings.Contains(scroll, "local") {
			t.Error("a table that scrolls does not show that there is more")
		}
		caption := styleSource[strings.Index(styleSource, "figcaption {"):]
		if caption = caption[:strings.Index(caption, "}")]; strings.Contains(caption, "hidden") {
			t.Error("captions are cut")
		}
	})
}
