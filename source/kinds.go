package source

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/dense"
)

// The kinds of columns that are read.
const (
	Numbers = "number" // any number
	Counts  = "count"  // whole numbers from 0 on: rounded_to is 1 and at_least 0 where none are declared
	YesNo   = "yes-no" // yes and no, true and false, or 1 and 0: read as 1 and 0, rounded to 1 within 0 and 1
	Dates   = "date"   // days, read as dates: rounded_to is 1 where none is declared
	// Logs are numbers that are fitted as their logarithms, see Column.Log: at_least is 0 where
	// none is declared.
	Logs = "log"
	// Categories are texts of a list, beside the numbers: the share of each value is measured.
	Categories = "category"
)

// tidyKind checks the kind and fills in the unit and the limits that follow from it.
func (c *Column) tidyKind() error {
	zero, one := 0.0, 1.0
	fault := &Error{Field: fmt.Sprintf("schema, column %q, kind", c.Name), Wanted: `"number", "count", "yes-no", "date", "log" or "category"`, Got: fmt.Sprintf("%q", c.Kind)}
	switch c.Kind {
	case "", Numbers, Categories:
	case Counts:
		if c.RoundedTo == 0 {
			c.RoundedTo = 1
		}
		if c.AtLeast == nil {
			c.AtLeast = &zero
		}
	case YesNo:
		if c.RoundedTo != 0 && c.RoundedTo != 1 || c.AtLeast != nil && *c.AtLeast != 0 || c.AtMost != nil && *c.AtMost != 1 {
			fault.Wanted, fault.Got, fault.Hint = "no unit and no limits but 1, 0 and 1 beside yes-no", "others", "leave rounded_to, at_least and at_most out"
			return fault
		}
		c.RoundedTo, c.AtLeast, c.AtMost = 1, &zero, &one
	case Dates:
		if c.RoundedTo == 0 {
			c.RoundedTo = 1
		}
	case Logs:
		if c.AtLeast == nil {
			c.AtLeast = &zero
		}
		if c.AtMost != nil && !(*c.AtLeast < *c.AtMost) {
			fault.Wanted, fault.Got, fault.Hint = "at_least below at_most beside log", "others", "leave out the limit that is not known"
			return fault
		}
	default:
		fault.Hint = "leave the kind out for numbers"
		return fault
	}
	return nil
}

// writtenAs says how cells of kinds are written that are words, for errors.
var writtenAs = map[string]string{YesNo: "yes or no, true or false, 1 or 0 (in English, or ja, oui, si and the like)", Dates: "date, as 2006-01-02 or 2.1.2006"}

// Log returns the map under which a column of Logs is fitted, and for any other kind the zero Log.
func (c *Column) Log() dense.Log {
	if c.Kind != Logs {
		return dense.Log{}
	}
	low, high := c.Limits()
	if c.AtMost == nil {
		high = math.Inf(1)
	}
	return dense.LogOf(low, high, c.RoundedTo)
}

// answer reads a cell of a column of YesNo, in English or in words that mean the same wherever they
// occur.
func answer(text string) (float64, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "yes", "true", "y", "t", "ja", "oui", "si", "sí", "sì", "sim":
		return 1, true
	case "no", "false", "n", "f", "nein", "nee", "nej", "non", "não", "nao":
		return 0, true
	}
	return 0, false
}

// reread replaces the texts in cells of the columns by the numbers that they stand for, except for
// those that a code makes missing.
func (t *Table) reread(columns []int, as func(text string) (float64, bool), values []float64, kinds []Kind) {
	for _, i := range columns {
		if kinds[i] == NotNumber && !isWord(t.rules.words[i], t.text(i)) {
			if v, ok := as(t.text(i)); ok {
				values[i], kinds[i] = v, Number
			}
		}
	}
}
