package cite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// The files made of the tags, and the one they are checked against, from the root.
const (
	BibFile   = "papers/refs.bib"
	TableFile = "docs/ALGORITHMS.md"
	JSONFile  = "cmd/gauze/papers.json"
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
	return map[string][]byte{TableFile: tableOf(tags, refs), JSONFile: list}, nil
}

// order sorts tags by source as in refs, then by folder, file and symbol.
func order(tags []Tag, refs []Reference) {
	rank := map[string]int{}
	for i, r := range refs {
		rank[r.Key] = i
	}
	sort.SliceStable(tags, func(i, j int) bool {
		a, b := tags[i], tags[j]
		switch {
		case a.Key != b.Key:
			return rank[a.Key] < rank[b.Key]
		case a.Package != b.Package:
			return a.Package < b.Package
		case a.File != b.File:
			return a.File < b.File
		}
		return a.Symbol < b.Symbol
	})
}

// tableOf is docs/ALGORITHMS.md.
func tableOf(tags []Tag, refs []Reference) []byte {
	var b strings.Builder
	b.WriteString("# Which algorithm lives where\n\n" +
		"Made from the `Source:` tags in the doc comments by `go generate ./...`; do not edit. `gauze papers` prints the same table.\n" +
		"The last column is what the code does otherwise than its source, and says in its `Differs:` line. Sections of KSSU19 (\"of the\n" +
		"restatement\") and of TYLERPRESS are those of their pages in papers/.\n")
	pages := map[string]bool{}
	for _, key := range append([]string{"TYLERPRESS"}, Sources...) {
		pages[key] = true
	}
	for _, r := range refs {
		fmt.Fprintf(&b, "\n## %s\n\n%s.", r.Key, r.Short())
		if pages[r.Key] {
			fmt.Fprintf(&b, " See [papers/%s.md](../papers/%s.md).", r.Key, r.Key)
		}
		b.WriteString("\n\n")
		rows := 0
		for _, t := range tags {
			if t.Key != r.Key {
				continue
			}
			if rows++; rows == 1 {
				b.WriteString("| part of the source | symbol | file | differs |\n|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| %s | `%s` | [%s](../%s) | %s |\n", cell(t.part()), t.qualified(), t.File, t.File, cell(t.Differs))
		}
		if rows == 0 && pages[r.Key] {
			b.WriteString("Nothing of it is implemented yet.\n")
		} else if rows == 0 {
			b.WriteString("Cited in proofs and comments.\n")
		}
	}
	return []byte(b.String())
}

// part is never empty.
func (t Tag) part() string {
	if t.Part == "" {
		return "the whole"
	}
	if inner := strings.TrimSuffix(strings.TrimPrefix(t.Part, "("), ")"); len(inner) == len(t.Part)-2 {
		return inner
	}
	return t.Part
}

// qualified is package.Symbol, as a reader would write it.
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

// jsonOf is the table inside cmd/gauze: its fields are those that `gauze papers --json` prints.
func jsonOf(tags []Tag) ([]byte, error) {
	type entry struct {
		Key       string `json:"key"`
		Algorithm string `json:"algorithm"`
		Package   string `json:"package"`
		Symbol    string `json:"symbol"`
		File      string `json:"file"`
	}
	var b strings.Builder
	b.WriteString("[\n")
	for i, t := range tags {
		line, err := json.Marshal(entry{Key: t.Key, Algorithm: t.part(), Package: t.Package, Symbol: t.Symbol, File: t.File})
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
