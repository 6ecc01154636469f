package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// A gauss is one component in the frame.
type gauss struct {
	weight float64
	mean   []float64
	root   []float64 // lower triangular
}

// components returns those of the mixture in the coordinates of the rows.
func (f frame) components(mixture []gauss) []learner.Component {
	d := len(f.origin)
	var out []learner.Component
	for _, g := range mixture {
		mean, root := dense.Mul(f.mixed, g.mean, d, d, 1), dense.Mul(f.mixed, g.root, d, d, d)
		c := learner.Component{Weight: g.weight, Mean: mean}
		for a := range d {
			mean[a] += f.origin[a]
			c.Root = append(c.Root, root[a*d:(a+1)*d:(a+1)*d])
		}
		out = append(out, c)
	}
	return out
}

// usable says whether all numbers are finite.
func usable(components []learner.Component) bool {
	for _, e := range learner.Estimates(components) {
		if !dense.AllFinite(e) {
			return false
		}
	}
	return true
}

// A viewer evaluates a mixture at one row after another.
type viewer struct {
	mixture []gauss
	d       int
	offset  []float64 // ln weight - ln det root
	z       []float64 // k x d: root^-1 (x - mean)
	share   []float64 // posterior weights
}

func view(mixture []gauss, d int) *viewer {
	k := len(mixture)
	v := &viewer{mixture, d, make([]float64, k), make([]float64, k*d), make([]float64, k)}
	for a, g := range mixture {
		v.offset[a] = math.Log(g.weight)
		for i := range d {
			v.offset[a] -= math.Log(g.root[i*d+i])
		}
	}
	return v
}

// at fills z and share for a row, and returns the log-density there, without its constant d ln(2
// pi)/2.
func (v *viewer) at(x []float64) float64 {
	d, most := v.d, math.Inf(-1)
	for a, g := range v.mixture {
		z := v.z[a*d : (a+1)*d]
		for i, m := range g.mean {
			z[i] = x[i] - m
		}
		dense.Forward(g.root, z, d)
		v.share[a] = v.offset[a] - dense.Dot(z, z)/2
		most = math.Max(most, v.share[a])
	}
	sum := 0.0
	for a, s := range v.share {
		v.share[a] = math.Exp(s - most)
		sum += v.share[a]
	}
	for a := range v.share {
		v.share[a] /= sum
	}
	return most + math.Log(sum)
}

// likelihood returns the mean log-density of the rows, without its constant.
func likelihood(t table, mixture []gauss) float64 {
	v, s := view(mixture, t.d), 0.0
	for i := range t.n {
		s += v.at(t.row(i))
	}
	return s / float64(t.n)
}

// along returns the mixture's projection on u: what y = <u, x> has.
func along(mixture []gauss, u []float64) []gauss {
	d := len(u)
	out := make([]gauss, len(mixture))
	for a, g := range mixture {
		w := dense.Mul(u, g.root, 1, d, d)
		out[a] = gauss{g.weight, []float64{dense.Dot(u, g.mean)}, []float64{dense.Norm(w)}}
	}
	return out
}

// project returns the table of y = <u, x>.
func (t table) project(u []float64) table {
	return table{t.n, 1, dense.Mul(t.x, u, t.n, t.d, 1)}
}

// thin returns a table of at most n of the rows, evenly spread over the table.
func (t table) thin(n int) table {
	if t.n <= n {
		return t
	}
	out := table{n, t.d, make([]float64, 0, n*t.d)}
	for i := range n {
		out.x = append(out.x, t.row(i*t.n/n)...)
	}
	return out
}

// gaussian returns the Gaussian with the mean and the covariance of the rows; false if that is
// singular.
func (t table) gaussian() (gauss, bool) {
	g := gauss{1, make([]float64, t.d), nil}
	for i := range t.n {
		for a, v := range t.row(i) {
			g.mean[a] += (v - g.mean[a]) / float64(i+1)
		}
	}
	centred := table{t.n, t.d, make([]float64, len(t.x))}
	for i := range t.n {
		for a, v := range t.row(i) {
			centred.x[i*t.d+a] = v - g.mean[a]
		}
	}
	g.root = centred.covariance()
	return g, t.n > t.d && dense.Cholesky(g.root, t.d)
}
