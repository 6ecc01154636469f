// Package paper has what the packages of papers' algorithms share: the public rotations that
// several sources draw, and finite lists of Gaussian mixtures with the choice of one by how well it
// fits the rows, the second half of every algorithm that first writes down candidates. Lists, sets
// and the masses that mixtures have in them are functions of public or released values; only Choose
// asks the rows.
package paper

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts"
)

// PureEpsilon returns the epsilon of a pure step that may cost mu2.
func PureEpsilon(mu2 float64) float64 { return privacy.PureOfMu(parts.Mu(mu2)) }

// SelectionEpsilon returns the epsilon of an exponential mechanism, by its bounded range, that may
// cost mu2.
func SelectionEpsilon(mu2 float64) float64 { return privacy.BoundedRangeOfMu(parts.Mu(mu2)) }

// Rotation returns a uniformly random orthogonal l x l matrix.
func Rotation(rng *rand.Rand, l int) *mat.Dense {
	g, q := mat.NewDense(l, l, nil), mat.NewDense(l, l, nil)
	for i := range l {
		for j := range l {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	qr.QTo(q)
	return q
}

// RowsText writes a number of rows for people, to two digits: 41,000, and 4.1e+12 from a billion
// on.
func RowsText(n float64) string {
	if !(n < 1e9) {
		return fmt.Sprintf("%.2g", n)
	}
	rounded, err := strconv.ParseFloat(fmt.Sprintf("%.2g", n), 64)
	if err != nil {
		panic(err) // it has just been written
	}
	return words.Digits(int(rounded))
}
