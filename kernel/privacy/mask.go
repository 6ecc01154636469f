package privacy

import (
	"errors"
	"fmt"
	"math"
)

// CovarianceMask is the loss of the multiplicative mask of positive definite D x D matrices,
//
//	R(S) = L (I + Eta G) (I + Eta G)' L',   S = L L',   G a D x D matrix of independent N(0, 1),
//
// applied to each of any number k of matrices, whose true values S_c and S'_c in neighbouring
// tables are so close that l, the eigenvalues of all ln(S_c^(-1/2) S'_c S_c^(-1/2)) together, has
// |l|_2 <= Gamma. Released in random order or not.
//
// Theorem. For each order a > 1, in both directions, the Rényi divergence is at most g(-Gamma),
// where
//
//	g(x) = (a/2) (e^(x/2)-1)^2 / (Eta^2 s) - D (ln s - a x) / (2(a-1)),   s = 1 - a + a e^x,
//	if s > 0, and +Inf otherwise.
//
// One eigenvalue -Gamma and the others 0 attain it before the squaring; so no k enters. To leading
// order it is a Gamma^2 (1/(8 Eta^2) + D/4): the second term stays however large Eta is.
//
// Proof: mask_proof.md, steps 1 to 7.
//
// The mask is not Gaussian-DP for any mu: its loss has exponential tails (towards negative
// eigenvalues).
//
// Source: [PPE] Lemma 5.3.2; Section A4 of the restatement.
// Differs: exact for the matrix before it is squared, where the lemma bounds the loss by its tails;
// and the root of S' is rotated, without which the difference of the roots is not bounded by the
// difference of the matrices.
type CovarianceMask struct {
	Dimension int     // D; d+1 for a Gaussian in d columns, lifted. At least 1.
	Gamma     float64 // how far the matrices of neighbours are apart, in [1e-7, 10]
	Eta       float64 // noise, in [1e-6, 1e6]
}

// Validate returns nil or all faults at once, each a *[FieldError], joined.
func (m CovarianceMask) Validate() error {
	return errors.Join(maskField("Dimension", float64(m.Dimension), 1, maxMasked), maskField("Gamma", m.Gamma, minGamma, 10),
		maskField("Eta", m.Eta, minEta, maxEta))
}

const (
	maxMasked = 1 << 20
	// below, the margin of squeezed would show: the curve might fall with the order
	minGamma       = 1e-7
	minEta, maxEta = 1e-6, 1e6
)

func maskField(name string, got, lo, hi float64) error {
	if got >= lo && got <= hi {
		return nil
	}
	return &FieldError{Field: name, Wanted: fmt.Sprintf("a number from %g to %g", lo, hi), Got: fmt.Sprintf("%g", got), Fix: "give one in this range"}
}

// Curve returns g(-Gamma), rounded up as squeezed says. It panics unless m is valid.
func (m CovarianceMask) Curve() Curve {
	mustMask(m.Validate())
	return CurveOf(func(a float64) float64 { return squeezed(a, m.Gamma, m.Dimension, m.Eta) })
}

func mustMask(err error) {
	if err != nil {
		panic("mask: " + err.Error())
	}
}

// slackUp is the factor by which squeezed rounds up.
const slackUp = 1 + 0x1p-47

// squeezed returns g(-x) of [CovarianceMask] at order a, x > 0, rounded up.
//
// With p = 1-e^-x, s = 1-ap, and g grows as s falls. y stands for ap; it is too large by a factor
// of at least 1 + 2^-47.2, since Expm1 (good to one unit in the last place, 2^-52) and two products
// err by at most 2^-50.9. Compared with ln(1-ap), ln(1-y) is then larger in size by at least
// 2^-47.2 p a/(1-ap) >= 2^-47.2 |ln(1-ap)|, while the errors of Log1p, of a x (which is smaller
// than |ln(1-ap)|) and of the difference stay below 2^-51 |ln(1-ap)|. The rest is at most eight
// operations on positive numbers, hence 2^-49, for the last factor. What it costs is a factor 1 +
// 2^-46/((a-1) x) in the second term: 1e-12 for orders above 2 and x above .01.
func squeezed(a, x float64, dimension int, eta float64) float64 {
	y := -a * math.Expm1(-x) * slackUp
	if y >= 1 {
		return math.Inf(1)
	}
	shift := math.Expm1(-x/2) / eta
	return slackUp * (a/2*shift*shift/(1-y) + float64(dimension)*(-math.Log1p(-y)-a*x)/(2*(a-1)))
}

// ParameterMask is the loss of the mask of a mixture's weights, means and covariances, each by
// itself: for every component
//
//	w + EtaWeight z,   mean + EtaMean A z,   A (I + EtaCov G) (I + EtaCov G)' A',
//	A A' the covariance S, z and G independent N(0, 1),
//
// where neighbours have, component by component, |w-w'| <= Gamma, |mean-mean'| <= Gamma in the
// Mahalanobis norm of both covariances, and |S^(-1/2) S' S^(-1/2) - I|_F <= Gamma both as it is and
// with S, S' exchanged: dist_PARAM <= Gamma. Released in random order or not.
//
// Theorem. Let c = ln(1+Gamma), F = min(d, (Gamma/c)^2) and g the function of [CovarianceMask] with
// D = d+1 and Eta = EtaCov. In both directions the Rényi divergence is at most k times
//
//	a Gamma^2/(2 EtaWeight^2) + a Gamma^2/(2 EtaMean^2 (1-(a-1)Gamma)) + F g(-c)
//	if (a-1) Gamma < 1, and +Inf otherwise.
//
// For d = 1 this is attained (before the squaring), if every weight moves by Gamma and every S' is
// S/(1+Gamma).
//
// Proof: mask_proof.md, steps 8 to 11.
//
// For d > 1, F exceeds what a single eigenvalue costs by a factor of up to 1 + Gamma, which is
// about what it may be too large by.
//
// Source: [PPE] Lemma 5.1.1, Lemma 5.2.1, Lemma 5.3.2 and Lemma 6.2.1; Section A4 of the
// restatement.
// Differs: one Rényi curve for all, in place of an (epsilon, delta) for each part and composition.
type ParameterMask struct {
	Components, Dimension      int     // k and d
	Gamma                      float64 // in [1e-7, 1]
	EtaWeight, EtaMean, EtaCov float64 // noise, in [1e-6, 1e6]
}

// Validate returns nil or all faults at once, each a *[FieldError], joined.
func (m ParameterMask) Validate() error {
	return errors.Join(maskField("Components", float64(m.Components), 1, maxMasked), maskField("Dimension", float64(m.Dimension), 1, maxMasked),
		maskField("Gamma", m.Gamma, minGamma, 1), maskField("EtaWeight", m.EtaWeight, minEta, maxEta),
		maskField("EtaMean", m.EtaMean, minEta, maxEta), maskField("EtaCov", m.EtaCov, minEta, maxEta))
}

// Curve returns the theorem's bound, rounded up (any c at least ln(1+Gamma) will do in its proof).
// It panics unless m is valid.
func (m ParameterMask) Curve() Curve {
	mustMask(m.Validate())
	c := math.Log1p(m.Gamma) * slackUp
	f := math.Min(float64(m.Dimension), m.Gamma/c*(m.Gamma/c)*slackUp)
	w, v := m.Gamma/m.EtaWeight, m.Gamma/m.EtaMean
	return CurveOf(func(a float64) float64 {
		left := 1 - (a-1)*m.Gamma*slackUp
		if left <= 0 {
			return math.Inf(1)
		}
		return slackUp * float64(m.Components) * (a/2*w*w + a/2*v*v/left + f*squeezed(a, c, m.Dimension+1, m.EtaCov))
	})
}
