package cite

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// order sorts tags by source as in refs, what runs as printed before the rest, and each in the
// source's own order.
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
		case a.Literal() != b.Literal():
			return a.Literal()
		case a.place() != b.place():
			return a.place() < b.place()
		case a.File != b.File:
			return a.File < b.File
		}
		return a.Symbol < b.Symbol
	})
}

// Literal reports that the symbol belongs to what runs as its source prints it.
func (t Tag) Literal() bool {
	return strings.HasPrefix(t.File, "literal/") && slices.Contains(Sources, t.Key)
}

var (
	// kinds are what sources number, in the order of the tables.
	kinds  = []string{"Algorithm", "Lemma", "Proposition", "Theorem", "Corollary", "Definition", "Appendix", "Section", "Part"}
	number = regexp.MustCompile(`(` + strings.Join(kinds, "|") + `)s? ([A-Z]?[0-9.]*)`)
	atom   = regexp.MustCompile(`[A-Z]|[0-9]+`)
)

// place returns a key to sort by: the kind and the number that a tag's part begins with, as in
// "Algorithm 2", those of a restatement after the source's own, then parts without a number, and
// the whole last.
func (t Tag) place() string {
	if t.Part == "" {
		return "3"
	}
	m := number.FindStringSubmatchIndex(t.Part)
	if m == nil {
		return "2"
	}
	item, _, _ := strings.Cut(t.Part[m[0]:], ";")
	key := fmt.Sprint(0, slices.Index(kinds, t.Part[m[2]:m[3]]))
	if strings.Contains(item, "restatement") {
		key = "1"
	}
	for _, a := range atom.FindAllString(t.Part[m[4]:m[5]], -1) {
		key += fmt.Sprintf(".%4s", a)
	}
	if strings.HasPrefix(t.Part[m[5]:], " (") { // a part of it
		key += " ("
	}
	return key
}
