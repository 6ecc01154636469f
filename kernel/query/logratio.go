package query

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// LogRatio asks how much better the mixture F explains the rows than G does: the sum over rows of
//
//	clip(ln f(x) - ln g(x), -Bound, Bound),
//	f(x) = sum_j exp(LogWeight_j - |z_j|^2/2) over F, g the same over G,
//
// z_j = Frame_j(x). Where a row has no finite image under one of them, that density counts as zero
// there; a row with none under both adds 0.
//
// Answer: one number, in nats. Privacy: one row adds an integer of size at most 2^30 (times Bound
// 2^-30), checked by construction of the clip: sensitivity 2 2^30 under replace-one, 2^30 under
// add-or-remove-one, whatever F and G are. Caller must ensure: nothing.
//
// Source: [KSSU19] Section E of the restatement chooses k on a coreset.
// Differs: this measures the choice on the rows.
type LogRatio struct {
	F, G  []Component // Map and LogWeight are used
	Bound float64     // nats, > 0
}

const ratioUnits = 1 << 30

// Kind returns "log ratio".
func (LogRatio) Kind() string { return "log ratio" }

// Validate returns an error if Bound or a frame does not fit a table of d columns.
func (q LogRatio) Validate(d int) error {
	if !(q.Bound > 0) || !rowkernels.Finite(q.Bound) {
		return fmt.Errorf("query: LogRatio.Bound: want a positive number, got %v", q.Bound)
	}
	if len(q.F) == 0 || len(q.G) == 0 {
		return fmt.Errorf("query: LogRatio: want at least one component on each side, got %d and %d", len(q.F), len(q.G))
	}
	return ValidDensities(slices.Concat(q.F, q.G), d)
}

// ValidDensities returns an error if the components cannot be densities of rows of d columns.
func ValidDensities(components []Component, d int) error {
	for _, c := range components {
		if err := c.Map.Validate(d); err != nil {
			return err
		}
		if !rowkernels.Finite(c.LogWeight) {
			return fmt.Errorf("query: Component.LogWeight: want a finite number, got %v", c.LogWeight)
		}
	}
	return nil
}

// Size returns 1.
func (LogRatio) Size() int { return 1 }

// Sensitivity returns 2 or 1 times 2^30.
func (LogRatio) Sensitivity(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return ratioUnits
	}
	return 2 * ratioUnits
}

// Weight returns 1.
func (LogRatio) Weight(int) float64 { return 1 }

// Unit returns Bound 2^-30 nats.
func (q LogRatio) Unit() float64 { return q.Bound / ratioUnits }

// Compile returns the row map.
func (q LogRatio) Compile(d int) RowMap {
	m := &ratioMap{View: rowkernels.NewView(nil, nil, nil, d), bound: q.Bound}
	for i, side := range [][]Component{q.F, q.G} {
		m.sides[i] = DensitiesOf(side, m.X, false)
	}
	return m
}

type ratioMap struct {
	*rowkernels.View
	bound float64
	sides [2]*Densities
}

// Add maps rows panel by panel.
func (m *ratioMap) Add(sum []int64, rows []float64) {
	m.Each(rows, func(n int) {
		for _, side := range m.sides {
			side.Apply(m.X, false)
		}
		for r := range n {
			if !m.Null(r) {
				sum[0] += m.integer(logDensity(m.sides[0], r), logDensity(m.sides[1], r))
			}
		}
	})
}

// integer returns the clipped difference in units of Bound 2^-30: at most 2^30 in size, for any
// arguments.
func (m *ratioMap) integer(f, g float64) int64 {
	switch {
	case f == g: // also both -Inf
		return 0
	case !(f-g < m.bound): // +Inf, or NaN, which cannot be: both finite or one -Inf
		return ratioUnits
	case f-g <= -m.bound:
		return -ratioUnits
	}
	return min(max(int64(rowkernels.Nearest(float64((f-g)/m.bound*ratioUnits))), -ratioUnits), ratioUnits)
}

// logDensity returns ln sum_j exp(LogWeight_j - |z_j|^2/2) of row r, -Inf if no |z_j|^2 is finite.
// Terms below e^far of the largest are left out.
func logDensity(side *Densities, r int) float64 { return side.Best[r] + logOf(side.Total[r]) }

// logOf returns ln x for normal x >= 1, to 1e-12, by the same operations on every machine: ln m = 2
// artanh((m-1)/(m+1)) for a mantissa m in [sqrt(1/2), sqrt 2).
func logOf(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)
	s2 := float64(s * s)
	t := 0.0
	for k := 17; k >= 1; k -= 2 {
		t = float64(t*s2) + 1/float64(k)
	}
	return float64(2*float64(s*t)) + float64(float64(e)*math.Ln2)
}
