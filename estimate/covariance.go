package estimate

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Limits of a known covariance.
const (
	// leastEigenvalue of its correlation matrix: below it the whitened rows of float64 are noise.
	leastEigenvalue = 1e-12
	// asymmetry that the rounding of a file may leave, relative to the standard deviations.
	asymmetry = 1e-9
)

// ValidateCovariance returns nil if known is nil or the covariance matrix of d columns in the given
// shape: d x d, finite, symmetric, positive definite. Otherwise all faults at once, each a
// *privacy.FieldError, joined.
func ValidateCovariance(known [][]float64, d int, shape CovarianceType) error {
	if known == nil {
		return nil
	}
	fault := func(wanted, got, mend string) error {
		return &privacy.FieldError{Field: "known covariance", Wanted: wanted, Got: got, Mend: mend}
	}
	const rowPerColumn = "give one row and one number in it for each column that is fitted, in their order"
	if len(known) != d {
		return fault(fmt.Sprintf("%d x %d numbers", d, d), fmt.Sprintf("%d rows", len(known)), rowPerColumn)
	}
	for i, row := range known {
		if len(row) != d {
			return fault(fmt.Sprintf("%d x %d numbers", d, d), fmt.Sprintf("%d in row %d", len(row), i+1), rowPerColumn)
		}
	}
	var faults []error
	for i, row := range known {
		if v := row[i]; !(v > 0 && v <= math.MaxFloat64) {
			faults = append(faults, fault("positive variances on the diagonal", fmt.Sprintf("%v for column %d", v, i+1),
				"a column that does not vary within a component cannot be fitted: leave it out"))
		}
	}
	if faults == nil {
		faults = pairFaults(known, shape, fault)
	}
	if faults == nil {
		if least := leastCorrelation(known); !(least > leastEigenvalue) {
			faults = append(faults, fault("a positive definite matrix", fmt.Sprintf("a correlation matrix with the eigenvalue %.3g", least),
				"a combination of the columns that does not vary cannot be fitted: leave a column out, or mend the matrix"))
		}
	}
	return errors.Join(faults...)
}

// pairFaults are the faults off the diagonal of a matrix whose diagonal is sound: one of each kind.
func pairFaults(known [][]float64, shape CovarianceType, fault func(wanted, got, mend string) error) (faults []error) {
	found := map[string]bool{}
	add := func(wanted, got, mend string) {
		if !found[wanted] {
			found[wanted] = true
			faults = append(faults, fault(wanted, got, mend))
		}
	}
	for i := range known {
		for j := range i {
			a, b := known[i][j], known[j][i]
			scale := math.Sqrt(known[i][i]) * math.Sqrt(known[j][j])
			switch {
			case math.IsNaN(a+b) || math.IsInf(a, 0) || math.IsInf(b, 0):
				add("finite numbers", fmt.Sprintf("%v and %v for columns %d and %d", a, b, i+1, j+1), "0 says that two columns are not correlated")
			case math.Abs(a-b) > asymmetry*scale:
				add("a symmetric matrix", fmt.Sprintf("%v and %v for columns %d and %d", a, b, i+1, j+1), "write all digits of both")
			case shape != Full && (a != 0 || b != 0):
				add("a diagonal matrix, as --covariance "+shape.String()+" says", fmt.Sprintf("%v for columns %d and %d", a, i+1, j+1),
					"leave --covariance out")
			}
		}
		if shape == Spherical && math.Abs(known[i][i]-known[0][0]) > asymmetry*known[0][0] {
			add("equal variances, as --covariance spherical says", fmt.Sprintf("%v and %v", known[0][0], known[i][i]), "leave --covariance out")
		}
	}
	return faults
}

// leastCorrelation is the smallest eigenvalue of the correlation matrix.
func leastCorrelation(known [][]float64) float64 {
	d := len(known)
	c := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			c.SetSym(i, j, known[i][j]/math.Sqrt(known[i][i])/math.Sqrt(known[j][j]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(c, false) {
		return math.NaN()
	}
	return e.Values(nil)[0]
}
