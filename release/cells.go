package release

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/model"
)

// Title returns the release's title; empty if it has none.
func (r *Release) Title() string {
	if r.Identity == nil {
		return ""
	}
	return r.Identity.Title
}

// Column returns what is publicly known of column j of [Release.Names]: at least its name.
func (r *Release) Column(j int) Column { return r.Named(r.Names()[j]) }

// Named returns what is publicly known of the column of that name.
func (r *Release) Named(name string) Column {
	if i := slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return r.Columns[i]
	}
	return Column{Name: name}
}

// The kinds of columns of categories, of yes and no, of days since 1970-01-01, and of numbers that
// are fitted as their logarithms.
const (
	KindLog      = "log"
	KindCategory = "category"
	KindYesNo    = "yes-no"
	KindDate     = "date"
)

// Categorical reports whether the shares of the column's values are released, and not their mean:
// of categories, and of a column of yes and no whose values were counted.
func (c Column) Categorical() bool {
	return c.Kind == KindCategory || c.Kind == KindYesNo && c.Categories != nil
}

// Numbers returns the columns that hold numbers, as the columns of a model do.
func (r *Release) Numbers() (numbers []Column) {
	for _, c := range r.Columns {
		if !c.Categorical() {
			numbers = append(numbers, c)
		}
	}
	return numbers
}

// queryCategories is the kind of counts of categories; its shape holds the number of columns.
const queryCategories = "category counts"

// stepMissing is the step that counts the missing cells of each component in some columns.
const stepMissing = "missing cells"

// missing checks that every component says how many cells are missing in as many columns of the
// model as were counted, if any.
func (v *verifier) missing(r *Release) {
	of := 0
	for i := range r.Certificate.Plan {
		if s := &r.Certificate.Plan[i]; s.Step == stepMissing && s.Shape != nil {
			of = s.Shape.Of
			v.fault(r.Model == nil || of > r.Model.Dim(), fmt.Sprintf("certificate.plan, step %q, shape.of", stepMissing), "at most the columns of the model", fmt.Sprint(of))
		}
	}
	for i, c := range r.Diagnostics.Components {
		field := fmt.Sprintf("diagnostics.components[%d].missing", i)
		v.fault(len(c.Missing) != of, field, fmt.Sprintf("%d columns, as counted", of), fmt.Sprint(len(c.Missing)))
		v.amount(field+"_noise", c.MissingNoise, math.MaxFloat64)
		for name, share := range c.Missing {
			v.fault(r.Model == nil || !slices.Contains(r.Model.Columns, name), field, "columns of the model", strconv.Quote(name))
			v.amount(field, share, 1)
		}
	}
}

// stepCategories is the step that counts each column of categories.
const stepCategories = "categories"

// categorical returns the number of a release's columns of categories.
func categorical(r *Release) int {
	if r.Model != nil {
		return len(r.Model.Categories)
	}
	return len(r.Columns) - len(r.Numbers())
}

// Names returns the names of the model's columns of numbers, or of all columns of a profile.
func (r *Release) Names() (names []string) {
	if r.Model != nil {
		return r.Model.Columns
	}
	for i := range r.Profile {
		names = append(names, r.Profile[i].Name)
	}
	return names
}

// Called returns the column's label or, without one, its name.
func (c Column) Called() string { return cmp.Or(c.Label, c.Name) }

// Heading returns the column's label with the unit of its values.
func (c Column) Heading() string {
	if c.UnitOfMeasure == "" && c.Kind == KindDate {
		return c.Called() + " (date)"
	}
	if c.UnitOfMeasure == "" {
		return c.Called()
	}
	return c.Called() + " (" + c.UnitOfMeasure + ")"
}

// Caption returns the heading, followed by the column's name in flags and files if that differs.
func (c Column) Caption() string {
	if c.Called() == c.Name {
		return c.Heading()
	}
	return c.Heading() + ", column " + c.Name
}

// Keep tells the model which values its columns can hold, as far as is known: declared limits, and
// units that were declared or inferred from counts. Read does so.
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
			if u.Column == name && r.Column(j).Kind != KindLog {
				c.Unit, c.Offset = u.Unit, u.Offset
			}
		}
		public := r.Column(j)
		if public.RoundedTo > 0 {
			c.Unit, c.Offset = public.RoundedTo, 0
		}
		c.Date = public.Kind == KindDate
		if public.AtLeast != nil {
			c.Least = *public.AtLeast
		}
		if public.AtMost != nil {
			c.Most = *public.AtMost
		}
		if public.Kind == KindLog {
			c.Log = dense.LogOf(c.Least, c.Most, c.Unit)
		}
	}
	r.Model.Cells, r.Model.Order, r.Model.Bars = cells, nil, r.bars()
	r.Model.Shared = r.shared(cells)
	if of := len(cells) + len(r.Model.Categories); of > len(cells) {
		for _, c := range r.Columns { // of which some may be held out
			if c.Categorical() || slices.Contains(r.Model.Columns, c.Name) {
				r.Model.Order = append(r.Model.Order, c.Name)
			}
		}
		if len(r.Model.Order) != of {
			r.Model.Order = nil
		}
	}
}

// bars returns what the profile counted of each column of the model; nil if it counted none.
func (r *Release) bars() [][]model.Bar {
	out, any := make([][]model.Bar, r.Model.Dim()), false
	for j, name := range r.Model.Columns {
		for i := range r.Profile {
			if c := &r.Profile[i]; c.Name == name && c.Counted != nil {
				any = true
				for _, b := range c.Counted {
					out[j] = append(out[j], model.Bar(b))
				}
			}
		}
	}
	if !any {
		return nil
	}
	return out
}

// heldOut returns the names of the columns of numbers where a profile stands beside a model: those
// of the model in their order, and others only if the profile says why.
func (v *verifier) heldOut(r *Release, names []string) []string {
	if r.Columns == nil || r.Model == nil || r.Profile == nil {
		return names
	}
	at, all := 0, []string(nil)
	for _, c := range r.Numbers() {
		all = append(all, c.Name)
		if at < len(names) && c.Name == names[at] {
			at++
			continue
		}
		v.fault(!slices.ContainsFunc(r.Profile, func(p ColumnProfile) bool { return p.Name == c.Name && p.HeldOut != "" }), "columns", "those of the model, or held out by the profile", strconv.Quote(c.Name))
	}
	v.fault(at < len(names), "columns", fmt.Sprintf("all %d of the model, in its order", len(names)), fmt.Sprint(at))
	return all
}

// columns checks the public facts of the columns, and the units that were inferred.
func (v *verifier) columns(r *Release) {
	names, categories := r.Names(), []model.Category(nil)
	if r.Model != nil {
		categories = r.Model.Categories
	}
	if names = v.heldOut(r, names); names == nil {
		return
	}
	if n := len(r.Columns); n > 0 && n != len(names)+len(categories) {
		v.fault(true, "columns", fmt.Sprintf("one for each of %d", len(names)+len(categories)), fmt.Sprint(n))
		return
	}
	for j, c := range r.Columns {
		field := fmt.Sprintf("columns[%d].", j)
		if c.Categorical() && r.Model != nil {
			categories = v.category(field, c, categories)
			continue
		}
		if len(names) == 0 {
			v.fault(true, field+"kind", "a category, as in the model", strconv.Quote(c.Kind))
			continue
		}
		v.fault(c.Name != names[0], field+"name", strconv.Quote(names[0])+", as in the model or the profile", strconv.Quote(c.Name))
		names = names[1:]
		v.amount(field+"rounded_to", c.RoundedTo, math.MaxFloat64)
		if c.AtLeast != nil && c.AtMost != nil && !(*c.AtLeast <= *c.AtMost) {
			v.fault(true, field+"at_most", fmt.Sprintf("at_least, %v, or more", *c.AtLeast), fmt.Sprint(*c.AtMost))
		}
		v.fault(!slices.Contains([]string{"", "number", "count", KindYesNo, KindDate, KindLog, KindCategory}, c.Kind), field+"kind", "number, count, yes-no, date, log or category", strconv.Quote(c.Kind))
		v.fault(c.Kind == KindLog && (c.AtLeast == nil || c.AtMost != nil && *c.AtMost <= *c.AtLeast), field+"at_least", "a least value below the most, beside log", "none, or another")
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

// category checks a column of categories against the next one of the model, and returns the rest.
func (v *verifier) category(field string, c Column, of []model.Category) []model.Category {
	if len(of) == 0 {
		v.fault(true, field+"kind", "a number, as in the model", strconv.Quote(c.Kind))
		return nil
	}
	v.fault(c.Name != of[0].Name, field+"name", strconv.Quote(of[0].Name)+", as in the model's categories", strconv.Quote(c.Name))
	values := slices.Concat(c.Categories, []string{""})
	v.fault(!slices.Equal(values, of[0].Values), "model.categories."+c.Name+".values", fmt.Sprintf("%q: those of the column and missing", values), fmt.Sprintf("%q", of[0].Values))
	return of[1:]
}
