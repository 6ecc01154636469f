package pearson

import "math"

// moments are those of a projection: M[r] is the mean of the r-th power of its values less their
// mean, r to 6.
type moments [7]float64

func (t table) moments() moments {
	mean := 0.0
	for _, y := range t.x {
		mean += y
	}
	mean /= float64(t.n)
	var m moments
	for _, y := range t.x {
		p := 1.0
		for r := range m {
			m[r] += p
			p *= y - mean
		}
	}
	for r := range m {
		m[r] /= float64(t.n)
	}
	return m
}

// nonic returns Pearson's polynomial of degree nine in p = m1 m2, the product of the two
// components' means less the mean of all; coefficients from the constant on.
//
// Source: [PEARSON94] the fundamental nonic; [PPE] Section C3 of the restatement.
func (m moments) nonic() []float64 {
	m3, k4, k5 := m[3], m[4]-3*m[2]*m[2], m[5]-10*m[2]*m[3]
	s3 := m3 * m3
	return []float64{
		-24 * s3 * s3 * s3,
		-96 * s3 * s3 * k4,
		-(63*k4*k4 + 72*m3*k5) * s3,
		288*s3*s3 - 108*m3*k4*k5 + 27*k4*k4*k4,
		444*k4*s3 - 18*k5*k5,
		90*k4*k4 + 72*k5*m3,
		36 * s3,
		84 * k4,
		0,
		24,
	}
}

// sum returns s = m1 + m2 that belongs to a root p of the nonic.
//
// Source: [PEARSON94] the fundamental nonic; [PPE] Section C3 of the restatement.
func (m moments) sum(p float64) float64 {
	m3, k4, k5 := m[3], m[4]-3*m[2]*m[2], m[5]-10*m[2]*m[3]
	return (2*m3*m3*m3 + 6*m3*k4*p + 3*k5*p*p - 8*m3*p*p*p) / (p * (4*m3*m3 + 3*k4*p + 2*p*p*p))
}

// Utility constants: which roots become candidates.
const (
	nearlyReal    = .3   // imaginary part over modulus of a pair whose real part is tried
	leastVariance = 1e-4 // of a component, in units of the projection's
	leastShare    = .02
)

// fromProduct returns the mixture of two Gaussians on a line with the moments M2 to M5, given p =
// m1 m2; false if no admissible one is.
//
// Source: [KMV10] the univariate algorithm; [PPE] Section C3 of the restatement.
func (m moments) fromProduct(p float64) ([]gauss, bool) {
	s := m.sum(p)
	root := math.Sqrt(s*s - 4*p)
	m1, m2 := (s-root)/2, (s+root)/2
	w1 := m2 / (m2 - m1)
	w2 := 1 - w1
	// M2 = sum w (v + m^2) and M3 = sum w (3 m v + m^3) are linear in the variances, and sum w m =
	// 0.
	a := m[2] - w1*m1*m1 - w2*m2*m2
	b := (m[3] - w1*m1*m1*m1 - w2*m2*m2*m2) / 3
	v1 := (b - m2*a) / (w1 * (m1 - m2))
	v2 := (b - m1*a) / (w2 * (m2 - m1))
	least := leastVariance * m[2]
	if !(v1 > least && v2 > least && w1 >= leastShare && w2 >= leastShare) || math.IsInf(v1+v2, 0) {
		return nil, false
	}
	return []gauss{{w1, []float64{m1}, []float64{math.Sqrt(v1)}}, {w2, []float64{m2}, []float64{math.Sqrt(v2)}}}, true
}

// equalMeans returns the mixture with a common mean and the moments M2, M4, M6: two variances whose
// moments are 1, M2, M4/3, M6/15, by Prony.
//
// Source: [PPE] Section C3 of the restatement.
func (m moments) equalMeans() ([]gauss, bool) {
	c1, c2, c3 := m[2], m[4]/3, m[6]/15
	det := c2 - c1*c1
	if !(det > 0) {
		return nil, false
	}
	// v^2 = b v + c holds at both atoms.
	b, c := (c3-c1*c2)/det, (c2*c2-c1*c3)/det
	root := math.Sqrt(b*b + 4*c)
	v1, v2 := (b-root)/2, (b+root)/2
	w1 := (v2 - c1) / (v2 - v1)
	if !(v1 > leastVariance*m[2] && w1 >= leastShare && w1 <= 1-leastShare) || math.IsInf(v2, 0) {
		return nil, false
	}
	return []gauss{{w1, []float64{0}, []float64{math.Sqrt(v1)}}, {1 - w1, []float64{0}, []float64{math.Sqrt(v2)}}}, true
}

// candidates returns the mixtures of two Gaussians that the moments to M5 admit, less the mean of
// all, and how far the sixth moment is from theirs: the real negative roots of the nonic, real
// parts of nearly real pairs, and one with equal means.
//
// Source: [PEARSON94] the fundamental nonic; [KMV10] the univariate algorithm; [PPE] Section C3 of
// the restatement.
// Differs: roots instead of a search over a grid of parameters, and the sixth moment chooses among
// them, as in Pearson's own choice.
func (m moments) candidates() (lines [][]gauss, misfit []float64) {
	for _, z := range roots(m.nonic()) {
		re, im := real(z), imag(z)
		if !(re < 0) || im < -1e-9*math.Abs(re) || im > nearlyReal*math.Hypot(re, im) {
			continue
		}
		if line, ok := m.fromProduct(re); ok {
			lines, misfit = append(lines, line), append(misfit, math.Abs(sixth(line)-m[6])/m[6])
		}
	}
	if line, ok := m.equalMeans(); ok {
		skew := math.Abs(m[3]) / math.Pow(m[2], 1.5)
		lines, misfit = append(lines, line), append(misfit, skew+equalMeansHandicap)
	}
	return lines, misfit
}

// equalMeansHandicap is the charge of the mixture with a common mean, which has the sixth moment by
// construction, on top of the skewness that it cannot have: a utility constant.
const equalMeansHandicap = .02

// sixth moment of a mixture on a line, about 0.
func sixth(line []gauss) float64 {
	s := 0.0
	for _, g := range line {
		m, v := g.mean[0]*g.mean[0], g.root[0]*g.root[0]
		s += g.weight * (m*m*m + 15*m*m*v + 45*m*v*v + 15*v*v*v)
	}
	return s
}

// solve returns the mixture of two Gaussians on a line with the projection's moments: the candidate
// with the nearest sixth.
func (m moments) solve() ([]gauss, bool) {
	lines, misfit := m.candidates()
	best := -1
	for i, e := range misfit {
		if best < 0 || e < misfit[best] {
			best = i
		}
	}
	if best < 0 {
		return nil, false
	}
	return lines[best], true
}
