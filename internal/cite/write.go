package cite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The files made of the tags, and the one they are checked against, from the root.
const (
	BibFile        = "papers/refs.bib"
	TableFile      = "docs/ALGORITHMS.md"
	JSONFile       = "cmd/gauze/papers.json"
	ListFile       = "papers/statements.csv"
	StatementsFile = "docs/STATEMENTS.md"

	// who kills whom
	KillersFile = "docs/MUTANTS.md"
)

// Generate returns the text of every generated file, by its place under root.
func Generate(root string) (map[string][]byte, error) {
	bib, err := os.ReadFile(filepath.Join(root, BibFile))
	if err != nil {
		return nil, err
	}
	refs, err := ParseBib(string(bib))
	if err != nil {
		return nil, err
	}
	cited, faults := Collect(root)
	if faults = append(faults, Check(cited, refs)...); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	tags := cited.Tags
	order(tags, refs)
	list, err := jsonOf(tags)
	if err != nil {
		return nil, err
	}
	statements, err := ReadStatements(root)
	if err != nil {
		return nil, err
	}
	mutants, err := ReadMutants(root)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{TableFile: tableOf(tags, refs), JSONFile: list, StatementsFile: statementsOf(statements, mutants, cited),
		KillersFile: mutantsOf(mutants, statements, cited)}, nil
}

// tableOf returns docs/ALGORITHMS.md.
func tableOf(tags []Tag, refs []Reference) []byte {
	var b strings.Builder
	b.WriteString("# Which algorithm lives where\n\n" +
		"Made from the `Source:` tags in the doc comments by `go generate ./...`; do not edit. `gauze papers` prints the same table. Each source in its own order, what runs as printed (`literal/`) first.\n" +
		"*Page B.4* is Section B.4 of the source's page in papers/. The last column begins to say what the code does otherwise than its source; all of it (where … stands) is in the doc comment behind the link.\n")
	pages := map[string]bool{}
	for _, key := range append([]string{"TYLERPRESS"}, Sources...) {
		pages[key] = true
	}
	for _, r := range refs {
		fmt.Fprintf(&b, "\n## %s\n\n%s.", r.Key, r.Short())
		if pages[r.Key] {
			fmt.Fprintf(&b, " See [papers/%s.md](../papers/%s.md).", r.Key, r.Key)
		}
		b.WriteString("\n")
		var printed, rest []Tag
		for _, t := range tags {
			switch {
			case t.Key == r.Key && t.Literal():
				printed = append(printed, t)
			case t.Key == r.Key:
				rest = append(rest, t)
			}
		}
		if printed != nil {
			b.WriteString("\nAs printed:\n")
			writeRows(&b, printed, true)
			if rest != nil {
				b.WriteString("\nIn a practical form, and what both stand on:\n")
			}
			writeRows(&b, rest, false)
			continue
		}
		writeRows(&b, rest, false)
		if rest == nil && pages[r.Key] {
			b.WriteString("\nNothing of it is implemented yet.\n")
		} else if rest == nil {
			b.WriteString("\nCited in proofs and comments.\n")
		}
	}
	return []byte(b.String())
}

// writeRows writes one table, nothing for no tags: with differences, their first clause.
func writeRows(b *strings.Builder, tags []Tag, differences bool) {
	if len(tags) == 0 {
		return
	}
	head, line := "\n| part of the source | where |\n", "|---|---|\n"
	if differences {
		head, line = "\n| part of the source | where | differs |\n", "|---|---|---|\n"
	}
	b.WriteString(head + line)
	for _, t := range tags {
		fmt.Fprintf(b, "| %s | [`%s`](../%s) |", cell(ofPage.ReplaceAllString(t.part(), "page $1")), t.qualified(), t.File)
		if differences {
			fmt.Fprintf(b, " %s |", cell(firstClause(t.Differs)))
		}
		b.WriteString("\n")
	}
}

// ofPage matches sections of a source's page in papers/.
var ofPage = regexp.MustCompile(`Sections? ([A-Z0-9][^;]*?) of the restatement`)

// firstClause returns a text up to its first semicolon or sentence, with dots if that is not all.
func firstClause(text string) string {
	end := len(text)
	for _, mark := range []string{"; ", ". ", ": "} {
		if i := strings.Index(text, mark); i >= 0 {
			end = min(end, i)
		}
	}
	if end == len(text) {
		return text
	}
	return text[:end] + " …"
}

// part returns never empty.
func (t Tag) part() string {
	if t.Part == "" {
		return "the whole"
	}
	if inner := strings.TrimSuffix(strings.TrimPrefix(t.Part, "("), ")"); len(inner) == len(t.Part)-2 {
		return inner
	}
	return t.Part
}

// qualified returns package.Symbol, as a reader would write it.
func (t Tag) qualified() string {
	name := "gauze"
	if t.Package != "" {
		name = t.Package
	}
	if t.Symbol == "package" {
		return name
	}
	return name + "." + t.Symbol
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// jsonOf returns the table inside cmd/gauze: its fields are those that `gauze papers --json`
// prints.
func jsonOf(tags []Tag) ([]byte, error) {
	type entry struct {
		Key       string `json:"key"`
		Algorithm string `json:"algorithm"`
		Package   string `json:"package"`
		Symbol    string `json:"symbol"`
		File      string `json:"file"`
		Literal   bool   `json:"literal"`
	}
	var b strings.Builder
	b.WriteString("[\n")
	for i, t := range tags {
		line, err := json.Marshal(entry{Key: t.Key, Algorithm: t.part(), Package: t.Package, Symbol: t.Symbol, File: t.File, Literal: t.Literal()})
		if err != nil {
			return nil, err
		}
		b.WriteString("  ")
		b.Write(line)
		if i < len(tags)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	return []byte(b.String()), nil
}
