package source

import (
	"fmt"
	"slices"
	"strings"
)

// A Grouping is a column that names the group of a row, and the groups that are possible.
type Grouping struct {
	Name       string   `json:"name"`
	Categories []string `json:"categories"`
}

// roles are the columns of an input that are not fitted but name the person and the group of a row.
// Their cells are text, blanks around it ignored.
type roles struct {
	unit   int // its index among labels, -1 for none
	csv    Dialect
	by     []Grouping
	byAt   []int // the indices of by among labels
	labels []int // the columns, by their indices in the header
}

// rolesOf finds the schema's unit and groups in the header.
func rolesOf(schema *Schema, header []string) (r roles, err error) {
	r.unit, r.csv = -1, schema.CSV
	place := func(field, name string) (int, error) {
		i := slices.Index(header, name)
		if i < 0 {
			return 0, &Error{Field: field, Wanted: fmt.Sprintf("a column of the input, got none that is called %q", name), Got: "others", Quoted: headerText(header),
				Hint: "case counts"}
		}
		r.labels = append(r.labels, i)
		return len(r.labels) - 1, nil
	}
	if slices.Contains(header, NoUnit) && schema.Unit == NoUnit {
		return r, &Error{Field: "unit", Wanted: "no column of that name, since none says that rows are persons", Got: "one", Hint: "rename the column"}
	}
	if unit := schema.Person(); unit != "" {
		if r.unit, err = place("unit", unit); err != nil {
			return r, err
		}
	}
	for _, g := range schema.By {
		at, err := place("by", g.Name)
		if err != nil {
			return r, err
		}
		r.by, r.byAt = append(r.by, g), append(r.byAt, at)
	}
	return r, nil
}

// unitOf returns the key of the person of a row with these labels: "" if there is none.
func (r *roles) unitOf(labels []string) string {
	if r.unit < 0 {
		return ""
	}
	return r.csv.personOf(labels[r.unit])
}

// groupOf returns the number of the group of a row with these labels, -1 for no group: the last
// column's categories change fastest.
func (r *roles) groupOf(labels []string) (group int) {
	for i, g := range r.by {
		c := slices.Index(g.Categories, strings.TrimSpace(labels[r.byAt[i]]))
		if c < 0 {
			return -1
		}
		group = group*len(g.Categories) + c
	}
	return group
}

// headerText shows a header unless it may be a row of data, which no error may show.
func headerText(header []string) string {
	if slices.ContainsFunc(header, readsAsData) {
		return "a first row that reads as data"
	}
	return "only " + quoteNames(header)
}

// Groups returns the groups that a schema's groupings define, in the order of their numbers: of
// each, its category in every grouping. Without groupings it returns one group with no category.
func (s *Schema) Groups() [][]string {
	groups := [][]string{nil}
	for _, g := range s.By {
		var next [][]string
		for _, head := range groups {
			for _, c := range g.Categories {
				next = append(next, append(slices.Clone(head), c))
			}
		}
		groups = next
	}
	return groups
}

// tidyRoles trims the names of unit and groups and returns an error if they make no sense.
func (s *Schema) tidyRoles() error {
	s.Unit = strings.TrimSpace(s.Unit)
	taken := map[string]bool{}
	for _, c := range s.Columns {
		taken[c.Name] = true
	}
	own := func(field, name string) error {
		if name == "" || taken[name] {
			return &Error{Field: field, Wanted: "a column of its own, which is not fitted", Got: fmt.Sprintf("%q", name), Hint: "take it out of the columns"}
		}
		taken[name] = true
		return nil
	}
	if unit := s.Person(); unit != "" {
		if err := own("schema, unit", unit); err != nil {
			return err
		}
	}
	for i := range s.By {
		g := &s.By[i]
		g.Name = strings.TrimSpace(g.Name)
		if err := own("schema, by", g.Name); err != nil {
			return err
		}
		for j, c := range g.Categories {
			g.Categories[j] = strings.TrimSpace(c)
			if g.Categories[j] == "" || strings.Contains(g.Categories[j], ",") || slices.Contains(g.Categories[:j], g.Categories[j]) {
				return &Error{Field: fmt.Sprintf("schema, by %q, categories", g.Name), Wanted: "words that are distinct and not empty, without commas",
					Got: fmt.Sprintf("%q", g.Categories[j]), Hint: "write each once"}
			}
		}
		if len(g.Categories) == 0 {
			return &Error{Field: fmt.Sprintf("schema, by %q", g.Name), Wanted: "its categories", Got: "none",
				Hint: `groups are declared and not read off the rows: {"by": [{"name": "sex", "categories": ["f", "m"]}]}`}
		}
	}
	return nil
}
