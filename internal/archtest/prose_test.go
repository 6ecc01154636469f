package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What people read, by kind. Pages for maintainers and reviewers of proofs are not among it.
var prose = map[string][]string{
	"documents": {"README.md", "SECURITY.md", "docs/CUSTODIAN.md", "docs/SOURCES.md", "docs/SERVER.md", "docs/PRIVACY.md", "docs/LEDGER.md", "docs/METHODS.md", "docs/FORMAT.md", "python/README.md", "python/TUTORIAL.md"},
	"help":      {"cmd/gauze/help"},
	"report":    {"report", "release/plain.txt", "statement.txt"},
	"pages":     {"server/pages/html"},
	"hints":     {"cmd/gauze", "source", "ledger", "server/service", "server/ask", "."},
}

// leastEase is the Flesch reading ease that no kind of text may fall below: 60 and more is plain
// English, 30 to 50 that of papers. Each lies two to four points below what was measured when it
// was set.
var leastEase = map[string]float64{"documents": 73, "help": 71, "report": 75, "pages": 88, "hints": 80}

// TestReadingEase: texts that people read stay as easy to read as they are; -v prints the figures.
func TestReadingEase(t *testing.T) {
	for kind := range prose {
		text := ""
		for name, one := range texts(t, kind) {
			if kind == "documents" {
				t.Logf("%-24s %5.1f", name, ease(one))
			}
			text += one + "\n\n"
		}
		got := ease(text)
		t.Logf("%-10s Flesch %.1f over %d words", kind, got, len(strings.Fields(text)))
		if got < leastEase[kind] {
			t.Errorf("%s: reading ease %.1f, at least %g is wanted: shorter sentences, shorter words", kind, got, leastEase[kind])
		}
	}
	hard := "The differentially private characterization necessitates simultaneous consideration of distributional heterogeneity and instrumentational idiosyncrasies notwithstanding computational infeasibility."
	if got, easy := ease(hard), ease("The cat sat on the mat. It was warm."); got > 0 || easy < 90 {
		t.Errorf("the measure does not tell hard from easy: %.0f and %.0f", got, easy)
	}
}

// gone are words and sentences of the house's own that have a plain term now; what is said in their
// place stands beside each.
var gone = map[string]string{
	`nobody counts what`:                       "no ledger: the total privacy spent is not tracked",
	`values of "[^"]*" come back`:              "repeats",
	`carried over from the coarse start`:       "too few rows to trust this group's spread",
	`rows are not of a Gaussian's shape`:       "not bell-shaped",
	`as far as the noise goes`:                 "privacy noise shifts ..",
	`stands? for nobody`:                       "no synthetic row is a real person",
	`not described: none seen`:                 "up to .. of the rows may be missing from the model",
	`who answers for that says`:                "a separate signature shows who vouches for it",
	`no worse than if`:                         "with chance delta the limit may not hold",
	`nats per row`:                             "(leave it out)",
	`the total is never exceeded`:              "upper limits per step; they do not add up",
	`ninth decile`:                             "bad case",
	`for a method that is pure`:                "only with the methods ..",
	`mostly refused, with the rows`:            "they usually need too many rows",
	`can be and are called stands?`:            "a schema lists the columns and their limits",
	`has no group to be found in`:              "leave out identifiers",
	`yours by accident`:                        "check that names give nothing confidential away",
	`what protects rows says nothing`:          "this table has several rows per person",
	`should the whole be put back`:             "--head detects a restored old copy",
	`rows do not speak for more`:               "one group found",
	`\bto mend\b|\bthe mends\b`:                "to fix, remedies",
	`\b(hazy|feigned|stagezero|allotments?)\b`: "the field's term",
	`however many rows a person has, she`:      "they",
}

// TestGlossary: words that were replaced do not come back in what people read.
func TestGlossary(t *testing.T) {
	for kind := range prose {
		for name, text := range texts(t, kind) {
			for pattern, say := range gone {
				if found := regexp.MustCompile(`(?i)` + pattern).FindString(text); found != "" {
					t.Errorf("%s: %q; say: %s", name, found, say)
				}
			}
		}
	}
}

// texts returns the prose of a kind by file: without code, tables' bars, tags and templates.
func texts(t *testing.T, kind string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, place := range prose[kind] {
		place = filepath.Join("..", "..", place)
		err := filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && kind == "hints" && path != place {
					return fs.SkipDir
				}
				return err
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			switch end := filepath.Ext(path); {
			case kind == "hints" && end == ".go" && !strings.HasSuffix(path, "_test.go"):
				out[name] = sentences(t, path)
			case kind == "hints" || strings.Contains(path, "testdata"):
			case end == ".md":
				out[name] = ofMarkdown(string(body))
			case end == ".txt" || end == ".html":
				out[name] = ofTemplate(string(body))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var (
	fenced    = regexp.MustCompile("(?s)```.*?```")
	indented  = regexp.MustCompile(`(?m)^(    |\t).*$|^  (gauze|./gauze) .*$`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
	link      = regexp.MustCompile(`\]\([^)]*\)|<!--(?s:.*?)-->`)
	tableLine = regexp.MustCompile(`(?m)^\s*\|.*$`)
	template  = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	tag       = regexp.MustCompile(`(?s)<[^>]*>`)
	blockTag  = regexp.MustCompile(`(?i)</?(p|li|h\d|div|dt|dd|th|td|tr|label|button|option|summary|title|figcaption)[^>]*>`)
	verb      = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)
)

func ofMarkdown(s string) string {
	for _, cut := range []*regexp.Regexp{fenced, indented, tableLine} {
		s = cut.ReplaceAllString(s, "\n")
	}
	return link.ReplaceAllString(codeSpan.ReplaceAllString(s, "it"), "")
}

func ofTemplate(s string) string {
	s = indented.ReplaceAllString(template.ReplaceAllString(s, " it "), "\n")
	return tag.ReplaceAllString(blockTag.ReplaceAllString(s, "\n\n"), " ")
}

// sentences returns the texts of a source file that read as sentences: errors, hints and notes.
func sentences(t *testing.T, path string) string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err == nil && len(strings.Fields(text)) >= fewestWords && !strings.Contains(text, "SELECT") && !strings.Contains(text, "INSERT") {
			out = append(out, verb.ReplaceAllString(text, "it"))
		}
		return true
	})
	return strings.Join(out, "\n\n")
}

var (
	ends   = regexp.MustCompile(`[.!?](\s|$)|\n\s*\n|\n\s*[-*#]`)
	letter = regexp.MustCompile(`[A-Za-z][A-Za-z']*`)
	vowels = regexp.MustCompile(`[aeiouy]+`)
)

// ease is Flesch's reading ease: 206.835 - 1.015 words/sentences - 84.6 syllables/words.
func ease(text string) float64 {
	count, syllables, phrases := 0., 0., 0.
	for _, phrase := range ends.Split(text, -1) {
		found := letter.FindAllString(phrase, -1)
		if len(found) < fewestWords { // a label
			continue
		}
		phrases++
		for _, w := range found {
			count++
			syllables += syllablesOf(strings.ToLower(w))
		}
	}
	return 206.835 - 1.015*count/phrases - 84.6*syllables/count
}

// fewestWords of a sentence.
const fewestWords = 5

// syllablesOf counts runs of vowels, of which an e at the end is mostly silent.
func syllablesOf(w string) float64 {
	n := len(vowels.FindAllString(w, -1))
	if n > 1 && strings.HasSuffix(w, "e") && !strings.HasSuffix(w, "le") || n > 1 && strings.HasSuffix(w, "es") && !strings.HasSuffix(w, "ses") || n > 1 && strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "ted") && !strings.HasSuffix(w, "ded") {
		n--
	}
	return float64(max(1, n))
}
