package release

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/model"
)

// Cells are the values that each column of the model can hold, as far as it is known: limits that
// were declared, and units that were declared or that counts say.
func (r *Release) Cells() []model.Cell {
	out := make([]model.Cell, r.Model.Dim())
	for j, name := range r.Model.Columns {
		out[j] = model.Cell{Least: math.Inf(-1), Most: math.Inf(1)}
		for _, u := range r.Diagnostics.Units {
			if u.Column == name {
				out[j].Unit, out[j].Offset = u.Unit, u.Offset
			}
		}
		if j >= len(r.Columns) {
			continue
		}
		c := r.Columns[j]
		if c.RoundedTo > 0 {
			out[j].Unit, out[j].Offset = c.RoundedTo, 0
		}
		if c.AtLeast != nil {
			out[j].Least = *c.AtLeast
		}
		if c.AtMost != nil {
			out[j].Most = *c.AtMost
		}
	}
	return out
}

// columns checks the public facts of the columns, and the units that were inferred.
func (v *verifier) columns(r *Release) {
	if n := len(r.Columns); n > 0 && n != r.Model.Dim() {
		v.fault("columns", fmt.Sprintf("one for each of the model's %d", r.Model.Dim()), fmt.Sprint(n))
		return
	}
	for j, c := range r.Columns {
		field := fmt.Sprintf("columns[%d].", j)
		if c.Name != r.Model.Columns[j] {
			v.fault(field+"name", strconv.Quote(r.Model.Columns[j])+", as in the model", strconv.Quote(c.Name))
		}
		v.amount(field+"rounded_to", c.RoundedTo, math.MaxFloat64)
		if c.AtLeast != nil && c.AtMost != nil && !(*c.AtLeast <= *c.AtMost) {
			v.fault(field+"at_most", fmt.Sprintf("at_least, %v, or more", *c.AtLeast), fmt.Sprint(*c.AtMost))
		}
	}
	for i, u := range r.Diagnostics.Units {
		v.amount(fmt.Sprintf("diagnostics.units[%d].unit", i), u.Unit, math.MaxFloat64)
	}
}
