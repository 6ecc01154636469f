package release

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/gauze-dp/gauze/model"
)

// A Sampler draws rows from a release's model as its columns can hold them: in the unit that a
// column is recorded in, declared or as counts say, and within what it can be. It is immutable and
// may be shared by goroutines, each with its own rng.
type Sampler struct {
	model  *model.Sampler
	limits [][2]float64
	units  []Unit
}

// mostTries is how often a row outside of a column's limits is drawn again before it is moved to
// them. A guess: a component with less than a hundredth of its rows inside is misplaced.
const mostTries = 100

// NewSampler compiles the release; later changes to it have no effect. It fails if its model is not
// valid.
func NewSampler(r *Release) (*Sampler, error) {
	m, err := model.NewSampler(r.Model)
	if err != nil {
		return nil, err
	}
	return &Sampler{model: m, limits: r.Limits(), units: r.units()}, nil
}

// Row fills dst with one row. Of one that cannot be, another is drawn from the same component: what
// a component holds are rows that were there.
func (s *Sampler) Row(dst []float64, rng *rand.Rand) {
	component := s.model.Row(dst, rng)
	for try := 1; !s.round(dst); try++ {
		if try == mostTries {
			for j, l := range s.limits {
				dst[j] = math.Max(l[0], math.Min(dst[j], l[1]))
			}
			return
		}
		s.model.Component(component, dst, rng)
	}
}

// round rounds the row to the columns' units, and says whether it is within their limits.
func (s *Sampler) round(row []float64) (within bool) {
	within = true
	for j, u := range s.units {
		if u.Unit > 0 {
			row[j] = u.nearest(row[j])
		}
		l := s.limits[j]
		within = within && row[j] >= l[0] && row[j] <= l[1]
	}
	return within
}

// nearest is the multiple of the unit next to x, as the number that is written so: three tenths are
// .3.
func (u Unit) nearest(x float64) float64 {
	k := math.Round((x - u.Offset) / u.Unit)
	if inverse := math.Round(1 / u.Unit); u.Unit < 1 && math.Abs(inverse*u.Unit-1) < 1e-12 {
		return u.Offset + k/inverse
	}
	return u.Offset + k*u.Unit
}

// Limits are the least and the greatest value that each column of the model can have, infinite
// where nothing is known.
func (r *Release) Limits() [][2]float64 {
	out := make([][2]float64, r.Model.Dim())
	for j := range out {
		out[j] = [2]float64{math.Inf(-1), math.Inf(1)}
		if j >= len(r.Columns) {
			continue
		}
		if c := r.Columns[j]; c.AtLeast != nil {
			out[j][0] = *c.AtLeast
		}
		if c := r.Columns[j]; c.AtMost != nil {
			out[j][1] = *c.AtMost
		}
	}
	return out
}

// units are those of the model's columns: declared, else as counts say; 0 for none.
func (r *Release) units() []Unit {
	out := make([]Unit, r.Model.Dim())
	for j, name := range r.Model.Columns {
		for _, u := range r.Diagnostics.Units {
			if u.Column == name {
				out[j] = u
			}
		}
		if j < len(r.Columns) && r.Columns[j].RoundedTo > 0 {
			out[j] = Unit{Unit: r.Columns[j].RoundedTo}
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
