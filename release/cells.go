package release

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gauze-dp/gauze/model"
)

// Title is that of the release; empty if it has none.
func (r *Release) Title() string {
	if r.Identity == nil {
		return ""
	}
	return r.Identity.Title
}

// Column is what is publicly known of column j: at least its name.
func (r *Release) Column(j int) Column {
	if j < len(r.Columns) {
		return r.Columns[j]
	}
	return Column{Name: r.Names()[j]}
}

// Names are those of the columns.
func (r *Release) Names() (names []string) {
	if r.Model != nil {
		return r.Model.Columns
	}
	for i := range r.Profile {
		names = append(names, r.Profile[i].Name)
	}
	return names
}

// Called is what people call the column.
func (c Column) Called() string { return cmp.Or(c.Label, c.Name) }

// Heading is what people call the column, with the unit of its values.
func (c Column) Heading() string {
	if c.UnitOfMeasure == "" {
		return c.Called()
	}
	return c.Called() + " (" + c.UnitOfMeasure + ")"
}

// Caption is the heading, and the name that flags and files know the column by if that is another.
func (c Column) Caption() string {
	if c.Called() == c.Name {
		return c.Heading()
	}
	return c.Heading() + ", column " + c.Name
}

// Keep tells the model which values its columns can hold, as far as it is known: limits that were
// declared, and units that were declared or that counts say. Read does so.
func (r *Release) Keep() {
	for i := range r.Groups {
		r.Of(i).Keep()
	}
	if r.Model == nil {
		return
	}
	cells := make([]model.Cell, r.Model.Dim())
	for j, name := range r.Model.Columns {
		c := &cells[j]
		c.Least, c.Most = math.Inf(-1), math.Inf(1)
		for _, u := range r.Diagnostics.Units {
			if u.Column == name {
				c.Unit, c.Offset = u.Unit, u.Offset
			}
		}
		public := r.Column(j)
		if public.RoundedTo > 0 {
			c.Unit, c.Offset = public.RoundedTo, 0
		}
		if public.AtLeast != nil {
			c.Least = *public.AtLeast
		}
		if public.AtMost != nil {
			c.Most = *public.AtMost
		}
	}
	r.Model.Cells = cells
}

// columns checks the public facts of the columns, and the units that were inferred.
func (v *verifier) columns(r *Release) {
	names := r.Names()
	if n := len(r.Columns); n > 0 && n != len(names) {
		v.fault(true, "columns", fmt.Sprintf("one for each of %d", len(names)), fmt.Sprint(n))
		return
	}
	for j, c := range r.Columns {
		field := fmt.Sprintf("columns[%d].", j)
		v.fault(c.Name != names[j], field+"name", strconv.Quote(names[j])+", as in the model or the profile", strconv.Quote(c.Name))
		v.amount(field+"rounded_to", c.RoundedTo, math.MaxFloat64)
		if c.AtLeast != nil && c.AtMost != nil && !(*c.AtLeast <= *c.AtMost) {
			v.fault(true, field+"at_most", fmt.Sprintf("at_least, %v, or more", *c.AtLeast), fmt.Sprint(*c.AtMost))
		}
		v.fault(!slices.Contains([]string{"", "number", "count", "yes-no"}, c.Kind), field+"kind", "number, count or yes-no", strconv.Quote(c.Kind))
		for i, code := range c.Missing {
			number, isNumber := code.(float64)
			text, isText := code.(string)
			v.fault(!(isNumber && number-number == 0 || isText && text != ""), fmt.Sprintf("%smissing[%d]", field, i), "a finite number or text", fmt.Sprintf("%v", code))
		}
	}
	for i, u := range r.Diagnostics.Units {
		v.amount(fmt.Sprintf("diagnostics.units[%d].unit", i), u.Unit, math.MaxFloat64)
	}
}
