package cite

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// Every key is known, every reference is used, every tag stands in a doc comment.
func TestCitations(t *testing.T) {
	cited, faults := Collect(root)
	for _, f := range append(faults, Check(cited, references(t))...) {
		t.Error(f)
	}
	if len(cited.Tags) < 30 {
		t.Errorf("only %d tags were found: the collector is broken", len(cited.Tags))
	}
}

func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := Generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./internal/cite", name)
		}
	}
}

// Each source has a page that says what it proves, what is implemented and what is not.
func TestPages(t *testing.T) {
	for _, key := range append([]string{"TYLERPRESS"}, Sources...) {
		text := read(t, "papers/"+key+".md")
		for _, heading := range []string{"## What", "## Not yet"} {
			if !strings.Contains(text, heading) {
				t.Errorf("papers/%s.md: wanted a heading %q", key, heading)
			}
		}
	}
}

// restated are the keys whose sections, in tags and in the plans' steps, are those of the page in
// papers/ and not of a publication.
var restated = map[string]*regexp.Regexp{
	"TYLERPRESS": regexp.MustCompile(`\[?TYLERPRESS\]?,? Sections? ((?:[0-9.]+(?:, | and )?)+)`),
	"BDKU20":     regexp.MustCompile(`\[?BDKU20\]?,? Sections? ((?:[0-9.]+(?:, | and )?)+)`),
	"KSSU19":     regexp.MustCompile(`\[?KSSU19\]?(?:,? Sections? | restatement )((?:[A-F](?:\.[0-9]+)?(?:, | and )?)+)`),
}

// The plans' steps and the methods name their source in strings, which end up in certificates.
func TestSourcesInStrings(t *testing.T) {
	known := map[string]bool{}
	for _, r := range references(t) {
		known[r.Key] = true
	}
	found := 0
	eachGoFile(t, func(name, text string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, m := range regexp.MustCompile(`"([A-Z]{2,}[0-9]*) (?:Section|Algorithm|Theorem|Lemma)`).FindAllStringSubmatch(text, -1) {
			found++
			if m[1] != "KEY" && !known[m[1]] { // comments say "KEY Section"
				t.Errorf("%s: %s is not a key of papers/refs.bib", name, m[1])
			}
		}
	})
	if found < 5 {
		t.Errorf("only %d sources were found: the pattern is broken", found)
	}
}

// A section that the code names is on the page.
func TestSectionsExist(t *testing.T) {
	number := regexp.MustCompile(`[A-F](?:\.[0-9]+)?|[0-9]+(?:\.[0-9])?`)
	for key, pattern := range restated {
		page := read(t, "papers/"+key+".md")
		found := 0
		eachGoFile(t, func(name, text string) {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				for _, section := range number.FindAllString(m[1], -1) {
					found++
					if !regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(section) + `\.? `).MatchString(page) {
						t.Errorf("%s names %s Section %s, which is no heading of papers/%s.md", name, key, section, key)
					}
				}
			}
		})
		if found < 10 {
			t.Errorf("%s: only %d sections were found: the pattern is broken", key, found)
		}
	}
}

// labels are the numbered parts of a source that tags name.
var labels = regexp.MustCompile(`(Algorithm|Lemma|Proposition|Theorem|Corollary|Definition|Appendix|Section)s? ((?:[A-Z][0-9]*\b|[0-9])[0-9.]*(?:(?:, | and )(?:[A-Z][0-9]*\b|[0-9])[0-9.]*)*)`)

// unresolved returns the parts that a tag names and neither the page's text nor the list of
// statements has: a section has to be a heading, other parts may stand anywhere.
func unresolved(t Tag, page string, listed map[string]bool) (missing []string) {
	for _, m := range labels.FindAllStringSubmatch(t.Part, -1) {
		for _, n := range regexp.MustCompile(`, | and `).Split(m[2], -1) {
			n = strings.TrimSuffix(n, ".")
			name := m[1] + " " + n
			heading := regexp.MustCompile(`(?m)^#+ (?:.*[^\w.])?` + regexp.QuoteMeta(n) + `(?:\.? |:|,|$)`).MatchString(page)
			if !heading && !listed[name] && (m[1] == "Section" || !strings.Contains(page, name)) {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

// Whatever part of a source a tag names is on the source's page, or in the list of its statements.
func TestTagsResolve(t *testing.T) {
	cited, _ := Collect(root)
	statements, err := ReadStatements(root)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]map[string]bool{}
	for _, s := range statements {
		if listed[s.Key] == nil {
			listed[s.Key] = map[string]bool{}
		}
		listed[s.Key][s.Part] = true
	}
	for _, tag := range append(cited.Tags, cited.Shows...) {
		if !slices.Contains(Sources, tag.Key) {
			continue
		}
		for _, part := range unresolved(tag, read(t, "papers/"+tag.Key+".md"), listed[tag.Key]) {
			t.Errorf("%s: %s names %s %s, which neither papers/%s.md nor papers/statements.csv has", tag.File, tag.Symbol, tag.Key, part, tag.Key)
		}
	}
	page := "### 6.3 Rounds\nTheorem 27 of others\n"
	for part, want := range map[string]int{"Section 6.3": 0, "Section 6": 1, "Theorem 27": 0, "Lemmas A.1 and B.6": 2, "Lemma 4 (a); Section 6.31 of the restatement": 1} {
		if got := unresolved(Tag{Part: part}, page, map[string]bool{"Lemma 4": true}); len(got) != want {
			t.Errorf("%s: got %q, want %d", part, got, want)
		}
	}
}

func TestParseDoc(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		want      []Tag
		fails     bool
	}{
		{"none", "Foo is a thing.\n\nIts Source: of light.\n", nil, false},
		{"one", "Foo.\n\nSource: [ABC19] Algorithm 3.\n", []Tag{{Key: "ABC19", Part: "Algorithm 3"}}, false},
		{"whole", "Source: [ABC19].\n", []Tag{{Key: "ABC19"}}, false},
		{"two", "Source: [ABC19] Lemma 1; accuracy Lemma 2; noise [XY] 4.\n",
			[]Tag{{Key: "ABC19", Part: "Lemma 1; accuracy Lemma 2"}, {Key: "XY", Part: "noise: 4"}}, false},
		{"differs", "Source: [ABC19] Lemma 1.\nDiffers: twice\nthe noise.\n", []Tag{{Key: "ABC19", Part: "Lemma 1", Differs: "twice the noise"}}, false},
		{"differs on the line", "Source: [ABC19] Lemma 1. Differs: not.\n", []Tag{{Key: "ABC19", Part: "Lemma 1", Differs: "not"}}, false},
		{"differs apart", "Source: [ABC19].\n\nDiffers: not.\n", []Tag{{Key: "ABC19", Differs: "not"}}, false},
		{"example", "Write\n\n\tSource: [ABC19].\n", nil, false},
		{"no key", "Source: folklore.\n", nil, true},
		{"two keys in one part", "Source: [ABC19] and [XY].\n", nil, true},
		{"differs from nothing", "Differs: much.\n", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseDoc(c.doc)
			if (err != nil) != c.fails {
				t.Fatalf("error %v", err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %+v, want %+v", got[i], c.want[i])
				}
			}
		})
	}
}

// Every numbered statement of the sources has code, a test, or a reason why it has none.
func TestStatements(t *testing.T) {
	statements, err := ReadStatements(root)
	if err != nil || len(statements) < 100 {
		t.Fatalf("%d statements, %v", len(statements), err)
	}
	cited, _ := Collect(root)
	if err := CheckStatements(statements, cited); err != nil {
		t.Error(err)
	}
	mutants, err := ReadMutants(root)
	if err != nil || len(mutants) == 0 {
		t.Fatalf("%d mutants, %v", len(mutants), err)
	}
	if err := CheckMutants(root, mutants, statements); err != nil {
		t.Error(err)
	}
	for _, s := range statements { // what a method runs is not shown by a test that no change of the code fails
		if s.of(cited.Tags) != nil && s.of(cited.Shows) != nil && s.shownBy([]string{"test"}, mutants) != "test" {
			t.Errorf("%s %s has code and a test, and no mutant in %s that dies", s.Key, s.Part, MutantsFile)
		}
	}
}

// The list and the tags fit: nothing without code, test or reason, no reason beside a test, no test
// of what is not listed.
func TestCheckStatements(t *testing.T) {
	list := []Statement{{Key: "AB12", Part: "Lemma 1"}, {Key: "AB12", Part: "Lemma C.7"}, {Key: "AB12", Part: "Lemma 3", LeftOut: "long"}, {Key: "AB12", Part: "Fact 4"}}
	code := []Tag{{Key: "AB12", Part: "Lemma 1 (its sum); Section 2 of the restatement"}, {Key: "CD34", Part: "Fact 4"}}
	for _, c := range []struct {
		shown []Tag
		want  []string
	}{
		{[]Tag{{Key: "AB12", Part: "Lemmas C.7 and C.8, Fact 4"}}, []string{"shows Lemma C.8"}},
		{[]Tag{{Key: "AB12", Part: "Lemmas 3, C.7"}, {Key: "XY99", Part: "Lemma 9"}}, []string{"Lemma 3 is left out", "Fact 4: no symbol"}},
	} {
		got := CheckStatements(list, Citations{Tags: code, Shows: c.shown})
		if got == nil || len(strings.Split(got.Error(), "\n")) != len(c.want) {
			t.Fatalf("got %v, want %q", got, c.want)
		}
		for _, w := range c.want {
			if !strings.Contains(got.Error(), w) {
				t.Errorf("got %v, want %q", got, w)
			}
		}
	}
}

func TestParseShows(t *testing.T) {
	got, err := parseShows("TestIt tests.\n\nShows: [AB12] Lemma 1; Theorem 2. It may\n")
	if err != nil || len(got) != 1 || got[0].Key != "AB12" || !slices.Equal(got[0].named(), []string{"Lemma 1", "Theorem 2"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := parseShows("Shows: a lemma.\n"); err == nil {
		t.Error("accepted a tag without a key")
	}
}

const sample = `// Package p is a package.
//
// Source: [AB12].
package p

// T is a type.
//
// Source: [AB12] Definition 1.
type T struct{}

// M is a method.
//
// Source: [AB12] Algorithm 2.
func (t *T) M() {
	// Source: [AB12] Algorithm 3.
}

// Constants.
//
// Source: [CD34].
const (
	a = 1
	b = 2
)
`

func TestCollectFile(t *testing.T) {
	c := Citations{Mentions: map[string][]string{}}
	faults := c.collectFile("x/p/f.go", []byte(sample))
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "x/p/f.go:15: a tag outside a doc comment") {
		t.Errorf("faults %v, want one about line 15", faults)
	}
	var got []string
	for _, tag := range c.Tags {
		got = append(got, tag.Key+" "+tag.qualified()+" "+tag.File)
	}
	want := "AB12 x/p x/p/f.go|AB12 x/p.T x/p/f.go|AB12 x/p.T.M x/p/f.go|CD34 x/p.a x/p/f.go"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// Rows are in the source's own order: numbers as numbers, a whole algorithm before its steps, the
// restatement after the source, and what runs as printed first.
func TestOrder(t *testing.T) {
	literal := []string{"Algorithm 1", "Algorithm 2; Section B.10 of the restatement", "Algorithm 2 (step 3)", "Algorithm 10", "Lemma 4.2",
		"Theorem 1.6", "Theorem A.1", "Section 5", "Section B.4 of the restatement", "Section B.11 of the restatement", "A zero eigenvalue", ""}
	var want []Tag
	for _, part := range literal {
		want = append(want, Tag{Key: "KSSU19", Part: part, File: "literal/kssu19/a.go"})
	}
	want = append(want, Tag{Key: "KSSU19", Part: "Algorithm 1", File: "kernel/a.go"}, Tag{Key: "AB12", Part: "Algorithm 1", File: "literal/kssu19/a.go"})
	got := slices.Clone(want)
	slices.Reverse(got)
	order(got, []Reference{{Key: "KSSU19"}, {Key: "AB12"}})
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if n := len(literal); want[n].Literal() || want[n+1].Literal() || !want[0].Literal() {
		t.Error("literal is what runs as its own source prints it")
	}
}

func TestCheck(t *testing.T) {
	var refs []Reference
	for _, key := range append([]string{"AB12", "UNUSED1"}, Sources...) {
		refs = append(refs, Reference{Key: key})
	}
	c := Citations{Tags: []Tag{{Key: "AB12"}, {Key: "ZZ99"}}, Mentions: map[string][]string{"YY88": {"f.go:1"}}}
	if faults := Check(c, refs); len(faults) != 3 {
		t.Errorf("got %v, want faults about ZZ99, YY88 and UNUSED1", faults)
	}
}

func TestParseBib(t *testing.T) {
	good := "% note\n@article{AB12,\n  author = {A, B and C, D},\n  title = {On {Gaussians}},\n  year = {2012},\n}\n"
	refs, err := ParseBib(good)
	if err != nil || len(refs) != 1 || refs[0].Short() != "A, C: On Gaussians (2012)" {
		t.Errorf("got %v, %v", refs, err)
	}
	for _, bad := range []string{good + good, strings.Replace(good, "year", "month", 1), good + "stray\n"} {
		if _, err := ParseBib(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

func references(t *testing.T) []Reference {
	t.Helper()
	refs, err := ParseBib(read(t, BibFile))
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func eachGoFile(t *testing.T, f func(name, text string)) {
	t.Helper()
	for _, folder := range []string{"parts", "literal", "estimate", "kernel", "model", "release"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(name, ".go") {
				text, err := os.ReadFile(name)
				f(name, strings.NewReplacer("\n// ", " ", "\n\t// ", " ").Replace(string(text)))
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
