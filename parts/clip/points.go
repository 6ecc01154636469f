package clip

import (
	"math"

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

// pointsAtOnce bounds the memory of Moments.
const pointsAtOnce = 1024

// Moments are the mean and second moment of delta + root z over the points, clipped to radius^2 =
// r2: far from N(0, I), where a Law's first order does not reach.
func (p Points) Moments(delta []float64, root *mat.SymDense, r2 float64) ([]float64, *mat.SymDense) {
	d := p.D
	mean, second := make([]float64, d), mat.NewSymDense(d, nil)
	for at := 0; at < len(p.Z); at += pointsAtOnce * d {
		z := p.Z[at:min(at+pointsAtOnce*d, len(p.Z))]
		var step mat.Dense
		step.Mul(mat.NewDense(len(z)/d, d, z), root)
		clipped := mat.NewDense(2*len(z)/d, d, nil)
		for i := range len(z) / d {
			row := step.RawRowView(i)
			for k, sign := range [2]float64{1, -1} {
				y, q := clipped.RawRowView(2*i+k), 0.0
				for j, v := range row {
					y[j] = delta[j] + sign*v
					q += y[j] * y[j]
				}
				g := math.Sqrt(math.Min(1, r2/q))
				for j := range y {
					y[j] *= g
					mean[j] += y[j]
				}
			}
		}
		var part mat.SymDense
		part.SymOuterK(1, clipped.T())
		second.AddSym(second, &part)
	}
	n := float64(2 * len(p.Z) / d)
	second.ScaleSym(1/n, second)
	for i := range mean {
		mean[i] /= n
	}
	return mean, second
}
