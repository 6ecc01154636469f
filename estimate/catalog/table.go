package catalog

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The rows that methods were measured on.
const (
	GaussianRows = "gaussian"
	HeavyRows    = "t5" // multivariate t with five degrees of freedom
)

// A Kind is what one part of the table is about.
type Kind struct {
	Method   string
	Shape    estimate.CovarianceType
	Relation privacy.Relation
	Data     string // GaussianRows or HeavyRows
	// Loose is the [Looseness] of the facts that the method was given; 0 for a method that was
	// given none.
	Loose float64
}

// Errors are medians over the runs that released a model; NaN where none did.
type Errors struct {
	// Covariance is |A^-1 S A^-T - I|_F for the released S and the true covariance A A^T, Mean the
	// Mahalanobis distance of the means.
	Covariance, Mean float64
	// PlainCovariance and PlainMean are those of the sample covariance and mean of the same rows,
	// without privacy.
	PlainCovariance, PlainMean float64
}

// An ErrorPoint is one measured setting.
type ErrorPoint struct {
	Kind
	Columns, Rows int
	Mu            float64
	Errors
	Released, Runs int // Released of Runs ended in a model
}

// Looseness says how little facts tell: the largest second moment per column that they allow over
// the least variance. It is infinite without bounds on the eigenvalues and on the mean.
func Looseness(f estimate.Facts, columns int) float64 {
	if !f.KnowsEigenvalues() || !f.KnowsMean || columns < 1 {
		return math.Inf(1)
	}
	return math.Max(f.Eigenvalues[1], f.MeanWithin*f.MeanWithin/float64(columns)) / f.Eigenvalues[0]
}

// An ErrorTable is what was measured.
type ErrorTable struct {
	points []ErrorPoint
	grids  map[Kind][]column // by rising number of columns
}

// A column is what was measured of a Kind at one number of columns, by rising mu.
type column struct {
	d      int
	curves []curve
}

// A curve is what was measured at one number of columns and one mu, by rising number of rows.
type curve struct {
	mu     float64
	points []ErrorPoint
}

//go:embed measured.csv
var measured string

// MeasuredErrors is the embedded table.
var MeasuredErrors = sync.OnceValue(func() *ErrorTable {
	t, err := ParseErrorTable(measured)
	if err != nil {
		panic(err) // a test parses it
	}
	return t
})

// newTable makes a table.
//
// Failures: a point without columns, rows, mu or runs, with more releases than runs, or that
// appears twice.
func newTable(points []ErrorPoint) (*ErrorTable, error) {
	for _, p := range points {
		if p.Columns < 1 || p.Rows < 1 || !(p.Mu > 0) || p.Runs < 1 || p.Released < 0 || p.Released > p.Runs {
			return nil, fmt.Errorf("expected errors: %s: wanted columns, rows, mu, and releases among runs, got d=%d n=%d mu=%g and %d of %d", p.Method,
				p.Columns, p.Rows, p.Mu, p.Released, p.Runs)
		}
	}
	t, rising := &ErrorTable{points: points, grids: map[Kind][]column{}}, slices.Clone(points)
	slices.SortFunc(rising, func(a, b ErrorPoint) int { return cmp.Or(a.Columns-b.Columns, cmp.Compare(a.Mu, b.Mu), a.Rows-b.Rows) })
	for _, p := range rising {
		grid := t.grids[p.Kind]
		if len(grid) == 0 || grid[len(grid)-1].d != p.Columns {
			grid = append(grid, column{d: p.Columns})
		}
		of := &grid[len(grid)-1]
		if i := len(of.curves) - 1; i < 0 || of.curves[i].mu != p.Mu {
			of.curves = append(of.curves, curve{mu: p.Mu})
		}
		along := &of.curves[len(of.curves)-1].points
		if i := len(*along) - 1; i >= 0 && (*along)[i].Rows == p.Rows {
			return nil, fmt.Errorf("expected errors: %s: d=%d n=%d mu=%g appears twice", p.Method, p.Columns, p.Rows, p.Mu)
		}
		*along = append(*along, p)
		t.grids[p.Kind] = grid
	}
	return t, nil
}

// Points returns all measured settings, in the order of the file.
func (t *ErrorTable) Points() []ErrorPoint { return slices.Clone(t.points) }

// Kinds lists what was measured of a method, in no order.
func (t *ErrorTable) Kinds(method string) []Kind {
	return slices.DeleteFunc(slices.Collect(maps.Keys(t.grids)), func(k Kind) bool { return k.Method != method })
}
