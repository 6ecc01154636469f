package madeup

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Population says which distributions are drawn, one for each seed: x = D(m + Qw), where w has
// independent or at least uncorrelated entries of mean 0 and variances from 1 to 1/kappa in equal
// ratios, Q is a random rotation, m is the mean and D are the columns' units. Standard deviations
// are those along the axes of Q; the largest is 1.
type Population struct {
	Columns int `json:"d"` // Required.
	// Kappa is the condition number, at least 1; 0 is 1. A single variance is 1/Kappa.
	Kappa float64 `json:"kappa,omitempty"`
	// Offset is the distance of m from the origin, in the largest standard deviation, in a random
	// direction.
	Offset float64 `json:"offset,omitempty"`
	// Units are powers of ten, one for each column, with exponents uniform between -Units and
	// Units.
	Units float64 `json:"units,omitempty"`
	// Axes leaves Q the identity.
	Axes bool `json:"axes,omitempty"`
	// Law is the name of the distribution of w, one of laws. Default "gaussian".
	Law string `json:"law,omitempty"`
}

// Validate returns nil or the first fault.
func (p Population) Validate() error {
	_, known := laws[p.Law]
	for _, f := range []struct {
		bad           bool
		field, wanted string
		got           any
	}{
		{p.Columns < 1, "columns", "at least 1", p.Columns},
		{p.Kappa != 0 && !(p.Kappa >= 1), "kappa", "a condition number of at least 1", p.Kappa},
		{!(p.Offset >= 0) || math.IsInf(p.Offset, 1), "offset", "a distance", p.Offset},
		{!(p.Units >= 0) || p.Units > 300, "units", "an exponent between 0 and 300", p.Units},
		{!known, "law", "a known one", p.Law},
	} {
		if f.bad {
			return fmt.Errorf("problem: %s: wanted %s, got %v", f.field, f.wanted, f.got)
		}
	}
	return nil
}

// CovarianceRate and MeanRate are what the errors of the sample's mean and covariance are about,
// for Gaussian rows: the roots of d(d+1)/n and d/n.
func (p Population) CovarianceRate(n int) float64 {
	d := float64(p.Columns)
	return math.Sqrt(d * (d + 1) / float64(n))
}

// MeanRate returns the sampling error of the mean.
func (p Population) MeanRate(n int) float64 { return math.Sqrt(float64(p.Columns) / float64(n)) }

// A Law is a distribution as it was drawn.
type Law struct {
	Mean []float64  // in the table's columns
	unit []float64  // of each column
	axes *mat.Dense // d x d, orthonormal columns
	sd   []float64  // along the axes
	law  law
}

// Truth draws the distribution of a seed.
func (p Population) Truth(seed uint64) (*Law, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	d := p.Columns
	out := &Law{Mean: make([]float64, d), unit: make([]float64, d), axes: mat.DenseCopyOf(mat.NewDiagDense(d, ones(d))), sd: p.sds(), law: laws[p.Law]}
	rng.Perm(d) // nothing follows from it, but that the tables of a seed are what they were
	if !p.Axes {
		out.axes = Rotation(rng, d)
	}
	floats.AddScaled(out.Mean, p.Offset, Direction(rng, d))
	for j := range out.unit {
		out.unit[j] = math.Pow(10, p.Units*(2*rng.Float64()-1))
		out.Mean[j] *= out.unit[j]
	}
	return out, nil
}

// sds returns the standard deviations along the axes.
func (p Population) sds() []float64 {
	sds := ones(p.Columns)
	for i := range sds {
		part := 1.0
		if p.Columns > 1 {
			part = float64(i) / float64(p.Columns-1)
		}
		sds[i] = math.Pow(max(1, p.Kappa), -.5*part)
	}
	return sds
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// A Sample is a table of rows of a distribution.
type Sample struct {
	Truth *Law
	Rows  *mat.Dense // n x d
	// MeanError and CovarianceError are those of the mean and the covariance of the rows: what can
	// be had without privacy.
	MeanError, CovarianceError float64
	// These moments on the axes of the truth, in its standard deviations: 0 and I but for chance.
	mean []float64
	cov  *mat.Dense
}

// Draw draws a distribution and n rows: a function of p, seed and n. The first rows of a longer
// table are those of a shorter one.
func (p Population) Draw(seed uint64, n int) (*Sample, error) {
	truth, err := p.Truth(seed)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, rowStream))
	out := &Sample{Truth: truth, Rows: mat.NewDense(n, p.Columns, nil)}
	r := len(truth.sd)
	w, sum, square := make([]float64, r), make([]float64, r), mat.NewSymDense(r, nil)
	for i := range n {
		truth.law(w, rng)
		floats.Add(sum, w)
		addOuter(square, w)
		truth.place(out.Rows.RawRowView(i), w)
	}
	out.moments(float64(n), sum, square)
	return out, nil
}

// moments keeps the sample's, and their errors.
func (s *Sample) moments(n float64, sum []float64, square *mat.SymDense) {
	s.mean, s.cov = sum, mat.DenseCopyOf(square)
	floats.Scale(1/n, s.mean)
	for a := range s.mean {
		for b := range s.mean {
			s.cov.Set(a, b, s.cov.At(a, b)/n-s.mean[a]*s.mean[b])
		}
	}
	s.MeanError, s.CovarianceError = floats.Norm(s.mean, 2), distance(s.cov, nil)
}

// distance returns the distance of two square matrices in the Frobenius norm; nil is the identity.
func distance(a, b *mat.Dense) float64 {
	r, _ := a.Dims()
	sum := 0.0
	for i := range r {
		for j := range r {
			e := a.At(i, j)
			switch {
			case b != nil:
				e -= b.At(i, j)
			case i == j:
				e--
			}
			sum = math.Hypot(sum, e)
		}
	}
	return sum
}

// place makes a row of w, which it changes.
func (l *Law) place(row, w []float64) {
	floats.Mul(w, l.sd)
	for j := range row {
		row[j] = l.Mean[j] + l.unit[j]*floats.Dot(l.axes.RawRowView(j), w)
	}
}

// addOuter adds w w^T, upper triangle.
func addOuter(s *mat.SymDense, w []float64) {
	raw := s.RawSymmetric()
	for a, v := range w {
		line := raw.Data[a*raw.Stride : a*raw.Stride+len(w)]
		for b := a; b < len(w); b++ {
			line[b] += v * w[b]
		}
	}
}

// Errors are those of an estimate: its mean, and a factor F of its covariance F F^T.
type Errors struct {
	// Mean is the Mahalanobis distance of the means on the axes of the truth.
	Mean float64
	// Covariance is |A^-1 F F^T A^-T - I| in the Frobenius norm, for the truth A A^T.
	Covariance float64
}

// Errors measures an estimate against the truth.
func (l *Law) Errors(mean []float64, factor *mat.Dense) Errors {
	off, scaled := l.inUnits(mean, factor)
	return Errors{Mean: mat.Norm(off, 2), Covariance: distance(gram(scaled), nil)}
}

// Added measures an estimate against the sample's own moments, in the norms of Errors: what privacy
// adds.
func (s *Sample) Added(mean []float64, factor *mat.Dense) (ofMean, ofCovariance float64) {
	off, scaled := s.Truth.inUnits(mean, factor)
	for i, v := range s.mean {
		ofMean = math.Hypot(ofMean, off.At(i, 0)-v)
	}
	return ofMean, distance(gram(scaled), s.cov)
}

// inUnits returns an estimate's distance from the true mean and its factor on the axes, in standard
// deviations; first in the columns' units, so that nothing over- or underflows.
func (l *Law) inUnits(mean []float64, factor *mat.Dense) (off, scaled *mat.Dense) {
	d, k := factor.Dims()
	moved, turned := mat.NewDense(d, 1, nil), mat.NewDense(d, k, nil)
	for j, unit := range l.unit {
		moved.Set(j, 0, (mean[j]-l.Mean[j])/unit)
		for i := range k {
			turned.Set(j, i, factor.At(j, i)/unit)
		}
	}
	off, scaled = new(mat.Dense), new(mat.Dense)
	off.Mul(l.axes.T(), moved)
	scaled.Mul(l.axes.T(), turned)
	for i, sd := range l.sd {
		floats.Scale(1/sd, off.RawRowView(i))
		floats.Scale(1/sd, scaled.RawRowView(i))
	}
	return off, scaled
}

func gram(f *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Mul(f, f.T())
	return &out
}
