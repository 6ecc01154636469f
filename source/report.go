package source

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
)

// A Report counts what was read. It depends on the rows: show it on the custodian's terminal, and
// nowhere else. It prints and encodes as "[protected]"; only Text returns its words.
type Report struct {
	Rows    int // of the input, including bad ones
	BadRows int // with at least one fitted cell that is missing or no finite number
	Columns []ColumnReport
	// For the columns of categories.
	Categories []CategoryReport
	Inferred   bool      // the columns were inferred
	LookedAt   int       // .. from the cells of this many rows, 0 if only from the types of columns
	LeftOut    []LeftOut // by inference, with the reason
	NoPerson   int       // rows whose unit is missing
	NoGroup    int       // rows of none of the groups
	// Repeats are columns with the name of an identifier whose values repeat, but are too few to
	// decide whether they name persons.
	Repeats []string
}

// A ColumnReport counts the cells of one fitted column by what they hold.
type ColumnReport struct {
	Name      string
	Numbers   int
	Missing   int
	NotFinite int
	NotNumber int
	Coded     int // cells that hold a code for missing
	Outside   int // numbers outside the declared limits, which are missing cells
}

// A CategoryReport counts the cells of one column of categories.
type CategoryReport struct {
	Name    string
	Known   int // cells that hold a declared value
	Missing int
	Other   int // cells that hold another, which count as missing
}

// LeftOut is a column that inference did not choose.
type LeftOut struct{ Name, Why string }

// count counts a cell that is no number.
func (c *ColumnReport) count(kind Kind) {
	switch kind {
	case Missing:
		c.Missing++
	case NotFinite:
		c.NotFinite++
	default:
		c.NotNumber++
	}
}

// Report returns the counts so far; they are complete once Read has returned.
func (t *Table) Report() Report {
	r := t.report
	r.Columns = append([]ColumnReport(nil), r.Columns...)
	for i := range r.Columns {
		r.Columns[i].Numbers += r.Rows - r.BadRows
	}
	r.Categories = append([]CategoryReport(nil), r.Categories...)
	r.LeftOut = append([]LeftOut(nil), r.LeftOut...)
	return r
}

// Text returns the report in words, one line each.
func (r Report) Text() string {
	var b strings.Builder
	if r.Inferred {
		from := "the types of the columns"
		if r.LookedAt > 0 {
			from = "the cells of the first " + words.Plural(r.LookedAt, "row")
		}
		fmt.Fprintf(&b, "schema inferred from %s: %s\n", from, quoteColumns(r.Columns))
		for _, c := range r.LeftOut {
			fmt.Fprintf(&b, "  left out %q: %s\n", c.Name, c.Why)
		}
		b.WriteString("  which columns were chosen is not covered by the privacy promise; declare them with --columns or --schema\n")
	}
	fmt.Fprintf(&b, "%s read, %s bad\n", words.Plural(r.Rows, "row"), words.Digits(r.BadRows))
	count := func(n int, format string) {
		if n > 0 {
			fmt.Fprintf(&b, format, words.Digits(n))
		}
	}
	count(r.NoPerson, "  %s without a unit, each a bad row\n")
	count(r.NoGroup, "  %s in none of the declared groups, each a bad row\n")
	if r.Repeats != nil {
		fmt.Fprintf(&b, "warning: %s repeats: if it names persons, only single rows are protected; add --unit with its name\n", quoteNames(r.Repeats))
	}
	for _, c := range r.Columns {
		if c.Missing+c.NotFinite+c.NotNumber+c.Coded+c.Outside > 0 {
			fmt.Fprintf(&b, "  column %q: %s missing, %s not finite, %s not a number", c.Name, words.Digits(c.Missing), words.Digits(c.NotFinite), words.Digits(c.NotNumber))
			count(c.Coded, ", %s with a code for missing")
			count(c.Outside, ", %s outside the declared limits")
			b.WriteByte('\n')
		}
	}
	for _, c := range r.Categories {
		if c.Missing+c.Other > 0 {
			fmt.Fprintf(&b, "  column %q: %s missing", c.Name, words.Digits(c.Missing))
			count(c.Other, ", %s with no value of those declared, which count as missing")
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func quoteColumns(columns []ColumnReport) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return quoteNames(names)
}

// String returns "[protected]".
func (Report) String() string { return "[protected]" }

// GoString returns "[protected]", for %#v.
func (Report) GoString() string { return "[protected]" }

// MarshalJSON returns "[protected]", for encoders.
func (Report) MarshalJSON() ([]byte, error) { return []byte(`"[protected]"`), nil }

// String returns "[protected]".
func (*Table) String() string { return "[protected]" }

// GoString returns "[protected]", for %#v.
func (*Table) GoString() string { return "[protected]" }

// MarshalJSON returns "[protected]", for encoders.
func (*Table) MarshalJSON() ([]byte, error) { return []byte(`"[protected]"`), nil }
