package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// How an inferred schema is chosen. numberShare is a share of the cells that are neither missing
// nor infinite, so gaps do not count against a column.
const (
	lookAheadRows  = 10_000    // the most rows that are read for it
	lookAheadCells = 1_000_000 // and the most cells, which bounds the memory at 9 MB
	numberShare    = 0.95      // a column is fitted if this share of its cells are numbers
	mostTexts      = 500       // most text cells of a fitted column: the rest of numberShare in lookAheadRows
)

// lookAhead holds the first rows until the columns are chosen. Rows are row-major, of the columns
// that may be fitted.
type lookAhead struct {
	from   []int // the columns, by their indices in the header
	values []float64
	kinds  []Kind
	l      int      // number of labels of a row
	labels []string // row-major, of the roles
	rows   int
	ended  bool               // the input has no more rows
	texts  map[int]string     // of cells that are no number, by their indices among kinds
	other  map[int]unreadable // columns that another dialect reads, by their indices in the header
	pick   []int              // indices in from
	at     int                // the next row to return
}

// infer chooses the columns: by their types, which are public, and from the cells of the first rows
// where a column has none.
func (t *Table) infer() error {
	header := t.reader.Header()
	if err := checkNames(header); err != nil {
		return err
	}
	a := &lookAhead{l: len(t.roles.labels), texts: map[int]string{}, other: map[int]unreadable{}}
	why := t.byType()
	for j := range header {
		if why[j] == "" {
			a.from = append(a.from, j)
		}
	}
	t.reader.Select(a.from, t.roles.labels)
	t.report.Inferred = true
	if slices.ContainsFunc(a.from, func(j int) bool { return t.types[j] == Type{} }) {
		if err := a.fill(t.reader, t.schema.CSV.Missing); err != nil {
			return err
		}
		if a.rows == 0 {
			return errNoRows()
		}
		t.ahead, t.report.LookedAt = a, a.rows
	}
	for i, j := range a.from {
		if t.ahead != nil && !t.types[j].Numbers && !t.types[j].Truth {
			why[j] = a.leaveOut(header[j], i, t.schema.CSV)
		}
		if why[j] == "" {
			a.pick = append(a.pick, i)
			t.columns = append(t.columns, t.typed(j))
		}
	}
	for j, name := range header {
		if why[j] != "" && why[j] != itsRole {
			t.report.LeftOut = append(t.report.LeftOut, LeftOut{Name: name, Why: why[j]})
		}
	}
	if t.other = a.other; t.columns == nil {
		return errNoNumbers(header)
	}
	chosen := make([]int, len(a.pick))
	for i, at := range a.pick {
		chosen[i] = a.from[at]
	}
	t.reader.Select(chosen, t.roles.labels)
	return nil
}

// Why a column is not fitted: it names persons or groups, or its name is that of an identifier.
const (
	itsRole   = "it says whose a row is, or of which group"
	byItsName = "a row identifier, by its name"
)

// An Undeclared is the error for a table whose fitted columns are not declared. Like an *Error,
// which it wraps, it depends on cells and is for the custodian.
type Undeclared struct {
	Columns []string  // that could be fitted, in order: identifiers are not among them
	LeftOut []LeftOut // the others, with the reason
	CSV     string    // how the numbers of some of Columns are written, where that is not as usual
	Unread  bool      // no row was read: columns without types may hold text
	Unit    string    // a column that seems to name persons with several rows, or ""
}

// Error returns the text of the *Error.
func (e *Undeclared) Error() string { return e.Unwrap().Error() }

// Unwrap returns the mistake in words.
func (e *Undeclared) Unwrap() error {
	hold := "these hold numbers: "
	if e.Unread {
		hold = "these may hold numbers: "
	}
	if e.CSV != "" {
		hold = fmt.Sprintf("these hold numbers, read as csv %q: ", e.CSV)
	}
	return &Error{Field: "schema", Wanted: "the columns to fit, which are public", Got: "none", Hint: hold + quoteNames(e.Columns) + "; declare those to fit"}
}

// undeclared returns an error with the columns that could be declared. It looks at cells as infer
// does, and at no identifier.
func (t *Table) undeclared() error {
	err := t.infer()
	fault := &Undeclared{LeftOut: t.report.LeftOut}
	if others := slices.Collect(maps.Values(t.other)); len(others) > 0 {
		if as := reads(others); as != "" {
			fault.CSV = fmt.Sprint(t.schema.CSV.with(as))
		}
	}
	for i, c := range fault.LeftOut { // texts that name rows are no categories
		if person, generic := identifies(c.Name); (person || generic) && strings.HasPrefix(c.Why, "text: ") {
			fault.LeftOut[i].Why = byItsName
		}
	}
	if err != nil && fault.CSV == "" {
		return err
	}
	header := t.reader.Header()
	for _, c := range t.columns {
		if person, generic := identifies(c.Name); person || generic {
			fault.LeftOut = append(fault.LeftOut, LeftOut{c.Name, byItsName})
			continue
		}
		fault.Columns = append(fault.Columns, c.Name)
	}
	if fault.CSV != "" {
		for j := range t.other {
			fault.Columns = append(fault.Columns, header[j])
		}
		slices.SortFunc(fault.Columns, func(a, b string) int { return cmp.Compare(slices.Index(header, a), slices.Index(header, b)) })
	}
	if fault.Columns == nil {
		return errNoNumbers(header)
	}
	if t.columns == nil {
		return fault
	}
	d := len(t.columns)
	values, kinds, labels := make([]float64, d), make([]Kind, d), make([]string, len(t.roles.labels))
	for t.ahead.next(values, kinds, labels) {
		for i, kind := range kinds {
			if kind != Number {
				values[i] = math.NaN()
			}
		}
		t.report.Rows++
		if again := new(severalRows); errors.As(t.repeats.row(values, labels), &again) {
			fault.Unit = again.column
			return fault
		}
	}
	if again := new(severalRows); errors.As(t.repeats.values(), &again) {
		fault.Unit = again.column
		fault.Columns = slices.DeleteFunc(fault.Columns, func(name string) bool { return name == again.column })
	}
	return fault
}

// typed returns column j of the header as its type declares it.
func (t *Table) typed(j int) Column {
	c := Column{Name: t.reader.Header()[j]}
	if t.types[j].Truth {
		c.Kind = YesNo
		_ = c.tidyKind() // which has nothing against it
	}
	return c
}

// byType returns for each column why its name or type keeps it from being fitted, "" if nothing
// does. It looks at no cell.
func (t *Table) byType() []string {
	header := t.reader.Header()
	why := make([]string, len(header))
	for j, name := range header {
		switch kind := t.types[j]; {
		case name == t.schema.Person() || slices.ContainsFunc(t.schema.By, func(g Grouping) bool { return g.Name == name }):
			why[j] = itsRole
		case kind == Type{}:
		case !kind.Numbers && !kind.Truth:
			why[j] = "its type: " + kind.Name
		case rowIdentifier(name):
			why[j] = byItsName
		}
	}
	return why
}

func errNoNumbers(header []string) error {
	return &Error{Field: "input", Wanted: "at least one column of numbers", Got: "none", Quoted: "none in " + quoteNames(header),
		Hint: "numbers are written with a decimal point and no thousands separator; a row identifier counts only if --columns names it"}
}

func errNoRows() error {
	return &Error{Field: "input", Wanted: "rows", Got: "a header alone", Hint: "check that the right file was named"}
}

// fill reads rows, in which text that is a code is missing, until the look-ahead is full or the
// input ends.
func (a *lookAhead) fill(r Reader, codes []any) error {
	_, words := splitCodes(codes)
	d := len(a.from)
	values, kinds, labels, odd := make([]float64, d), make([]Kind, d), make([]string, a.l), make([]int, d)
	for a.rows < lookAheadRows && (a.rows+1)*d <= max(lookAheadCells, d) {
		err := r.Next(values, kinds, labels)
		if err == io.EOF {
			a.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		for i, kind := range kinds {
			values[i], kinds[i] = checked(values[i], kind)
			if kinds[i] == NotNumber && words != nil && isWord(words, TextOf(r, i)) {
				kinds[i] = Missing
			}
			if kinds[i] == NotNumber && odd[i] < mostTexts {
				odd[i]++
				a.texts[len(a.kinds)+i] = shortened(TextOf(r, i))
			}
		}
		a.values = append(a.values, values...)
		a.kinds = append(a.kinds, kinds...)
		a.labels = append(a.labels, labels...)
		a.rows++
	}
	return nil
}

// next copies the chosen cells of the next held row; a nil look-ahead holds none.
func (a *lookAhead) next(values []float64, kinds []Kind, labels []string) bool {
	if a == nil || a.at == a.rows {
		return false
	}
	from := a.at * len(a.from)
	for i, j := range a.pick {
		values[i], kinds[i] = a.values[from+j], a.kinds[from+j]
	}
	copy(labels, a.labels[a.at*a.l:])
	a.at++
	return true
}

// text returns the text of the i-th chosen cell of the row that next returned last.
func (a *lookAhead) text(i int) string { return a.texts[(a.at-1)*len(a.from)+a.pick[i]] }

// shortened returns enough of a text to distinguish longer ones from codes.
func shortened(text string) string { return strings.Clone(text[:min(len(text), longestCode+1)]) }

// leaveOut returns why its cells keep column j, of those that may be fitted, from being fitted, or
// "".
func (a *lookAhead) leaveOut(name string, j int, written Dialect) string {
	var counts [NotNumber + 1]int
	var odd unreadable
	dates, answers := true, true
	for i := range a.rows {
		at := i*len(a.from) + j
		counts[a.kinds[at]]++
		if text, held := a.texts[at]; held {
			odd.note(text)
			_, date := dayOf(text)
			_, known := answer(text)
			dates, answers = dates && date, answers && known
		}
	}
	numbers, text := counts[Number], counts[NotNumber]
	switch {
	case numbers == 0 && text == 0:
		return "no numbers"
	case float64(numbers) < numberShare*float64(numbers+text):
		dialect, all := mostly([]unreadable{odd})
		switch {
		case dialect != "" && !all && written.asUsual():
			return fmt.Sprintf("text as it is written, but mostly numbers with --csv %q: name it, with --unreadable missing for the others", written.with(dialect))
		case dialect != "" && written.asUsual():
			a.other[a.from[j]] = odd
			return fmt.Sprintf("text as it is written, but numbers with --csv %q", written.with(dialect))
		case dates:
			return "dates: declare it with :date behind its name"
		case answers:
			return "yes and no: declare it with :yes-no behind its name"
		}
		if numbers > text {
			return fmt.Sprintf("%d of its first %d cells that are there are no numbers: name it, with --unreadable missing", text, numbers+text)
		}
		return fmt.Sprintf("text: %d of its first %d cells that are there are numbers", numbers, numbers+text)
	case rowIdentifier(name) && a.increasing(j):
		return "a row identifier: increasing whole numbers"
	}
	return ""
}

// rowIdentifier reports whether a name is one that tables give to row numbers.
func rowIdentifier(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "id", "index", RowNames:
		return true
	}
	// "patient_id", "row-id", "case id", "visit.id"; "humid" is none.
	const separators = "_- ."
	stem, isID := strings.CutSuffix(name, "id")
	return isID && stem != "" && strings.ContainsAny(stem[len(stem)-1:], separators)
}

// increasing reports whether column j holds only whole numbers, each larger than the one before.
func (a *lookAhead) increasing(j int) bool {
	for i := range a.rows {
		at := i*len(a.from) + j
		v := a.values[at]
		if a.kinds[at] != Number || v != math.Trunc(v) || i > 0 && v <= a.values[at-len(a.from)] {
			return false
		}
	}
	return true
}
