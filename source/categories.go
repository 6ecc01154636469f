package source

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/internal/words"
)

// MostCategories bounds the number of values of a column of categories. A guess: the noise in the
// release of each is too large for more values.
const MostCategories = 1000

// answers are the values of a column of YesNo that is counted as categories are.
var answers = []string{"0", "1"}

// Categorical reports whether the shares of the column's values are measured, and not their mean:
// of categories, and of a column of YesNo whose values are counted.
func (c *Column) Categorical() bool {
	return c.Kind == Categories || c.Kind == YesNo && c.Categories != nil
}

// Counted returns the columns with the values of those of YesNo counted as those of categories; the
// columns as they are if no number would be left.
func (s *Schema) Counted() []Column {
	counted := slices.Clone(s.Columns)
	for i := range counted {
		if c := &counted[i]; c.Kind == YesNo {
			c.Categories = slices.Clone(answers)
		}
	}
	if len((&Schema{Columns: counted}).Numbers()) == 0 {
		return s.Columns
	}
	return counted
}

// Numbers returns the columns that hold numbers, as they are fitted: all but those of categories.
func (s *Schema) Numbers() (numbers []Column) {
	for _, c := range s.Columns {
		if !c.Categorical() {
			numbers = append(numbers, c)
		}
	}
	return numbers
}

// Categorical returns the columns of categories.
func (s *Schema) Categorical() (categories []Column) {
	for _, c := range s.Columns {
		if c.Categorical() {
			categories = append(categories, c)
		}
	}
	return categories
}

// OtherValue is the value of a column of categories that stands for every text that is none of its
// other values.
const OtherValue = "(other)"

// longestValue is the length in bytes of the longest text that can be found as a value: a longer
// one is no category.
const longestValue = 200

// Values returns the values of a column of categories: those that it declares, and then "" for a
// cell that is missing or holds another. Where they are to be found it returns "" alone.
func (c *Column) Values() []string { return slices.Concat(c.Categories, []string{""}) }

// tidyCategories trims the values of a column of categories, and returns an error if they are
// invalid.
func (c *Column) tidyCategories() error {
	if c.Kind != Categories && c.Categories == nil && !c.Find || c.Kind == YesNo && slices.Equal(c.Categories, answers) && !c.Find {
		return nil
	}
	fault := &Error{Field: fmt.Sprintf("schema, column %q, categories", c.Name), Wanted: "values that are distinct, not empty and can be printed",
		Hint: fmt.Sprintf("list them: --columns %s, or in a schema \"categories\": [\"a\", \"b\"]", words.Quoted(ColumnList([]string{c.Name})+":category(a,b)"))}
	if c.Kind != Categories {
		fault.Wanted, fault.Got, fault.Hint = "none beside this kind of column", fmt.Sprint(len(c.Categories)), `say "kind": "category"`
		return fault
	}
	if c.Find && c.Categories != nil {
		fault.Wanted, fault.Got, fault.Hint = `values, or "find"`, "both", "declare the values that are public, or have them found"
		return fault
	}
	own := slices.Clone(c.Categories)
	for i, v := range own {
		v = strings.TrimSpace(v)
		fault.Got = fmt.Sprintf("%q", v)
		if v == "" || slices.Contains(own[:i], v) || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl) {
			return fault
		}
		own[i] = v
	}
	fault.Got = fmt.Sprint(len(own))
	switch {
	case len(own) == 0 && !c.Find:
		fault.Wanted, fault.Got = "the values that it can have, which are public", "none"
		fault.Hint += fmt.Sprintf("; or have frequent ones found, as a part of what the budget pays for: %q, \"categories\": \"find\"", c.Name+":category(find)")
		return fault
	case len(own) > MostCategories:
		fault.Wanted, fault.Hint = fmt.Sprintf("at most %d", MostCategories), "declare those that matter: all others count as missing"
		return fault
	case c.RoundedTo != 0 || c.AtLeast != nil || c.AtMost != nil:
		fault.Wanted, fault.Got, fault.Hint = "no unit and no limits beside categories", "some", "leave rounded_to, at_least and at_most out"
		return fault
	}
	if !c.Find {
		c.Categories = own
	}
	return nil
}

// findValues in place of values asks a fit to find them.
const findValues = "find"

// declaredCategories reads the field of a schema file: values, or the word that asks to find them.
func declaredCategories(column string, raw json.RawMessage) (values []string, find bool, err error) {
	if raw == nil || string(raw) == "null" {
		return nil, false, nil
	}
	field := fmt.Sprintf("schema, column %q, categories", column)
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word == findValues {
			return nil, true, nil
		}
		return nil, false, &Error{Field: field, Wanted: `an array of values, or "find"`, Got: fmt.Sprintf("%q", word), Hint: `write "categories": ["a", "b"]`}
	}
	if json.Unmarshal(raw, &values) != nil {
		return nil, false, &Error{Field: field, Wanted: "an array of texts", Got: "something else", Hint: `write "categories": ["1", "2"] for numbers`}
	}
	return values, false, nil
}

// values holds the values of a column of categories, by which cells are counted.
type values struct {
	label   int // its index among labels
	codes   map[string]int
	numbers map[string]int // of values that read as a number, by that number
	missing []any
	other   int  // code of OtherValue; -1 for none
	yesNo   bool // words of YesNo are values too
	// Of a column whose values are to be found: all texts, by their codes. The order is that of the
	// rows, so the codes stand for the texts within a table and for nothing else.
	find  bool
	texts []string
}

// categoriesOf finds the schema's columns of categories in the header.
func (t *Table) categoriesOf() (lost []string) {
	header := t.reader.Header()
	for _, c := range t.schema.Categorical() {
		i := slices.Index(header, c.Name)
		if i < 0 {
			lost = append(lost, c.Name)
			continue
		}
		v := values{label: len(t.roles.labels), codes: map[string]int{}, numbers: map[string]int{}, find: c.Find, other: slices.Index(c.Categories, OtherValue), yesNo: c.Kind == YesNo}
		v.missing, _ = tidyCodes("", slices.Concat(c.Missing, t.schema.CSV.Missing))
		for code, value := range c.Categories {
			v.codes[value] = code
			if number, ok := exactDecimal(value); ok {
				v.numbers[number] = code
			}
		}
		t.roles.labels = append(t.roles.labels, i)
		t.categories, t.report.Categories = append(t.categories, v), append(t.report.Categories, CategoryReport{Name: c.Name})
	}
	return lost
}

// code returns the number of a cell's value, and counts it. A cell that is missing or holds an
// undeclared value gets the number after the last.
func (v *values) code(label string, d *Dialect, count *CategoryReport) int {
	text := strings.TrimSpace(label)
	coded := func(code any) bool { return strings.EqualFold(personOf(fmt.Sprint(code)), personOf(text)) }
	if v.yesNo && slices.ContainsFunc(v.missing, coded) { // before its values, as in a column of numbers
		count.Missing++
		return len(v.codes)
	}
	if code, ok := v.codes[text]; ok {
		count.Known++
		return code
	}
	plain, ok := d.plain(text)
	number, is := exactDecimal(plain)
	if code, known := v.numbers[number]; ok && is && known {
		count.Known++
		return code
	}
	if word(text) == Missing || slices.ContainsFunc(v.missing, coded) {
		count.Missing++
		return len(v.codes)
	}
	if number, ok := answer(text); ok && v.yesNo {
		count.Known++
		return int(number)
	}
	if count.Other++; v.other >= 0 {
		return v.other
	}
	return len(v.codes)
}

// textCode returns the number of a cell's text, a new one for a text that was not seen before, and
// counts the cell; -1 for a missing one. Which text a cell has is a function of the cell alone: one
// that cannot be printed or is too long is OtherValue.
func (v *values) textCode(label string, count *CategoryReport) int {
	text := strings.TrimSpace(label)
	coded := func(code any) bool { return strings.EqualFold(personOf(fmt.Sprint(code)), personOf(text)) }
	if word(text) == Missing || slices.ContainsFunc(v.missing, coded) {
		count.Missing++
		return -1
	}
	if count.Known++; len(text) > longestValue || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		text = OtherValue
	}
	code, known := v.codes[text]
	if !known {
		code = len(v.texts)
		v.codes[text], v.texts = code, append(v.texts, text)
	}
	return code
}

// Texts returns what the codes of the columns of categories stand for, after all rows were read:
// nil for a column whose values are declared. It returns nil if all are.
func (t *Table) Texts() (texts [][]string) {
	any := false
	for _, v := range t.categories {
		own := v.texts
		if any = any || v.find; v.find && own == nil {
			own = []string{}
		}
		texts = append(texts, own)
	}
	if !any {
		return nil
	}
	return texts
}

// noteText counts cells of columns of categories and of groups that are not UTF-8.
func (t *Table) noteText(name, label string) {
	if utf8.ValidString(label) {
		return
	}
	if t.notText == nil {
		t.notText = map[string]int{}
	}
	t.notText[name]++
}

// checkCategories returns an error for columns of categories in which no declared value occurs, and
// for those whose text is in another encoding than the header shows.
func (t *Table) checkCategories() error {
	var without []string
	for _, c := range t.report.Categories {
		if c.Known == 0 && c.Other > 0 {
			without = append(without, c.Name)
		}
	}
	if t.any {
		return nil
	}
	if t.notText != nil && t.schema.CSV.Encoding == "" && t.schema.Unreadable == "" {
		names := slices.Sorted(maps.Keys(t.notText))
		return &Error{Field: "columns " + quoteNames(names), Wanted: "text in UTF-8", Got: "other bytes in " + words.Plural(t.notText[names[0]], "cell"),
			Hint: `in Western European letters: --csv "encoding=latin1"; otherwise save the file as UTF-8, or count such cells as missing: --unreadable missing`}
	}
	if without == nil {
		return nil
	}
	return &Error{Field: "columns " + quoteNames(without), Wanted: "at least one cell with a value of those that are declared", Got: "none",
		Hint: "list the values as they are written in the cells; case counts"}
}

// kindWords are the kinds that a list of columns can give, as in "sex:category(f,m)".
var kindWords = []string{Numbers, Counts, YesNo, Dates, Logs, Categories}

// parseColumn reads one column of a list: a name, a name in quotes, or a name with a kind.
func parseColumn(text string) (c Column, err error) {
	fault := &Error{Field: "columns", Wanted: "names separated by commas", Got: fmt.Sprintf("%q", text), Hint: "write age,bmi or age,sex:category(f,m)"}
	if text = strings.TrimLeft(text, " \t"); !strings.HasPrefix(text, `"`) {
		text = strings.TrimSpace(text)
	}
	head, values := text, ""
	if at := categoryAt(text); at >= 0 {
		closed := false
		if values, closed = strings.CutSuffix(text[at+len(categoryOpens):], ")"); !closed {
			return c, fault
		}
		head, c.Kind = text[:at], Categories
	}
	if !strings.HasPrefix(head, `"`) || strings.Count(head, `"`)%2 == 0 && !strings.HasSuffix(head, `"`) {
		for _, kind := range kindWords {
			if name, ok := strings.CutSuffix(head, ":"+kind); ok && c.Kind == "" && name != "" {
				head, c.Kind = name, kind
			}
		}
	}
	names, err := fieldsOf(head)
	if err != nil || len(names) != 1 {
		return c, fault
	}
	c.Name = names[0]
	if c.Find = strings.TrimSpace(values) == findValues; c.Kind == Categories && values != "" && !c.Find {
		if c.Categories, err = fieldsOf(values); err != nil {
			return c, fault
		}
	}
	return c, nil
}

const categoryOpens = ":category("

// categoryAt returns the index of ":category(" outside of quotes, and -1 if text has none.
func categoryAt(text string) int {
	quoted := false
	for i := range text {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], categoryOpens):
			return i
		}
	}
	return -1
}

// fieldsOf splits a list at its commas, as a line of CSV.
func fieldsOf(list string) ([]string, error) {
	reader := csv.NewReader(strings.NewReader(list))
	reader.TrimLeadingSpace = true
	return reader.Read()
}

// splitColumns splits a list of columns at the commas that are outside of quotes and of the
// parentheses of categories.
func splitColumns(list string) (columns []string) {
	first, quoted, inside := 0, false, false
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == '"':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(list[i:], categoryOpens):
			inside = true
		case list[i] == ')':
			inside = false
		case list[i] == ',' && !inside:
			columns, first = append(columns, list[first:i]), i+1
		}
	}
	return append(columns, list[first:])
}
