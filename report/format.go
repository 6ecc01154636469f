package report

import (
	"io"

	"github.com/gauze-dp/gauze/release"
)

// Formats are the names of the formats of [Write]; the first is the default of `gauze report`.
var Formats = []string{"html", "text", "csv", "json"}

// Write writes r as [HTML], [Text], [CSV] or [JSON], by its name in Formats. Another name is a
// mistake in the program, and panics.
func Write(w io.Writer, r *release.Release, format string, o Options) error {
	switch format {
	case "html":
		return HTML(w, r, o)
	case "text":
		return Text(w, r)
	case "csv":
		return CSV(w, r)
	case "json":
		return JSON(w, r)
	}
	panic("report: no format " + format)
}
