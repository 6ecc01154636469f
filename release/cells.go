package release

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/model"
)

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
		if j >= len(r.Columns) {
			continue
		}
		public := r.Columns[j]
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
	if n := len(r.Columns); n > 0 && n != r.Model.Dim() {
		v.fault(true, "columns", fmt.Sprintf("one for each of the model's %d", r.Model.Dim()), fmt.Sprint(n))
		return
	}
	for j, c := range r.Columns {
		field := fmt.Sprintf("columns[%d].", j)
		v.fault(c.Name != r.Model.Columns[j], field+"name", strconv.Quote(r.Model.Columns[j])+", as in the model", strconv.Quote(c.Name))
		v.amount(field+"rounded_to", c.RoundedTo, math.MaxFloat64)
		if c.AtLeast != nil && c.AtMost != nil && !(*c.AtLeast <= *c.AtMost) {
			v.fault(true, field+"at_most", fmt.Sprintf("at_least, %v, or more", *c.AtLeast), fmt.Sprint(*c.AtMost))
		}
	}
	for i, u := range r.Diagnostics.Units {
		v.amount(fmt.Sprintf("diagnostics.units[%d].unit", i), u.Unit, math.MaxFloat64)
	}
}
