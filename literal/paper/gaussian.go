package paper

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// MostListed is the largest number of Gaussians or of mixtures in a list: what fits the memory and
// a minute.
const MostListed = 200_000

// ErrTooMany is wrapped by the error of a list that would be longer than MostListed.
var ErrTooMany = errors.New("too many hypotheses")

func tooMany(what string, count float64) error {
	return fmt.Errorf("hypotheses: want at most %d %s, got %.3g; ask for fewer components or a larger error: %w", MostListed, what, count, ErrTooMany)
}

// A Gaussian is N(Mean, L L^T) in the units of the columns that are chosen on.
type Gaussian struct {
	Mean       []float64
	L, Inverse *mat.Dense // L and its inverse, d x d
	LogVolume  float64    // ln |det L|
}

// NewGaussian returns N(mean, cov). Where cov is not positive definite it is fixed as
// linalg.Factor says.
func NewGaussian(mean []float64, cov *mat.SymDense) Gaussian {
	l, inv, logDet := symmetric.Factor(cov)
	return Gaussian{Mean: slices.Clone(mean), L: l, Inverse: inv, LogVolume: logDet / 2}
}

// Line returns N(mean, sd^2).
func Line(mean, sd float64) Gaussian { return Product([]float64{mean}, []float64{sd}) }

// Product returns the Gaussian with independent coordinates N(mean[i], sd[i]^2).
func Product(mean, sd []float64) Gaussian {
	d := len(mean)
	g := Gaussian{Mean: slices.Clone(mean), L: mat.NewDense(d, d, nil), Inverse: mat.NewDense(d, d, nil)}
	for i, s := range sd {
		g.L.Set(i, i, s)
		g.Inverse.Set(i, i, 1/s)
		g.LogVolume += math.Log(s)
	}
	return g
}

// component returns the density of g, up to the factor that all have in common.
func (g Gaussian) component() query.Component {
	f := query.Affine{Center: g.Mean}
	for i := range g.Mean {
		f.W = append(f.W, mat.Row(nil, i, g.Inverse))
	}
	return query.Component{Map: f, LogWeight: -g.LogVolume}
}

// logDensity returns that of component, at x.
func (g Gaussian) logDensity(x []float64) float64 {
	norm2 := 0.0
	for i := range x {
		z := 0.0
		for j, v := range g.Inverse.RawRowView(i) {
			if v != 0 {
				z += v * (x[j] - g.Mean[j])
			}
		}
		norm2 += z * z
	}
	return -g.LogVolume - norm2/2
}

// at returns mean + L z.
func (g Gaussian) at(z []float64) []float64 {
	x := slices.Clone(g.Mean)
	for i := range x {
		for j, v := range g.L.RawRowView(i) {
			x[i] += v * z[j]
		}
	}
	return x
}

// Products lists the Gaussians with independent coordinates that take coordinate i from lists[i],
// Gaussians of one dimension: all of them, the last coordinate first, made as they are asked for.
//
// Source: [AAL21] Algorithm 5 (its list).
func Products(lists [][]Gaussian) iter.Seq[Gaussian] {
	return func(yield func(Gaussian) bool) {
		mean, sd := make([]float64, len(lists)), make([]float64, len(lists))
		var from func(i int) bool
		from = func(i int) bool {
			if i == len(lists) {
				return yield(Product(mean, sd))
			}
			for _, g := range lists[i] {
				if mean[i], sd[i] = g.Mean[0], g.L.At(0, 0); !from(i + 1) {
					return false
				}
			}
			return true
		}
		from(0)
	}
}

// NetLine lists Gaussians N(m, s^2) one of which is within total variation zeta of any with s^2
// within a factor g of the variance of around = N(m0, s0^2), and |m - m0| <= g s0: s = s0
// (1+zeta)^j/sqrt(g), m = m0 + i zeta s. g > 1, 0 < zeta < 1.
//
// Source: [AMN24] Lemma D.1 (one dimension).
func NetLine(around Gaussian, g, zeta float64) iter.Seq[Gaussian] {
	m0, s0 := around.Mean[0], around.L.At(0, 0)
	return func(yield func(Gaussian) bool) {
		for _, v := range powers(g, zeta, 2) {
			s := s0 * v
			for i := -math.Floor(g / (zeta * v)); i <= g/(zeta*v); i++ {
				if !yield(Line(m0+i*zeta*s, s)) {
					return
				}
			}
		}
	}
}

// NetLineSize returns how many Gaussians NetLine lists.
func NetLineSize(g, zeta float64) (size float64) {
	for _, v := range powers(g, zeta, 2) {
		size += 2*math.Floor(g/(zeta*v)) + 1
	}
	return size
}

// powers returns the (1+zeta)^j g^(-1/root), j = 0, 1, .., up to g^(1/root) and the first one
// beyond.
func powers(g, zeta, root float64) (v []float64) {
	low, high := math.Pow(g, -1/root), math.Pow(g, 1/root)
	for j := 0.0; ; j++ {
		v = append(v, low*math.Pow(1+zeta, j))
		if v[len(v)-1] >= high*(1-1e-12) {
			return v
		}
	}
}

// NetPlane lists Gaussians of two dimensions, one of which is within a few zeta of any N(m, S) with
// S between S0/g and g S0 and |S0^(-1/2) (m - m0)| <= g, around = N(m0, S0): S = L0 U diag(l1, l2)
// U^T L0^T with l1 >= l2 powers of 1+zeta from 1/g to g, U the turns by steps of zeta sqrt(l2/l1),
// and m on steps of zeta sqrt(l_i) along its axes.
//
// Source: [AMN24] Lemma D.1 (two dimensions). Differs: L0 stands for the symmetric root of S0,
// which turns the whole net.
func NetPlane(around Gaussian, g, zeta float64) iter.Seq[Gaussian] {
	scales := powers(g, zeta, 1)
	return func(yield func(Gaussian) bool) {
		for i, l1 := range scales {
			for _, l2 := range scales[:i+1] {
				turns := math.Ceil(math.Pi / (zeta * math.Sqrt(l2/l1)))
				if l1 == l2 {
					turns = 1
				}
				for t := range int(turns) {
					if !turned(around, math.Pi*float64(t)/turns, [2]float64{math.Sqrt(l1), math.Sqrt(l2)}, g, zeta, yield) {
						return
					}
				}
			}
		}
	}
}

// turned yields the Gaussians of one covariance.
func turned(around Gaussian, angle float64, sd [2]float64, g, zeta float64, yield func(Gaussian) bool) bool {
	c, s := math.Cos(angle), math.Sin(angle)
	var axes mat.Dense
	axes.Mul(around.L, mat.NewDense(2, 2, []float64{c, -s, s, c}))
	cov := symmetric.Congruence(&axes, mat.NewSymDense(2, []float64{sd[0] * sd[0], 0, 0, sd[1] * sd[1]}))
	shape := NewGaussian(make([]float64, 2), cov)
	step := [2]float64{zeta * sd[0], zeta * sd[1]}
	for i := -math.Floor(g / step[0]); i <= g/step[0]; i++ {
		u := i * step[0]
		reach := math.Ceil(math.Sqrt(math.Max(0, g*g-u*u)) / step[1]) // no walk through what is beyond: g can be n^3
		for j := -reach; j <= reach; j++ {
			v := j * step[1]
			if u*u+v*v > g*g {
				continue
			}
			one := shape
			one.Mean = []float64{around.Mean[0] + axes.At(0, 0)*u + axes.At(0, 1)*v, around.Mean[1] + axes.At(1, 0)*u + axes.At(1, 1)*v}
			if !yield(one) {
				return false
			}
		}
	}
	return true
}
