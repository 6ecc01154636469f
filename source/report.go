package source

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
)

// A Report counts what was read. It depends on the rows: show it on the custodian's terminal, and
// nowhere else. It prints and encodes as "[protected]"; Text is the one way to its words.
type Report struct {
	Rows     int // of the input, bad ones included
	BadRows  int // with at least one cell to fit that is no finite number
	Columns  []ColumnReport
	Inferred bool
	LookedAt int       // rows that the schema was inferred from
	LeftOut  []LeftOut // by inference, with the reason
}

// A ColumnReport counts the cells of one fitted column by what they hold.
type ColumnReport struct {
	Name      string
	Numbers   int
	Missing   int
	NotFinite int
	NotNumber int
}

// LeftOut is a column that inference did not choose.
type LeftOut struct{ Name, Why string }

func (c *ColumnReport) count(kind kind) {
	switch kind {
	case number:
		c.Numbers++
	case missing:
		c.Missing++
	case notFinite:
		c.NotFinite++
	default:
		c.NotNumber++
	}
}

// Report returns the counts so far; they are whole once Read has returned.
func (t *Table) Report() Report {
	r := t.report
	r.Columns = append([]ColumnReport(nil), r.Columns...)
	r.LeftOut = append([]LeftOut(nil), r.LeftOut...)
	return r
}

// Text is the report in words, a line each.
func (r Report) Text() string {
	var b strings.Builder
	if r.Inferred {
		names := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			names[i] = c.Name
		}
		fmt.Fprintf(&b, "schema inferred from the cells of the first %s: %s\n", words.Plural(r.LookedAt, "row"), quoteNames(names))
		for _, left := range r.LeftOut {
			fmt.Fprintf(&b, "  left out %q: %s\n", left.Name, left.Why)
		}
		b.WriteString("  which columns were chosen is not covered by the privacy promise; declare them with --columns or --schema\n")
	}
	fmt.Fprintf(&b, "%s read, %s bad\n", words.Plural(r.Rows, "row"), words.Digits(r.BadRows))
	for _, c := range r.Columns {
		if c.Missing+c.NotFinite+c.NotNumber > 0 {
			fmt.Fprintf(&b, "  column %q: %s missing, %s not finite, %s not a number\n",
				c.Name, words.Digits(c.Missing), words.Digits(c.NotFinite), words.Digits(c.NotNumber))
		}
	}
	return b.String()
}

// String hides the counts from every kind of print.
func (Report) String() string { return "[protected]" }

// GoString hides the counts from %#v.
func (Report) GoString() string { return "[protected]" }

// MarshalJSON hides the counts from encoders.
func (Report) MarshalJSON() ([]byte, error) { return []byte(`"[protected]"`), nil }

// String hides what a table holds from every kind of print.
func (*Table) String() string { return "[protected]" }

// GoString hides what a table holds from %#v.
func (*Table) GoString() string { return "[protected]" }

// MarshalJSON hides what a table holds from encoders.
func (*Table) MarshalJSON() ([]byte, error) { return []byte(`"[protected]"`), nil }
