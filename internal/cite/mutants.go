package cite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MutantsFile is the list of mutants, from the root.
const MutantsFile = "papers/mutants.csv"

// A Mutant is a change of the code under which a statement is false, and who notices.
type Mutant struct {
	Key, Part      string // of the statement
	File, From, To string // From stands in the file once
	Killed         string // the tests that show the statement and fail, "" for none
}

// About reports that a tag names the mutant's statement.
func (m Mutant) About(t Tag) bool { return t.Key == m.Key && slices.Contains(t.named(), m.Part) }

// ReadMutants reads the list of them below root.
func ReadMutants(root string) ([]Mutant, error) {
	return records(root, MutantsFile, func(r []string) Mutant { return Mutant{r[0], r[1], r[2], r[3], r[4], r[5]} })
}

// CheckMutants returns the mutants below root that are about no statement, or change nothing.
func CheckMutants(root string, mutants []Mutant, statements []Statement) error {
	var faults []error
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
		if err != nil {
			faults = append(faults, err)
			continue
		}
		known := slices.ContainsFunc(statements, func(s Statement) bool { return s.Key == m.Key && s.Part == m.Part && s.LeftOut == "" })
		if n := strings.Count(string(text), m.From); !known || n != 1 || m.From == m.To {
			faults = append(faults, fmt.Errorf("%s: %s %s: want a statement of %s, and a text that stands in %s once and is replaced by another, got %q, %d times",
				MutantsFile, m.Key, m.Part, ListFile, m.File, m.From, n))
		}
	}
	return errors.Join(faults...)
}

// shownBy says how far tests that claim to show a statement do.
func (s Statement) shownBy(tests []string, mutants []Mutant) string {
	shown := strings.Join(tests, ", ")
	if len(tests) == 0 {
		return shown
	}
	for _, m := range mutants {
		if m.Key == s.Key && m.Part == s.Part && m.Killed != "" {
			return shown
		}
	}
	return "stated, not shown: " + shown
}

// mutantsOf returns docs/MUTANTS.md.
func mutantsOf(mutants []Mutant, statements []Statement, c Citations) []byte {
	var b strings.Builder
	rows := 0
	without := map[string][]string{} // a mutant, by source
	var keys []string
	for _, s := range statements {
		if s.LeftOut != "" || s.of(c.Shows) == nil {
			continue
		}
		if rows++; !slices.ContainsFunc(mutants, func(m Mutant) bool { return m.Key == s.Key && m.Part == s.Part }) {
			if without[s.Key] == nil {
				keys = append(keys, s.Key)
			}
			without[s.Key] = append(without[s.Key], s.Part)
		}
	}
	alive, covered := 0, map[string]bool{}
	for _, m := range mutants {
		if covered[m.Key+m.Part] = covered[m.Key+m.Part] || m.Killed != ""; m.Killed == "" {
			alive++
		}
	}
	shown := 0
	for _, killed := range covered {
		if killed {
			shown++
		}
	}
	fmt.Fprintf(&b, "# Mutants\n\nMade from %s by `go generate ./...`; do not edit. Each changes the code so that a statement of a source is false of it; `go run ./internal/mutants` "+
		"runs the tests that claim to show the statement, and one has to fail. %d mutants, %d survive; %d of %d statements with a test have one that dies.\n\n"+
		"| statement | mutant | killed by |\n|---|---|---|\n", MutantsFile, len(mutants), alive, shown, rows)
	line := func(s string) string { return cell(strings.Join(strings.Fields(s), " ")) }
	for _, m := range mutants {
		killed := m.Killed
		if killed == "" {
			killed = "**survives**"
		}
		fmt.Fprintf(&b, "| %s %s | [%s](../%s): `%s` → `%s` | %s |\n", m.Key, m.Part, filepath.Base(m.File), m.File, line(m.From), line(m.To), killed)
	}
	b.WriteString("\nStatements with a test and no mutant. They are in tests only: there is no code of a method to change.\n\n")
	for _, key := range keys {
		fmt.Fprintf(&b, "- %s: %s\n", key, strings.Join(without[key], ", "))
	}
	return []byte(b.String())
}
