package component

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Split is a release of the moments of the rows within a gate, |z|^2 <= Gate, clipped to the
// radius^2 R2, and at no further cost of the directions in which the others lie: two components of
// one query. A row beyond the gate has no share in the first, and all of its share in the second,
// where every vector is clipped to a length that costs what the first one's does, however far out
// the row lies.
type Split struct {
	Map      query.Affine
	R2, Gate float64
}

// Utility constants of a Split, guesses: its first frame is so much larger that shares change from
// 1 to 0 within a part of the gate, and its second so much smaller that it has no say in them.
const (
	splitSharp, splitFlat = 8, 1e-3
	// farIsotropic: far rows in no clear direction are spread evenly over the other directions, if
	// there are more than this many noise sds of them.
	farIsotropic = 3
)

// Components returns those of the query.
func (s Split) Components() []query.Component {
	scaled := func(by float64) query.Affine {
		f := s.Map
		f.W = make([][]float64, len(s.Map.W))
		for i, row := range s.Map.W {
			f.W[i] = floats.ScaleTo(make([]float64, len(row)), by, row)
		}
		return f
	}
	return []query.Component{
		{Map: scaled(splitSharp), Radius: splitSharp * math.Sqrt(s.R2)},
		{Map: scaled(splitFlat), Radius: splitFlat * math.Sqrt(s.Gate), LogWeight: -splitSharp * splitSharp * s.Gate / 2},
	}
}

// Unpack returns the sums of z over the rows within, and of the unit vectors z/|z| over the others.
func (s Split) Unpack(sums []Sums) (within, beyond Sums) {
	return sums[0].scaled(splitSharp), sums[1].scaled(splitFlat * math.Sqrt(s.Gate))
}

// scaled returns the sums of z/unit.
func (s Sums) scaled(unit float64) Sums {
	floats.Scale(1/unit, s.Sum)
	s.Second.ScaleSym(1/(unit*unit), s.Second)
	s.SumSD /= unit
	for _, number := range []*float64{&s.SecondSD, &s.Trace, &s.TraceSD} {
		*number /= unit * unit
	}
	return s
}

// A Beyond is what is known of the rows beyond a gate, as parts of all rows.
type Beyond struct {
	Share  float64
	First  []float64     // the sum of z over them, over all rows
	Second *mat.SymDense // that of z z^T
	Hidden float64       // the part of the trace whose direction the noise hides, and that Second lacks
	Noise  float64       // of Second, relative to it, in the noisiest direction that it has
	// Astray is what the noise of the directions alone gives Second in another one.
	Astray float64
	// Ways is the number of directions that Second has.
	Ways int
}

// NewBeyond returns the far rows of a Split, given their number and the sums of their unit vectors,
// when their |z| and |z|^2 have these means and, as far as is known, do not depend on the
// direction. Directions that do not stand out of the noise are left out.
func NewBeyond(s Sums, rows, first, square float64) (f Beyond) {
	d := len(s.Sum)
	f = Beyond{Share: math.Max(s.Trace, 0) / rows, First: make([]float64, d), Second: mat.NewSymDense(d, nil)}
	lambda, v, ok := symmetric.Eigen(s.Second)
	if f.Share == 0 || !ok {
		return f
	}
	kept, held, rest := 0.0, 0, symmetric.Identity(d)
	for i, l := range lambda {
		if l <= s.SecondSD*math.Sqrt(2*float64(d)) {
			continue
		}
		c := mat.VecDenseCopyOf(v.ColView(i))
		f.Second.SymRankOne(f.Second, l, c)
		rest.SymRankOne(rest, -1, c)
		kept, held, f.Ways = kept+l, held+1, f.Ways+1
		f.Noise = math.Max(f.Noise, s.SecondSD/l)
		f.Astray += s.SecondSD * s.SecondSD / (2 * l)
		floats.AddScaled(f.First, floats.Dot(c.RawVector().Data, s.Sum), c.RawVector().Data)
	}
	left := s.Trace - kept
	switch {
	case held < d && left > farIsotropic*s.SecondSD*math.Sqrt(float64(d)):
		rest.ScaleSym(left/float64(d-held), rest)
		f.Second.AddSym(f.Second, rest)
		f.Ways = d
	case left > 0:
		f.Hidden = left * square / rows
	}
	floats.Scale(first/rows, f.First)
	f.Second.ScaleSym(square/rows, f.Second)
	f.Astray *= square / rows
	return f
}

// InColumns leaves the far rows only in the columns in which they stand out of the noise of their
// directions, which moves rows that are far enough out in one column as far as one likes in all
// others. The value of a row z in column j is its product with row j of columns, of length 1;
// without an inverse nothing is done.
func (f *Beyond) InColumns(columns *mat.Dense) {
	d, k := columns.Dims()
	var inverse, part mat.Dense
	if d != k || inverse.Inverse(columns) != nil {
		return
	}
	own, all := symmetric.Congruence(columns, f.Second), true
	kept := mat.NewDense(d, d, nil)
	for j := range d {
		if own.At(j, j) > 2*math.Log(astrayColumns*float64(d))*f.Astray {
			kept.Set(j, j, 1)
		} else {
			all = false
		}
	}
	if all {
		return
	}
	part.Product(&inverse, kept, columns)
	f.Second = symmetric.Congruence(&part, f.Second)
	first := make([]float64, d)
	symmetric.AddMul(first, &part, f.First)
	f.First = first
}

// astrayColumns: of so many columns without far rows one is taken to have some, and then gets an sd
// as large as the noise of a direction is at the distance of these rows. A guess.
const astrayColumns = 1000

// With returns mean and covariance of all rows when those within have the mean delta and the
// covariance with the symmetric root spread.
func (f Beyond) With(delta []float64, spread *mat.SymDense) ([]float64, *mat.SymDense) {
	mean, cov := append([]float64(nil), delta...), mat.NewSymDense(len(delta), nil)
	cov.SymOuterK(1-f.Share, spread)
	if f.Share == 0 {
		return mean, cov
	}
	cov.AddSym(cov, f.Second)
	cov.SymRankOne(cov, -1/f.Share, mat.NewVecDense(len(mean), f.First)) // the far rows about their own mean
	apart := floats.ScaleTo(make([]float64, len(mean)), 1/f.Share, f.First)
	floats.Sub(apart, delta)
	cov.SymRankOne(cov, f.Share*(1-f.Share), mat.NewVecDense(len(mean), apart))
	floats.AddScaled(mean, f.Share, apart)
	return mean, cov
}
