package query

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Form says which second moments the answer holds for a component.
type Form int

// The forms: all second moments; one per column; their sum; all of them, for vectors completed by
// one more entry to the same length for every row; or one per column about a public 1, clipped
// together with the means.
const (
	FullForm Form = iota + 1
	DiagonalForm
	SphericalForm
	CompletedForm
	ColumnForm
)

// A Component is one part of the soft partition that ClippedMoments asks about.
type Component struct {
	// Map maps a row to the component's working coordinates z.
	Map Affine
	// LogWeight is the logarithm of the component's weight times its frame's volume factor: the
	// posterior share of a row is proportional to exp(LogWeight - |z|^2/2). A public or released
	// number.
	LogWeight float64
	// Radius r > 0: z is clipped to the ball of radius r. Ignored by Directions.
	Radius float64
	// Truncate: instead of being clipped, rows with |z| > Radius add nothing to this component, not
	// even to its count; what they add to the others stays the same. Ignored by all but
	// ClippedMoments.
	Truncate bool
	// GateOnly components take their posterior share of a row but release nothing. They stand for a
	// background.
	GateOnly bool
}

// ClippedMoments asks for the weighted count, sum and second moment of the rows, for K components
// at once: the augmented moment release of [KSSU19] restatement A.5.
//
// Row x has posterior shares R_1..R_K >= 0, sum <= 1, and working coordinates z_j clipped to |z_j|
// <= r_j. With the public lift b_j = Lift * r_j, component j contributes
//
//	FullForm:      R_j f f^T,  f = (b, z) / sqrt(r^2 + b^2)
//	DiagonalForm:  R_j u,      u = (r, z, z_1^2/r, .., z_d^2/r) / (sqrt3 r)
//	SphericalForm: R_j u,      u = (r/2, z, |z|^2/r) / (3/2 r)
//	CompletedForm: R_j f f^T,  f = (b, z, sqrt(r^2 - |z|^2)) / sqrt(r^2 + b^2)
//	ColumnForm:  u = (r/sqrt2, s, |s|^2/(sqrt2 r)) / (sqrt2 r),
//	               s = (z, a (z_1^2 - 1), .., a (z_d^2 - 1)), a = Lift
//
// In CompletedForm |f| = 1 for every row, so the whole norm that the sensitivity allows is used.
// Its last diagonal entry is the sum of r^2 - |z|^2, the trace with the noise of a single entry,
// and its last column has a second mean, that of z sqrt(r^2 - |z|^2). Rows beyond the radius have
// the last entry 0.
//
// ColumnForm is for a single component, whose share of every row is 1. There s, and not z, is
// clipped to |s| <= r: of independent columns with mean 0 and variance 1 the entries of s are as
// long as those of z, up to a, so that many means and variances share one sensitivity.
//
// Answer: components that are not GateOnly, one after another; FullForm packs the upper triangle
// row by row (D(D+1)/2 numbers, D = 1 + len(z)), CompletedForm too (D = 2 + len(z)), DiagonalForm 1
// + 2 len(z), SphericalForm 2 + len(z), ColumnForm 2 + 2 len(z). Unpack undoes it.
//
// Privacy: moments_proof.md, steps 1 to 5. The summands are integers, with sum_j |h_j|^2 <= 2^(2B)
// CHECKED in integers for every row, so that rounding has no slack: the L2 sensitivity is sqrt2
// 2^(2B) under replace-one and 2^(2B) under add-or-remove-one (FullForm, CompletedForm), or sqrt2
// 2^B and 2^B (the others). Directed rounding only makes the check pass for every row: see
// rowkernels.Headroom.
//
// Caller must ensure: nothing. Null rows, and rows whose coordinates are not finite in every frame,
// contribute zero; a row too far for one frame only (its |z|^2 overflows) has no share in that
// component.
//
// Source: [KSSU19] Section A.5 of the restatement; integers [TYLERPRESS] Section 0.2.
// Differs: the shares enter as sqrt(R_j) before rounding, so that the integer Gram matrix is exact
// for soft shares as well.
type ClippedMoments struct {
	Components []Component
	Form       Form
	Lift       float64 // in (0, 1]: b/r for FullForm and CompletedForm, a for ColumnForm; ignored by the other forms
}

// Directions asks for the Gram matrix of the unit vectors f/|f|, f = (b, z), z = W(x - m): one step
// of Tyler's iteration on the augmented rows ([TYLERPRESS] Section 4.1; b^2 = nu gives the t_nu
// step of its Section 4.5).
//
// Answer: the upper triangle of the D x D matrix, D = 1 + len(z), row by row; its trace is the
// number of good rows.
//
// Privacy: h = round(q f/|f|) has |h|^2 <= 2^(2B), checked in integers; sensitivity sqrt2 2^(2B)
// under replace-one (attained by orthogonal rows) and 2^(2B) under add-or-remove-one. There is no
// radius: no row can reach beyond the sphere.
//
// Source: [TYLERPRESS] Sections 4.1 and 10, P1.
type Directions struct {
	Map  Affine
	Lift float64 // b > 0
}

const (
	LinearBits = 30 // B of the linear forms
	// MinShare: smaller posterior shares are dropped, row by row. They cost time and add next to
	// nothing.
	MinShare = 1e-4
)

// Kind returns "clipped moments".
func (q ClippedMoments) Kind() string { return "clipped moments" }

// Kind returns "directions".
func (q Directions) Kind() string { return "directions" }

// Validate returns an error if the components do not fit a table of d columns.
func (q ClippedMoments) Validate(d int) error {
	if q.Form < FullForm || q.Form > ColumnForm {
		return fmt.Errorf("query: ClippedMoments.Form: want one of FullForm to ColumnForm, got %d", q.Form)
	}
	if q.Form == ColumnForm && (len(q.Components) != 1 || q.Components[0].Truncate || q.Components[0].GateOnly) {
		return fmt.Errorf("query: ClippedMoments.Components: want one component that is neither Truncate nor GateOnly for ColumnForm, got %+v", q.Components)
	}
	if (q.Form.gram() || q.Form == ColumnForm) && !(q.Lift > 0 && q.Lift <= 1) {
		return fmt.Errorf("query: ClippedMoments.Lift: want a number in (0, 1], got %v", q.Lift)
	}
	for _, c := range q.Components {
		if err := c.Map.Validate(d); err != nil {
			return err
		}
		if !(c.Radius > 0) || !rowkernels.Finite(c.Radius) {
			return fmt.Errorf("query: Component.Radius: want a positive number, got %v", c.Radius)
		}
		if math.IsNaN(c.LogWeight) || math.IsInf(c.LogWeight, 1) {
			return fmt.Errorf("query: Component.LogWeight: want a number, got %v", c.LogWeight)
		}
	}
	if q.Size() == 0 {
		return fmt.Errorf("query: ClippedMoments.Components: want at least one that is not GateOnly, got none")
	}
	return nil
}

// Validate returns an error if the frame does not fit a table of d columns or Lift is not positive.
func (q Directions) Validate(d int) error {
	if !(q.Lift > 0) || !rowkernels.Finite(q.Lift) {
		return fmt.Errorf("query: Directions.Lift: want a positive number, got %v", q.Lift)
	}
	return q.Map.Validate(d)
}

// Size returns the number of integers of a component of d coordinates.
func (f Form) Size(d int) int {
	switch f {
	case DiagonalForm:
		return 1 + 2*d
	case SphericalForm:
		return 2 + d
	case ColumnForm:
		return 2 + 2*d
	default:
		return f.entries(d) * (f.entries(d) + 1) / 2
	}
}

// gram reports whether the form releases products of vectors with themselves.
func (f Form) gram() bool { return f == FullForm || f == CompletedForm }

// entries returns the length of the vector f for d coordinates.
func (f Form) entries(d int) int {
	if f == CompletedForm {
		return d + 2
	}
	return d + 1
}

// Size returns the number of integers in the answer.
func (q ClippedMoments) Size() int {
	n := 0
	for _, c := range q.Components {
		if !c.GateOnly {
			n += q.Form.Size(c.Map.Out())
		}
	}
	return n
}

// Size returns D(D+1)/2.
func (q Directions) Size() int { return FullForm.Size(q.Map.Out()) }

// Sensitivity returns sqrt2 (replace-one) or 1 (add-or-remove-one) times the integer norm bound;
// see the type's comment.
func (q ClippedMoments) Sensitivity(r privacy.Relation) float64 {
	if q.Form.gram() {
		return ReplaceFactor(r) * math.Ldexp(1, 2*rowkernels.GramBits)
	}
	return ReplaceFactor(r) * math.Ldexp(1, LinearBits)
}

// Sensitivity returns sqrt2 2^(2B) or 2^(2B); see the type's comment.
func (q Directions) Sensitivity(r privacy.Relation) float64 {
	return ReplaceFactor(r) * math.Ldexp(1, 2*rowkernels.GramBits)
}

// invSqrt2Up is 1/sqrt2 rounded up: more noise than the proof needs, never less.
var invSqrt2Up = math.Nextafter(math.Sqrt2/2, 1)

// Weight returns 1 on diagonals and 1/sqrt2 off them; 1 everywhere in the linear forms.
func (q ClippedMoments) Weight(i int) float64 {
	if !q.Form.gram() {
		return 1
	}
	for _, c := range q.Components {
		if c.GateOnly {
			continue
		}
		size := q.Form.Size(c.Map.Out())
		if i < size {
			return TriangleWeight(i, q.Form.entries(c.Map.Out()))
		}
		i -= size
	}
	panic("query: ClippedMoments.Weight: index beyond Size")
}

// Weight returns 1 on the diagonal and 1/sqrt2 off it.
func (q Directions) Weight(i int) float64 { return TriangleWeight(i, q.Map.Out()+1) }

func TriangleWeight(i, dim int) float64 {
	for row := dim; row > 0; row-- {
		if i == 0 {
			return 1
		}
		if i < row {
			return invSqrt2Up
		}
		i -= row
	}
	panic("query: index beyond a triangle")
}

// Unit returns q^-2 (FullForm, CompletedForm) or q^-1. It turns sums of h h^T into sums of R f f^T.
func (q ClippedMoments) Unit() float64 {
	h := q.Headroom()
	if q.Form.gram() {
		return 1 / (h * h)
	}
	return 1 / h
}

// Unit returns q^-2.
func (q Directions) Unit() float64 {
	h := rowkernels.Headroom(rowkernels.GramBits, q.Map.Out()+1, false)
	return 1 / (h * h)
}

func (q ClippedMoments) Headroom() float64 {
	if !q.Form.gram() {
		return rowkernels.Headroom(LinearBits, q.Size(), true)
	}
	m := 0
	for _, c := range q.Components {
		if !c.GateOnly {
			m += q.Form.entries(c.Map.Out())
		}
	}
	return rowkernels.Headroom(rowkernels.GramBits, m, false)
}
