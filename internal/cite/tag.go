package cite

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	sourceMark  = "Source:"
	differsMark = "Differs:"
	showsMark   = "Shows:"
)

// A Tag says that a symbol implements, or uses, a part of a source.
type Tag struct {
	Key     string // of papers/refs.bib
	Part    string // the algorithm, theorem or section; empty for the whole
	Differs string // how the symbol departs from it; empty if it does not
	Package string // its folder, from the root; empty for the root itself
	Symbol  string // Name, Receiver.Name, or "package"
	File    string // from the root, with slashes
}

var (
	// key is a reference in brackets; at the beginning of a tag's part, or after a word or two.
	key = regexp.MustCompile(`\[([A-Z][A-Z0-9]+)\]`)
	// mention is a reference in running text, where brackets may hold other things too.
	mention = regexp.MustCompile(`\[([A-Z]{2,}[0-9]{2}|PPE|TALK|TYLERPRESS)\]`)
)

// parseDoc returns the tags in the text of one doc comment, without their place.
//
// Failures: a Source paragraph that names no key; a Differs paragraph without a Source before it in
// the comment.
func parseDoc(text string) ([]Tag, error) {
	var tags []Tag
	for _, paragraph := range strings.Split(text, "\n\n") {
		if strings.HasPrefix(strings.TrimLeft(paragraph, "\n"), "\t") { // an example
			continue
		}
		source, differs := sections(paragraph)
		if source == "" && differs == "" {
			continue
		}
		if source != "" {
			found, err := parseSource(source)
			if err != nil {
				return nil, err
			}
			tags = append(tags, found...)
		}
		if differs == "" {
			continue
		}
		if len(tags) == 0 {
			return nil, fmt.Errorf("a %q without a %q before it", differsMark, sourceMark)
		}
		for i := range tags {
			tags[i].Differs = differs
		}
	}
	return tags, nil
}

// parseShows returns the tags in the text of one doc comment of a test.
//
// Failures: those of [parseDoc].
func parseShows(text string) (tags []Tag, err error) {
	for _, paragraph := range strings.Split(text, "\n\n") {
		line := strings.Join(strings.Fields(paragraph), " ")
		if at := markAt(line, showsMark); at >= 0 {
			found, err := parseSource(finish(line[at+len(showsMark):]))
			if err != nil {
				return nil, err
			}
			tags = append(tags, found...)
		}
	}
	return tags, nil
}

// sections returns what a paragraph says after each of the two marks, each on one line and without
// its last full stop.
func sections(paragraph string) (source, differs string) {
	line := strings.Join(strings.Fields(paragraph), " ")
	at := markAt(line, sourceMark)
	split := markAt(line, differsMark)
	if at < 0 && split != 0 {
		return "", ""
	}
	if split >= 0 {
		differs = finish(line[split+len(differsMark):])
		line = line[:split]
	}
	if at >= 0 {
		source = finish(line[at+len(sourceMark):])
	}
	return source, differs
}

// markAt returns where a mark begins a sentence of the line, or -1.
func markAt(line, mark string) int {
	if strings.HasPrefix(line, mark) {
		return 0
	}
	for _, end := range []string{". ", ") ", "; "} {
		if i := strings.Index(line, end+mark); i >= 0 {
			return i + len(end)
		}
	}
	return -1
}

func finish(s string) string { return strings.TrimSuffix(strings.TrimSpace(s), ".") }

// parseSource splits "[A] part; more; [B] part" into its tags.
func parseSource(source string) ([]Tag, error) {
	var tags []Tag
	for _, item := range strings.Split(source, ";") {
		found := key.FindAllStringSubmatchIndex(item, -1)
		switch {
		case len(found) > 1:
			return nil, fmt.Errorf("two keys in %q: put a semicolon between them", strings.TrimSpace(item))
		case len(found) == 0 && len(tags) == 0:
			return nil, fmt.Errorf("no [KEY] in %q", strings.TrimSpace(item))
		case len(found) == 0:
			tags[len(tags)-1].Part += "; " + strings.TrimSpace(item)
		default:
			f := found[0]
			before, after := strings.TrimSpace(item[:f[0]]), strings.TrimSpace(item[f[1]:])
			part := after
			if before != "" {
				part = strings.TrimSpace(before + ": " + after)
			}
			tags = append(tags, Tag{Key: item[f[2]:f[3]], Part: finish(part)})
		}
	}
	return tags, nil
}
