package source

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/internal/words"
)

// A Schema says which columns are fitted, in which order. It is public: whoever sees a release may
// know all of it.
type Schema struct {
	// At least one, names distinct, unless Infer is set.
	Columns []Column `json:"columns"`
	// Infer lets the cells of the first rows choose the columns, if none are declared. The privacy
	// promise does not cover that choice, and releases say so.
	Infer bool `json:"-"`
	// Title and Dataset name the release and its data set, for people and ledgers; "" if they are
	// not stated.
	Title   string `json:"title,omitempty"`
	Dataset string `json:"dataset,omitempty"`
	// Unit is the column that names the person of a row: rows with the same value are one person.
	// With "" a row is a person, and a table whose rows seem to be several of one person is
	// refused; NoUnit states that every row is a person, whatever it looks like.
	Unit string `json:"unit,omitempty"`
	// By are the columns that name the group of a row: each group gets a model of its own.
	By []Grouping `json:"by,omitempty"`
	// CSV says how the input is written, if it is CSV, and codes that mean missing in all columns.
	CSV Dialect `json:"csv,omitzero"`
	// Unreadable says what happens to cells that hold something but no number: "" is an error that
	// counts them, UnreadableMissing makes each a missing cell.
	Unreadable string `json:"unreadable,omitempty"`
}

// UnreadableMissing makes cells that cannot be read count as missing.
const UnreadableMissing = "missing"

// A Column is one column to fit.
type Column struct {
	// Required. As in the header, blanks around it ignored.
	Name string `json:"name"`
	// The unit in which it is recorded, in its own units, positive; 0 if unknown.
	RoundedTo float64 `json:"rounded_to,omitempty"`
	// The limits of a value; nil if unknown. A cell outside is a missing one.
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
	// Its label in reports, and the unit of its values ("kg"); "" for its name, and if unknown.
	Label         string `json:"label,omitempty"`
	UnitOfMeasure string `json:"unit_of_measure,omitempty"`
	// The kind of its values: one of the kinds below; "" is Numbers.
	Kind string `json:"kind,omitempty"`
	// The values of a category; nil for numbers. If OtherValue is one of them, it stands for every
	// text that is none of the others; else such a text counts as missing.
	Categories []string `json:"categories,omitempty"`
	// Find asks a fit to find the values of a category among the rows' texts, as a part of what it
	// releases. Categories is nil before that.
	Find bool `json:"find,omitempty"`
	// Codes that mean missing: float64, which compare with cells as numbers, and strings.
	Missing []any `json:"missing,omitempty"`
}

// Named returns a schema of columns of which only the names are known.
func Named(names []string) *Schema {
	schema := &Schema{}
	for _, name := range names {
		schema.Columns = append(schema.Columns, Column{Name: name})
	}
	return schema
}

// NoUnit in place of a unit says that every row is a person of its own, and NoGroups in place of
// the columns that define groups, where some are asked for, that there is one model.
const NoUnit, NoGroups = "none", "none"

// Person returns the column that names the person of a row, "" if every row is a person.
func (s *Schema) Person() string {
	if s.Unit == NoUnit {
		return ""
	}
	return s.Unit
}

// Names lists the columns' names in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	return names
}

const schemaHint = `write {"columns": [{"name": "age", "rounded_to": 1}, {"name": "bmi"}]}`

// ReadSchema reads a schema file: JSON, {"columns": [{"name": "age", "rounded_to": 1}, ..]} with
// all but the names optional.
//
// Unknown fields are errors: a misspelt one would otherwise be ignored in silence.
func ReadSchema(file string) (*Schema, error) {
	data, err := words.ReadFile(file)
	if err != nil {
		return nil, &Error{Field: "schema", Wanted: "a readable file", Got: unreadableFile(err), Hint: "check the path"}
	}
	return parseSchema(data)
}

// parseSchema reads a schema from JSON, as ReadSchema does.
func parseSchema(data []byte) (*Schema, error) {
	type column struct {
		Name      *string  `json:"name"`
		RoundedTo *float64 `json:"rounded_to"`
		AtLeast   *limit   `json:"at_least"`
		AtMost    *limit   `json:"at_most"`
		Label     string   `json:"label"`
		Measure   string   `json:"unit_of_measure"`
		Kind      string   `json:"kind"`
		Missing   []any    `json:"missing"`
		// An array, or a word.
		Categories json.RawMessage `json:"categories"`
		Find       bool            `json:"find"`
	}
	var file struct {
		Columns    []column   `json:"columns"`
		Title      string     `json:"title"`
		Dataset    string     `json:"dataset"`
		Unit       string     `json:"unit"`
		By         []Grouping `json:"by"`
		CSV        Dialect    `json:"csv"`
		Unreadable string     `json:"unreadable"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, malformedSchema(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{Field: "schema", Wanted: "one JSON object", Got: "more text after it", Hint: schemaHint}
	}
	schema := &Schema{Title: file.Title, Dataset: file.Dataset, Unit: file.Unit, By: file.By, CSV: file.CSV, Unreadable: file.Unreadable}
	for i, c := range file.Columns {
		if c.Name == nil {
			return nil, &Error{Field: fmt.Sprintf("schema, columns[%d].name", i), Wanted: "a column's name", Got: "none", Hint: schemaHint}
		}
		column := Column{Name: *c.Name, Label: c.Label, UnitOfMeasure: c.Measure, Kind: c.Kind, Missing: c.Missing}
		var err error
		if column.AtLeast, err = limitOf(column.Name, c.Kind, c.AtLeast); err != nil {
			return nil, err
		}
		if column.AtMost, err = limitOf(column.Name, c.Kind, c.AtMost); err != nil {
			return nil, err
		}
		if column.Categories, column.Find, err = declaredCategories(column.Name, c.Categories); err != nil {
			return nil, err
		}
		column.Find = column.Find || c.Find
		if c.RoundedTo != nil {
			column.RoundedTo = *c.RoundedTo
			if !(column.RoundedTo > 0) {
				return nil, badUnit(column)
			}
		}
		schema.Columns = append(schema.Columns, column)
	}
	return schema, schema.Tidy()
}

// malformedSchema rewrites the decoder's errors without the names of Go's types.
func malformedSchema(err error) error {
	if mistake := (*Error)(nil); errors.As(err, &mistake) { // of a dialect, or a limit
		return mistake
	}
	fault := &Error{Field: "schema", Wanted: "an object with columns", Got: err.Error(), Hint: schemaHint}
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		fault.Got = "an empty file"
	case errors.Is(err, io.ErrUnexpectedEOF):
		fault.Got = "an object that ends early"
	case errors.As(err, &kind):
		fault.Got = kind.Value
		if kind.Field != "" {
			fault.Field, fault.Wanted = "schema, "+kind.Field, "a value as in the example"
		}
		if kind.Field == "csv" {
			fault.Hint = `write "csv": "delimiter=; decimal=,"`
		}
	}
	return fault
}

// ParseColumns reads a list of columns: "age,visits:count,sex:category(f,m)". A name that has a
// comma or a quote in it, or ends as if it had a kind, is quoted as in a CSV header, and so is a
// value.
func ParseColumns(list string) (*Schema, error) {
	schema := &Schema{}
	for _, text := range splitColumns(list) {
		column, err := parseColumn(text)
		if err != nil {
			return nil, err
		}
		schema.Columns = append(schema.Columns, column)
	}
	return schema, schema.Tidy()
}

// ColumnList returns names in the form that ParseColumns reads.
func ColumnList(names []string) string {
	fields := make([]string, len(names))
	for i, name := range names {
		if strings.Contains(name, ":") { // the text after it might be a kind
			fields[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
			continue
		}
		var field strings.Builder
		w := csv.NewWriter(&field)
		if err := w.Write([]string{name}); err != nil {
			panic(err) // a strings.Builder never fails
		}
		w.Flush()
		fields[i] = strings.TrimSuffix(field.String(), "\n")
	}
	return strings.Join(fields, ",")
}

// Tidy trims the names and returns an *Error for demands that no table could satisfy.
func (s *Schema) Tidy() error {
	if len(s.Columns) == 0 {
		return &Error{Field: "schema, columns", Wanted: "at least one column", Got: "none", Hint: schemaHint}
	}
	seen := map[string]bool{}
	for i := range s.Columns {
		c := &s.Columns[i]
		c.Name = strings.TrimSpace(c.Name)
		switch {
		case c.Name == "":
			return &Error{Field: fmt.Sprintf("schema, column %d", i+1), Wanted: "a name", Got: "an empty one", Hint: "take it out or name it as in the header"}
		case !utf8.ValidString(c.Name):
			return &Error{Field: fmt.Sprintf("schema, column %d", i+1), Wanted: "a name in UTF-8", Got: "other bytes", Hint: "save the schema as UTF-8"}
		case seen[c.Name]:
			return &Error{Field: "schema, columns", Wanted: "every column once", Got: fmt.Sprintf("%q twice", c.Name), Hint: "take one out"}
		case c.RoundedTo < 0 || math.IsNaN(c.RoundedTo) || c.RoundedTo > WidestUnit:
			return badUnit(*c)
		}
		if err := c.tidyKind(); err != nil {
			return err
		}
		if err := c.tidyCategories(); err != nil {
			return err
		}
		if err := c.checkLimits(); err != nil {
			return err
		}
		codes, err := tidyCodes(fmt.Sprintf("schema, column %q, missing", c.Name), c.Missing)
		if err != nil {
			return err
		}
		c.Missing = codes
		seen[c.Name] = true
	}
	if len(s.Numbers()) == 0 {
		return &Error{Field: "schema, columns", Wanted: "at least one column of numbers", Got: "categories alone", Hint: "a model is of numbers and what categories go with them: add a number"}
	}
	return s.tidyRoles()
}

// WidestUnit is the largest unit of a column: its square, a variance, fits float64.
const WidestUnit = 1e150

// gridRounding is the largest distance of a limit from a multiple of the unit at which it still
// counts as one, in units: float64's .3 is less than three tenths.
const gridRounding = 1e-9

// checkLimits returns an error for limits that no record can keep to.
func (c Column) checkLimits() error {
	low, high := c.Limits()
	fault := &Error{Field: fmt.Sprintf("schema, column %q, at_most", c.Name), Wanted: fmt.Sprintf("at_least, %v, or more", low), Got: fmt.Sprint(high)}
	switch {
	case !(-math.MaxFloat64 <= low && high <= math.MaxFloat64):
		fault.Wanted, fault.Hint = "finite numbers here and in at_least", "leave out what is not known"
	case low > high:
		fault.Hint = "swap the two"
	case c.RoundedTo > 0 && math.Floor(high/c.RoundedTo+gridRounding) < math.Ceil(low/c.RoundedTo-gridRounding):
		fault.Wanted, fault.Hint = fmt.Sprintf("a multiple of rounded_to, %v, between at_least and it", c.RoundedTo), "give the limits and the unit of the records"
	default:
		return nil
	}
	return fault
}

func badUnit(c Column) error {
	wanted := "a positive number"
	if c.RoundedTo > WidestUnit {
		wanted = fmt.Sprintf("at most %g", WidestUnit)
	}
	return &Error{Field: fmt.Sprintf("schema, column %q, rounded_to", c.Name), Wanted: wanted, Got: fmt.Sprint(c.RoundedTo),
		Hint: "give the unit that the column is recorded in, or leave it out"}
}
