package cite

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Statement is a numbered algorithm, theorem or lemma of one of the five sources, or a section of
// the page of one that is literal and has none.
type Statement struct {
	Key, Part string // "KSSU19", "Lemma 2.2"
	Says      string // in a few words
	LeftOut   string // why nothing here runs or shows it; empty if something does
}

// ReadStatements reads the list of them below root.
func ReadStatements(root string) ([]Statement, error) {
	return records(root, ListFile, func(r []string) Statement { return Statement{r[0], r[1], r[2], r[3]} })
}

// records returns what the lines of a CSV file below root say, but for its header.
func records[T any](root, name string, of func(record []string) T) (all []T, err error) {
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range lines[1:] {
		all = append(all, of(r))
	}
	return all, nil
}

// statement matches what a tag's part may name: "Lemmas C.7 and C.8" are two.
var statement = regexp.MustCompile(`(Algorithm|Lemma|Proposition|Theorem|Corollary|Claim|Fact|Section)s? ((?:[A-H]\.)?[0-9]+(?:\.[0-9]+)*(?:(?:, | and |, and )(?:[A-H]\.)?[0-9]+(?:\.[0-9]+)*)*)`)

// paged are the sources whose statements are the sections of their pages in papers.
var paged = []string{"BDKU20", "KSU20", "KV18"}

// named returns the statements that a tag names, without those of a restatement.
func (t Tag) named() (parts []string) {
	sections := slices.Contains(paged, t.Key)
	for _, item := range strings.Split(t.Part, ";") {
		if strings.Contains(item, "restatement") && strings.HasPrefix(strings.TrimSpace(item), "Section") && !sections {
			continue
		}
		for _, m := range statement.FindAllStringSubmatch(item, -1) {
			if m[1] == "Section" && !sections {
				continue
			}
			for _, n := range regexp.MustCompile(`(?:[A-H]\.)?[0-9]+(?:\.[0-9]+)*`).FindAllString(m[2], -1) {
				parts = append(parts, m[1]+" "+n)
			}
		}
	}
	return parts
}

// of returns the tags that name the statement.
func (s Statement) of(tags []Tag) (out []Tag) {
	for _, t := range tags {
		if t.Key == s.Key && slices.Contains(t.named(), s.Part) {
			out = append(out, t)
		}
	}
	return out
}

// CheckStatements returns what does not fit between the list of statements and the tags: a row
// without code, test or reason; a reason although there is a test; a test of what is not in the
// list.
func CheckStatements(statements []Statement, c Citations) error {
	var faults []error
	for _, s := range statements {
		code, tests := s.of(c.Tags), s.of(c.Shows)
		switch {
		case s.LeftOut == "" && code == nil && tests == nil:
			faults = append(faults, fmt.Errorf("%s: %s %s: no symbol, no test, and no reason why", ListFile, s.Key, s.Part))
		case s.LeftOut != "" && tests != nil:
			faults = append(faults, fmt.Errorf("%s: %s %s is left out, and %s shows it", ListFile, s.Key, s.Part, tests[0].Symbol))
		}
	}
	listed := map[string]bool{}
	for _, s := range statements {
		listed[s.Key] = true
	}
	for _, t := range c.Shows {
		for _, part := range t.named() {
			known := func(s Statement) bool { return s.Key == t.Key && s.Part == part }
			if listed[t.Key] && !slices.ContainsFunc(statements, known) {
				faults = append(faults, fmt.Errorf("%s: %s shows %s of %s, which is not in %s", t.File, t.Symbol, part, t.Key, ListFile))
			}
		}
	}
	return errors.Join(faults...)
}

// statementsOf returns docs/STATEMENTS.md.
func statementsOf(statements []Statement, mutants []Mutant, c Citations) []byte {
	var b strings.Builder
	b.WriteString("# Statements of the sources, and what shows them\n\n" +
		"Made from " + ListFile + ", the `Source:` tags of the code and the `Shows:` tags of the tests by `go generate ./...`; do not edit.\n" +
		"A test shows a statement if it would fail were the statement, as far as it can be computed, not true of the code. Whether it does is tried:\n" +
		"[mutants](MUTANTS.md) change the code, and a row none of whose mutants dies, or that has none yet, says \"stated, not shown\".\n" +
		"A statement with code is used by a method; one whose code is \"none: in tests only\" is stated, not used.\n" +
		"KM21 and KMSSU22 are the two halves of the talk; of BDKU20, KSU20 and KV18 the sections of their pages are listed. What each method does on the constants that its source prints: [printed](experiments/papers/printed.md).\n")
	for i, s := range statements {
		if i == 0 || s.Key != statements[i-1].Key {
			fmt.Fprintf(&b, "\n## %s\n\n| statement | what it says | code | shown by |\n|---|---|---|---|\n", s.Key)
		}
		var code, tests []string
		for _, t := range s.of(c.Tags) {
			code = append(code, fmt.Sprintf("[`%s`](../%s)", t.qualified(), t.File))
		}
		for _, t := range s.of(c.Shows) {
			tests = append(tests, fmt.Sprintf("[`%s`](../%s)", t.Symbol, t.File))
		}
		slices.Sort(code)
		if code == nil && tests != nil {
			code = []string{"none: in tests only"}
		}
		shown := s.shownBy(tests, mutants)
		if s.LeftOut != "" {
			shown = "left out: " + s.LeftOut
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Part, cell(s.Says), strings.Join(slices.Compact(code), ", "), shown)
	}
	return []byte(b.String())
}
