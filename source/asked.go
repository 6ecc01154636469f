package source

import (
	"net/url"
	"strings"
)

const askedHint = `write ?table=NAME or ?query=SELECT .., with %25 for % and %26 for &`

// TableOrQuery reads the parameters behind the "?" of a database's name, table=T or query=Q, one of
// the two, and returns the others unchanged.
//
// A plus sign stays a plus sign and does not become a blank: a query that adds would be another
// query otherwise.
func TableOrQuery(parameters string) (table, query, rest string, err error) {
	fault := func(got string) error {
		return &Error{Field: "input", Wanted: "table=T or query=Q behind the ?", Got: got, Hint: askedHint}
	}
	var others []string
	for part := range strings.SplitSeq(parameters, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name != "table" && name != "query" {
			others = append(others, part)
			continue
		}
		value, err := url.PathUnescape(value)
		switch {
		case err != nil:
			return "", "", "", fault("a % that begins no two digits")
		case strings.TrimSpace(value) == "" || table+query != "":
			return "", "", "", fault("both, or an empty one")
		case name == "table":
			table = value
		default:
			query = value
		}
	}
	if table+query == "" {
		return "", "", "", fault("neither")
	}
	return table, query, strings.Join(others, "&"), nil
}
