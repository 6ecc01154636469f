package source

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Sink receives the rows, in order. It must not keep row, which the next one overwrites.
type Sink interface {
	// Append receives one row's values. First come those of the columns of numbers, in the order of
	// Table.Columns: a finite number, or NaN if the cell is missing or none; for a column of Logs
	// its image under Column.Log. Then comes for each column of categories the number of its value,
	// in the order of Column.Values. Its person is "" if the table has no unit or the row none, and
	// its group the number of one of Schema.Groups, -1 for none of them.
	Append(row []float64, person string, group int)
}

// A Table is an opened input whose columns are known and whose rows are yet to be read.
type Table struct {
	reader  Reader
	types   []Type   // of the header's columns
	columns []Column // of numbers
	schema  Schema   // as requested
	// of the columns of categories
	categories []values
	roles      roles
	rules      rules              // of columns
	other      map[int]unreadable // columns that inference left out, and another dialect reads, by their indices in the header
	odd        []unreadable
	notText    map[string]int // cells of categories and groups that are not UTF-8, by the column's name
	ahead      *lookAhead     // of an inferred schema; nil once read
	repeats    *repeats       // nil if the schema has a unit
	report     Report         // without Columns, whose counts are of bad rows only
	read       bool
	any        bool // see TakeAnyCells
}

// take adopts the requested schema, and finds its unit and groups.
func (t *Table) take(schema *Schema) (err error) {
	if schema != nil {
		t.schema = *schema
		t.schema.Columns = slices.Clone(schema.Columns)
		if t.schema.By != nil {
			t.schema.By = slices.Clone(schema.By)
		}
	}
	if len(t.schema.Columns) > 0 {
		err = t.schema.Tidy()
	} else {
		err = t.schema.tidyRoles()
	}
	if err == nil {
		t.schema.CSV.Missing, err = tidyCodes("csv, missing", t.schema.CSV.Missing)
	}
	if u := t.schema.Unreadable; err == nil && u != "" && u != UnreadableMissing {
		err = &Error{Field: "unreadable", Wanted: UnreadableMissing + ", or nothing", Got: fmt.Sprintf("%q", u), Hint: "without it cells that are no numbers are an error that counts them"}
	}
	if err != nil {
		return err
	}
	t.roles, err = rolesOf(&t.schema, t.reader.Header())
	if err == nil && t.schema.Unit == "" {
		t.repeats = t.watch()
	}
	return err
}

// declare finds the schema's columns in the header.
func (t *Table) declare() error {
	header := t.reader.Header()
	at := make(map[string]int, len(header))
	for i, name := range header {
		at[name] = i
	}
	for i := range t.schema.Columns {
		c := &t.schema.Columns[i]
		if j, ok := at[c.Name]; ok && t.types[j].Truth && c.Kind == "" {
			c.Kind = YesNo
			if err := c.tidyKind(); err != nil {
				return err
			}
		}
	}
	t.columns = t.schema.Numbers()
	var pick []int
	var lost []string
	for _, c := range t.columns {
		i, ok := at[c.Name]
		if !ok {
			lost = append(lost, c.Name)
			continue
		}
		pick = append(pick, i)
	}
	if lost = append(lost, t.categoriesOf()...); lost != nil {
		fault := &Error{Field: "header", Wanted: "the declared columns " + quoteNames(lost), Got: "others", Quoted: headerText(header) + meant(lost, header),
			Hint: "fix the schema or add the header row; case counts"}
		if slices.ContainsFunc(lost, func(name string) bool { return strings.Contains(name, ":") }) {
			fault.Hint += "; kinds behind a name are :" + strings.Join(kindWords, ", :")
		}
		return fault
	}
	for i, j := range pick {
		c := t.columns[i]
		if kind := t.types[j]; kind.Hint != "" && !(kind.Truth && c.Kind == YesNo) {
			return &Error{Field: fmt.Sprintf("column %q", c.Name), Wanted: "numbers", Got: kind.Name, Hint: kind.Hint}
		}
	}
	t.reader.Select(pick, t.roles.labels)
	return nil
}

// meant says which names of the header begin as one of the lost does, whatever the case: not of
// what may be a row.
func meant(lost, header []string) string {
	var near []string
	if slices.ContainsFunc(header, readsAsData) {
		return ""
	}
	for _, name := range header {
		if slices.ContainsFunc(lost, func(l string) bool { return l != "" && len(name) >= len(l) && strings.EqualFold(name[:len(l)], l) }) {
			near = append(near, name)
		}
	}
	if near == nil {
		return ""
	}
	return "; did you mean " + quoteNames(near) + "?"
}

// Columns returns the names of the columns of numbers, in order.
func (t *Table) Columns() []string { return (&Schema{Columns: t.columns}).Names() }

// Schema returns the columns to fit with their units, as declared or inferred.
func (t *Table) Schema() *Schema {
	s, numbers := t.schema, 0
	if s.Columns = slices.Clone(s.Columns); len(s.Columns) == 0 { // inferred
		s.Columns = slices.Clone(t.columns)
	}
	for i := range s.Columns {
		if !s.Columns[i].Categorical() {
			s.Columns[i] = t.columns[numbers]
			numbers++
		}
	}
	return &s
}

// Inferred reports whether the cells chose the columns.
func (t *Table) Inferred() bool { return t.report.Inferred }

// TakeAnyCells makes Read accept every input whose rows can be read: one without rows, and one in
// which a column has no number, or cells that hold something else. It is for a table that was
// checked before, when its custodian registered it. From then on a bad cell is a missing one
// whatever the consequence: others see how a fit ends, and one row could cause an error.
func (t *Table) TakeAnyCells() { t.any = true }

// Close releases the input.
func (t *Table) Close() error { return t.reader.Close() }

// Read passes every row to the sink, NaN in place of bad cells. It can be called once.
//
// Its error comes after rows were passed on; the sink must then be discarded unused. A column
// without a single number is an error of type *Error, like a malformed input, and so are cells that
// hold something but no number, unless Schema.Unreadable makes them count as missing; except after
// [Table.TakeAnyCells].
func (t *Table) Read(sink Sink) error {
	if t.read {
		return &Error{Field: "input", Wanted: "one reading of its rows", Got: "a second", Hint: "open it again"}
	}
	t.read = true
	d := len(t.columns)
	row, kinds, labels := make([]float64, d+len(t.categories)), make([]Kind, d), make([]string, len(t.roles.labels))
	values := row[:d]
	for t.ahead.next(values, kinds, labels) {
		if err := t.append(sink, row, kinds, labels); err != nil {
			return err
		}
	}
	ended := t.ahead != nil && t.ahead.ended // then the reader is not asked again: it might start over
	t.ahead = nil
	for !ended {
		err := t.reader.Next(values, kinds, labels)
		if ended = err == io.EOF; ended {
			break
		}
		if err == nil {
			err = t.append(sink, row, kinds, labels)
		}
		if err != nil {
			return err
		}
	}
	if err := cmp.Or(t.checkReadable(), t.checkNumbers(), t.checkCategories()); err != nil {
		return err
	}
	t.report.Repeats = t.repeats.seldom()
	return t.repeats.values()
}

// append counts a row's bad cells and passes it on. It fails once rows turn out to be several of
// one person without a unit.
func (t *Table) append(sink Sink, row []float64, kinds []Kind, labels []string) error {
	values := row[:len(kinds)]
	for a := range t.categories {
		v := &t.categories[a]
		t.noteText(t.report.Categories[a].Name, labels[v.label])
		if count := &t.report.Categories[a]; v.find {
			row[len(kinds)+a] = float64(v.textCode(labels[v.label], count))
		} else {
			row[len(kinds)+a] = float64(v.code(labels[v.label], &t.schema.CSV, count))
		}
	}
	for i, g := range t.roles.by {
		t.noteText(g.Name, labels[t.roles.byAt[i]])
	}
	person, group := t.roles.unitOf(labels), t.roles.groupOf(labels)
	if t.roles.unit >= 0 && person == "" { // a bad row, whatever its cells hold
		t.report.NoPerson++
		for i := range kinds {
			kinds[i] = Missing
		}
		for a := range t.categories {
			row[len(kinds)+a] = math.NaN()
		}
	}
	if group < 0 {
		t.report.NoGroup++
	}
	t.report.Rows++
	t.reread(t.rules.yesNo, answer, values, kinds)
	t.reread(t.rules.dates, dayOf, values, kinds)
	if !t.rules.keep(values, kinds) {
		t.report.BadRows++
		for i, kind := range kinds {
			values[i] = t.cell(i, values[i], kind)
		}
	}
	for a, i := range t.rules.logs { // last, for values within the limits, each by itself
		values[i] = t.rules.maps[a].To(values[i])
	}
	sink.Append(row, person, group)
	return t.repeats.row(values, labels)
}

// cell counts a cell of column i and returns its number, NaN where it is missing or none.
func (t *Table) cell(i int, v float64, kind Kind) float64 {
	v, kind = checked(v, kind)
	count := &t.report.Columns[i]
	switch {
	case t.rules.isCode(i, v, kind, func() string { return t.text(i) }):
		count.Coded++
	case kind == Number && t.rules.outside(i, v):
		count.Outside++
	case kind == Number:
		count.Numbers++
		return v
	default:
		if count.count(kind); kind == NotNumber {
			t.odd[i].note(t.text(i))
		}
	}
	return math.NaN()
}

// text returns the text of a cell of the current row.
func (t *Table) text(i int) string {
	if t.ahead != nil {
		return t.ahead.text(i)
	}
	return TextOf(t.reader, i)
}

// checkNumbers returns an error for all columns that had no number in any row.
func (t *Table) checkNumbers() error {
	if t.any {
		return nil
	}
	var without []string
	wanted := "at least one number in each"
	hint := "a column of text: declare it as a category, use --by with it, or leave it out; numbers are written with a decimal point and no thousands separator"
	for i, c := range t.Report().Columns {
		if c.Numbers > 0 {
			continue
		}
		if kind, ok := writtenAs[t.columns[i].Kind]; ok && without == nil {
			wanted, hint = "at least one "+kind, "write its cells so, declare what they are (a category, a number), or leave it out"
		}
		without = append(without, c.Name)
	}
	switch {
	case t.report.Rows == 0:
		return errNoRows()
	case without != nil:
		return &Error{Field: "columns " + quoteNames(without), Wanted: wanted, Got: "none", Hint: hint}
	}
	return nil
}
