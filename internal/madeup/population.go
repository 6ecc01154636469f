package madeup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Spectrum says how the eigenvalues of a covariance lie between 1 and 1/kappa.
type Spectrum string

// The spectra. The zero value is Geometric. A single eigenvalue is 1/kappa in all of them.
const (
	Geometric Spectrum = ""          // from 1 to 1/kappa in equal ratios
	Halves    Spectrum = "halves"    // the larger half 1, the others 1/kappa
	OneBig    Spectrum = "one-big"   // one is 1, the others 1/kappa
	OneSmall  Spectrum = "one-small" // one is 1/kappa, the others 1
)

// Spectra are all of them.
var Spectra = []Spectrum{Geometric, Halves, OneBig, OneSmall}

// String returns the spectrum's name.
func (s Spectrum) String() string {
	if s == Geometric {
		return "geometric"
	}
	return string(s)
}

// A Population says which distributions are drawn, one for each seed: x = D(m + Qw), where w has
// independent or at least uncorrelated entries of mean 0 and the variances of the spectrum, Q has
// random orthonormal columns, m is the mean and D are the columns' units. Standard deviations are
// those along the axes of Q; the largest is 1.
type Population struct {
	Columns int `json:"d"` // Required.
	// Constant of the columns, at random places, are constant.
	Constant int `json:"constant,omitempty"`
	// Rank of the covariance; 0 for that of all columns that are not constant.
	Rank     int      `json:"rank,omitempty"`
	Spectrum Spectrum `json:"spectrum,omitempty"`
	Kappa    float64  `json:"kappa,omitempty"` // At least 1; 0 is 1.
	// Offset is the distance of m from the origin, in the largest standard deviation, in a random
	// direction.
	Offset float64 `json:"offset,omitempty"`
	// Units are powers of ten, one for each column, with exponents uniform between -Units and
	// Units.
	Units float64 `json:"units,omitempty"`
	// Axes leaves Q the first columns of the identity.
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
		{p.Constant < 0 || p.Constant >= p.Columns, "constant", "fewer than there are columns", p.Constant},
		{p.Rank < 0 || p.Rank > p.Columns-p.Constant, "rank", "at most the number of columns that vary", p.Rank},
		{!slices.Contains(Spectra, p.Spectrum), "spectrum", "one of Spectra", p.Spectrum},
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

// RankOf returns the rank of the covariance.
func (p Population) RankOf() int {
	if p.Rank > 0 {
		return p.Rank
	}
	return p.Columns - p.Constant
}

// CovarianceRate and MeanRate are what the errors of the sample's mean and covariance are about,
// for Gaussian rows: the roots of r(r+1)/n and r/n at rank r.
func (p Population) CovarianceRate(n int) float64 {
	r := float64(p.RankOf())
	return math.Sqrt(r * (r + 1) / float64(n))
}

// MeanRate returns the sampling error of the mean.
func (p Population) MeanRate(n int) float64 { return math.Sqrt(float64(p.RankOf()) / float64(n)) }

// A Law is a distribution as it was drawn.
type Law struct {
	Mean []float64  // in the table's columns
	unit []float64  // of each column
	axes *mat.Dense // d x r, orthonormal columns
	sd   []float64  // along the axes
	law  law
}

// Truth draws the distribution of a seed.
func (p Population) Truth(seed uint64) (*Law, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	d, r := p.Columns, p.RankOf()
	out := &Law{Mean: make([]float64, d), unit: make([]float64, d), axes: mat.NewDense(d, r, nil), sd: p.sds(r), law: laws[p.Law]}
	varies := rng.Perm(d)[:d-p.Constant]
	slices.Sort(varies)
	q := mat.DenseCopyOf(mat.NewDiagDense(len(varies), ones(len(varies))))
	if !p.Axes {
		q = Rotation(rng, len(varies))
	}
	for i, j := range varies {
		out.axes.SetRow(j, q.RawRowView(i)[:r])
	}
	floats.AddScaled(out.Mean, p.Offset, direction(rng, d))
	for j := range out.unit {
		out.unit[j] = math.Pow(10, p.Units*(2*rng.Float64()-1))
		out.Mean[j] *= out.unit[j]
	}
	return out, nil
}

// sds returns the standard deviations along the axes.
func (p Population) sds(r int) []float64 {
	kappa := max(1, p.Kappa)
	sds := ones(r)
	for i := range sds {
		small := false
		switch p.Spectrum {
		case Halves:
			small = i >= (r+1)/2
		case OneBig:
			small = i > 0
		case OneSmall:
			small = i == r-1
		default:
			sds[i] = math.Pow(kappa, -.5*float64(i)/math.Max(1, float64(r-1)))
		}
		if small || r == 1 {
			sds[i] = 1 / math.Sqrt(kappa)
		}
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
	// MeanError and CovarianceError are those of the mean and the covariance of the rows that are
	// not stray: what can be had without privacy.
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
	w, total, sum, square := make([]float64, r), 0.0, make([]float64, r), mat.NewSymDense(r, nil)
	for i := range n {
		stray := truth.law(w, rng)
		if !stray {
			total++
			floats.Add(sum, w)
			addOuter(square, w)
		}
		truth.place(out.Rows.RawRowView(i), w)
	}
	out.moments(total, sum, square)
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
	// Covariance is |A^+ F F^T A^+T - I| in the Frobenius norm, for the truth A A^T.
	Covariance float64
	// Null is the estimate's standard deviation in the directions in which the truth has none (the
	// root of the sum of squares), in units of the truth's largest; and NullMean how far the mean
	// is off there.
	Null, NullMean float64
	// Rank is the number of directions in which the estimate has a standard deviation above
	// NullBar.
	Rank int
}

// NullBar is a standard deviation that counts as none, in units of the largest: far below any that
// is drawn, far above rounding.
const NullBar = 1e-8

// Errors measures an estimate against the truth.
func (l *Law) Errors(mean []float64, factor *mat.Dense) Errors {
	off, scaled := l.inUnits(mean, factor)
	m, meanRest := l.split(off)
	f, rest := l.split(scaled)
	return Errors{Mean: mat.Norm(m, 2), Covariance: distance(gram(f), nil), Null: mat.Norm(rest, 2), NullMean: mat.Norm(meanRest, 2), Rank: rankOf(scaled)}
}

// Added measures an estimate against the sample's own moments, in the norms of Errors: what privacy
// adds.
func (s *Sample) Added(mean []float64, factor *mat.Dense) (ofMean, ofCovariance float64) {
	off, scaled := s.Truth.inUnits(mean, factor)
	m, _ := s.Truth.split(off)
	f, _ := s.Truth.split(scaled)
	for i, v := range s.mean {
		ofMean = math.Hypot(ofMean, m.At(i, 0)-v)
	}
	return ofMean, distance(gram(f), s.cov)
}

// inUnits returns an estimate's distance from the true mean and its factor in the columns' units,
// so that nothing over- or underflows.
func (l *Law) inUnits(mean []float64, factor *mat.Dense) (off, scaled *mat.Dense) {
	d, k := factor.Dims()
	off, scaled = mat.NewDense(d, 1, nil), mat.NewDense(d, k, nil)
	for j, unit := range l.unit {
		off.Set(j, 0, (mean[j]-l.Mean[j])/unit)
		for i := range k {
			scaled.Set(j, i, factor.At(j, i)/unit)
		}
	}
	return off, scaled
}

func gram(f *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Mul(f, f.T())
	return &out
}

// split takes columns of vectors to the axes, in standard deviations, and returns what is left of
// them across.
func (l *Law) split(v *mat.Dense) (along, rest *mat.Dense) {
	along, rest = new(mat.Dense), new(mat.Dense)
	along.Mul(l.axes.T(), v)
	rest.Mul(l.axes, along)
	rest.Sub(v, rest)
	for i, sd := range l.sd {
		floats.Scale(1/sd, along.RawRowView(i))
	}
	return along, rest
}

// rankOf counts the singular values above NullBar.
func rankOf(f *mat.Dense) int {
	var svd mat.SVD
	if !svd.Factorize(f, mat.SVDNone) {
		return -1
	}
	rank := 0
	for _, v := range svd.Values(nil) {
		if v > NullBar {
			rank++
		}
	}
	return rank
}
