package component

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// publicPoints is how many points stand for the standard Gaussian; fewer in many dimensions, where
// each costs d^2 and the coordinates are known better, but never less than leastPoints.
const (
	publicPoints = 20000
	pointsWork   = 8e6
	leastPoints  = 4000
)

// Points are fixed, public, independent standard Gaussian vectors: the rows of Z, D numbers each.
// Each stands for itself and its negative, so that odd moments vanish.
type Points struct {
	D int
	Z []float64
}

// NewPoints returns the same points whenever it is called with the same d >= 1.
func NewPoints(d int) Points {
	half := int(math.Min(publicPoints, math.Max(leastPoints, pointsWork/float64(d*d)))) / 2
	p := Points{D: d, Z: make([]float64, half*d+1)}
	state := uint64(0x9e3779b97f4a7c15)
	uniform := func() float64 { // splitmix64, in (0, 1)
		state += 0x9e3779b97f4a7c15
		x := state
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
		return (float64(x>>11) + .5) / (1 << 53)
	}
	for i := 0; i+1 < len(p.Z); i += 2 {
		r, angle := math.Sqrt(-2*math.Log(uniform())), 2*math.Pi*uniform()
		p.Z[i], p.Z[i+1] = r*math.Cos(angle), r*math.Sin(angle)
	}
	p.Z = p.Z[:half*d]
	return p
}

// pointsAtOnce is the number of points handled together, coordinate by coordinate: that many
// numbers of one coordinate follow each other in memory, and those of 50 stay close to the
// processor.
const pointsAtOnce = 512

// Moments returns the mean and second moment of delta + root z over the points, clipped to radius^2
// = r2: far from N(0, I), where a Law's first order does not reach.
func (p Points) Moments(delta []float64, root *mat.SymDense, r2 float64) ([]float64, *mat.SymDense) {
	d, half := p.D, len(p.Z)/p.D
	mean, second := make([]float64, d), mat.NewSymDense(d, nil)
	z, y := mat.NewDense(d, pointsAtOnce, nil), mat.NewDense(d, 2*pointsAtOnce, nil)
	for at := 0; at < half; at += pointsAtOnce {
		m := min(pointsAtOnce, half-at)
		factor := make([]float64, 2*m)
		z.Slice(0, d, 0, m).(*mat.Dense).Copy(mat.NewDense(m, d, p.Z[at*d:(at+m)*d]).T())
		for i, shift := range delta {
			row := y.RawRowView(i)[:2*m]
			clear(row)
			for l := range d {
				floats.AddScaled(row[:m], root.At(i, l), z.RawRowView(l)[:m])
			}
			for k, v := range row[:m] {
				row[k], row[m+k] = shift+v, shift-v
				factor[k] += row[k] * row[k]
				factor[m+k] += row[m+k] * row[m+k]
			}
		}
		for k, q := range factor {
			factor[k] = math.Sqrt(math.Min(1, r2/q))
		}
		for i := range d {
			row := y.RawRowView(i)[:2*m]
			floats.Mul(row, factor)
			mean[i] += floats.Sum(row)
			for j := range i + 1 {
				second.SetSym(i, j, second.At(i, j)+floats.Dot(row, y.RawRowView(j)[:2*m]))
			}
		}
	}
	second.ScaleSym(.5/float64(half), second)
	floats.Scale(.5/float64(half), mean)
	return mean, second
}
