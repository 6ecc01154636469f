package spectral

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// Here are dense.LQ and dense.Orthogonalize for rows of any size that float64 can hold. They
// measure rows without squares that overflow, and take cosines in the place of products, which
// costs twice the time and rounds otherwise.

// safeNorm returns the Euclidean norm, without under- and overflow.
func safeNorm(x []float64) float64 {
	big := 0.0
	for _, v := range x {
		big = math.Max(big, math.Abs(v))
	}
	if big == 0 {
		return 0
	}
	s := 0.0
	for _, v := range x {
		s += v / big * (v / big)
	}
	return big * math.Sqrt(s)
}

// safeLQ returns dense.LQ by safeNorm.
func safeLQ(a []float64, n, m int) []float64 { return dense.LQBy(a, n, m, safeNorm) }

// rightAngle: rows this near to orthogonal, as a cosine, are taken as orthogonal by
// safeOrthogonalize.
const rightAngle = 0x1p-46

// safeOrthogonalize turns the n rows of w, n x m, until they are orthogonal, and returns their
// norms, which are the singular values of w, unordered: each to the accuracy of its row, whatever
// the sizes of the others. with, unless nil, has n rows that are turned along: an identity becomes
// the product of the rotations.
//
// By Jacobi's one-sided method.
func safeOrthogonalize(w []float64, n, m int, with []float64) (norms []float64) {
	along := len(with) / max(1, n)
	for range dense.Sweeps {
		turned := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				c, s, ok := rotation(w[p*m:p*m+m], w[q*m:q*m+m])
				if !ok {
					continue
				}
				turned = true
				dense.Turn(w[p*m:p*m+m], w[q*m:q*m+m], c, s)
				dense.Turn(with[p*along:p*along+along], with[q*along:q*along+along], c, s)
			}
		}
		if !turned {
			break
		}
	}
	for i := range n {
		norms = append(norms, safeNorm(w[i*m:i*m+m]))
	}
	return norms
}

// rotation returns the one that makes a and b orthogonal, unless they are.
func rotation(a, b []float64) (c, s float64, ok bool) {
	na, nb := safeNorm(a), safeNorm(b)
	if na == 0 || nb == 0 {
		return 0, 0, false
	}
	cosine := 0.0
	for i := range a {
		cosine += a[i] / na * (b[i] / nb)
	}
	if !(math.Abs(cosine) > rightAngle) {
		return 0, 0, false
	}
	t := 1.0
	if ratio := (nb/na - na/nb) / (2 * cosine); ratio != 0 {
		t = math.Copysign(1/(math.Abs(ratio)+math.Hypot(1, ratio)), ratio)
	}
	c = 1 / math.Hypot(1, t)
	return c, c * t, true
}
