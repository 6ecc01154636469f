package blocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 61)) }

func normals(g *rand.Rand, n int, scale float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = scale * g.NormFloat64()
	}
	return out
}

// randomMixture has k components that are sep of their standard deviations apart, or more, in a
// frame of its own.
func randomMixture(g *rand.Rand, k, d int, sep float64) []Component {
	out := make([]Component, k)
	for c := range out {
		root := normals(g, d*d, .2)
		for i := range d {
			root[i*d+i]++
		}
		mean := normals(g, d, .1)
		mean[c%d] += sep * float64(1+c/d) * float64(1-2*(c%2))
		out[c] = Component{Weight: (.5 + g.Float64()) / float64(k) / 1.5, Mean: mean, Root: root}
	}
	return out
}

// perturbed is m as a block might estimate it, of scatter s, with another order and other roots.
func perturbed(g *rand.Rand, m []Component, s float64) []Component {
	out := make([]Component, len(m))
	d := len(m[0].Mean)
	for i, to := range g.Perm(len(m)) {
		c := m[i]
		e := normals(g, d*d, s)
		for j := range d {
			e[j*d+j]++
		}
		shift := dense.Mul(c.Root, normals(g, d, s), d, d, 1)
		for j, v := range c.Mean {
			shift[j] += v
		}
		out[to] = Component{Weight: min(1, c.Weight*math.Exp(s*g.NormFloat64())), Mean: shift, Root: dense.Mul(dense.Mul(c.Root, e, d, d, d), rotation(g, d), d, d, d)}
	}
	return out
}

// rotation is a random orthogonal matrix.
func rotation(g *rand.Rand, d int) []float64 {
	q := normals(g, d*d, 1)
	dense.Orthogonalize(q, d, make([]float64, d))
	for i := range d {
		row := q[i*d : i*d+d]
		length := math.Sqrt(dense.Dot(row, row))
		for j := range row {
			row[j] /= length
		}
	}
	_, vectors := dense.Eigen(dense.Mul(q, normals(g, d*d, 1), d, d, d), d)
	return dense.Mul(q, vectors, d, d, d)
}

func scatteredTable(g *rand.Rand, t, k, d int, sep, s float64) [][]Component {
	m := randomMixture(g, k, d, sep)
	out := make([][]Component, t)
	for i := range out {
		out[i] = perturbed(g, m, s)
	}
	return out
}

func rulesFor(t, k, d int, radius float64) Rules {
	core := Core(t, k)
	return Rules{Estimates: t, Components: k, Columns: d, Core: core, Pass: max(core+2, t*9/10), Radius: radius}
}

func BenchmarkAgreement(b *testing.B) {
	for _, c := range []struct {
		t, k, d   int
		s, radius float64
	}{{430, 2, 2, .15, 2}, {600, 2, 5, .1, 2.4}, {600, 3, 5, .1, 3}, {1000, 1, 10, .12, 3.6}, {450, 5, 2, .1, 2}} {
		table := scatteredTable(seeded(1), c.t, c.k, c.d, 6, c.s)
		r := rulesFor(c.t, c.k, c.d, c.radius)
		name := fmt.Sprintf("%dx%dx%d", c.t, c.k, c.d)
		a := r.compare(table)
		b.Run("compare/"+name, func(b *testing.B) {
			for b.Loop() {
				a = r.compare(table)
			}
			b.ReportMetric(float64(a.H())/float64(c.t), "H/t")
		})
		b.Run("mean/"+name, func(b *testing.B) {
			ok := false
			for b.Loop() {
				_, _, ok = a.Mean()
			}
			if ok {
				b.ReportMetric(1, "ok")
			}
		})
	}
}
