package cite

import (
	"fmt"
	"regexp"
	"strings"
)

// A Reference is one entry of papers/refs.bib.
type Reference struct {
	Key    string
	Kind   string            // article, inproceedings, misc, ..
	Fields map[string]string // author, title, year, .., without braces
}

var (
	entryHead = regexp.MustCompile(`^@([a-z]+)\{([A-Z][A-Z0-9]*),$`)
	entryLine = regexp.MustCompile(`^\s+([a-z]+)\s*=\s*\{(.*)\},?$`)
)

// ParseBib reads a bibliography written one field a line.
//
// Failures: a line of another form, a key that appears twice, an entry without author, title or
// year.
func ParseBib(text string) ([]Reference, error) {
	var refs []Reference
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		fault := func(wanted string) error { return fmt.Errorf("refs.bib:%d: wanted %s, got %q", i+1, wanted, line) }
		if head := entryHead.FindStringSubmatch(line); head != nil {
			if seen[head[2]] {
				return nil, fault("a key that is not used above")
			}
			seen[head[2]] = true
			refs = append(refs, Reference{Key: head[2], Kind: head[1], Fields: map[string]string{}})
			continue
		}
		if field := entryLine.FindStringSubmatch(line); field != nil && len(refs) > 0 {
			refs[len(refs)-1].Fields[field[1]] = strings.NewReplacer("{", "", "}", "", "--", "–").Replace(field[2])
			continue
		}
		if line != "}" && line != "" && !strings.HasPrefix(line, "%") {
			return nil, fault("@kind{KEY, or field = {value}, or }")
		}
	}
	for _, r := range refs {
		for _, need := range []string{"author", "title", "year"} {
			if r.Fields[need] == "" {
				return nil, fmt.Errorf("refs.bib: entry %s: wanted a field %s", r.Key, need)
			}
		}
	}
	return refs, nil
}

// Short returns the reference on one line: authors, title, year.
func (r Reference) Short() string {
	var names []string
	for _, author := range strings.Split(r.Fields["author"], " and ") {
		last, _, _ := strings.Cut(author, ",")
		names = append(names, last)
	}
	who := strings.Join(names, ", ")
	return fmt.Sprintf("%s: %s (%s)", who, r.Fields["title"], r.Fields["year"])
}
