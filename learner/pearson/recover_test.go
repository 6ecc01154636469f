package pearson_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/dense"

	"github.com/gauze-dp/gauze/learner"
)

// A truth is a random mixture: k components in d columns.
type truth struct {
	weights []float64
	means   [][]float64
	roots   [][]float64 // d x d
}

// random is a mixture with weights within a factor 2, covariances of condition number at most 3 and
// the smallest Mahalanobis distance of two means, by the mean of the two covariances, equal to sep;
// sep 0 puts all means at one place.
func random(rng *rand.Rand, k, d int, sep float64) truth {
	t := truth{make([]float64, k), make([][]float64, k), make([][]float64, k)}
	total := 0.0
	for a := range k {
		t.weights[a] = 1 + rng.Float64()
		total += t.weights[a]
		q := rotation(rng, d)
		scale := .7 + .6*rng.Float64()
		root := make([]float64, d*d)
		for c := range d {
			s := scale * math.Pow(3, rng.Float64()/2)
			for i := range d {
				root[i*d+c] = s * q[i*d+c]
			}
		}
		t.roots[a], t.means[a] = root, make([]float64, d)
		for i := range d {
			t.means[a][i] = rng.NormFloat64()
		}
	}
	for a := range k {
		t.weights[a] /= total
	}
	least := math.Inf(1)
	for b := range k {
		for a := range b {
			least = math.Min(least, t.gap(a, b))
		}
	}
	for _, m := range t.means {
		for i := range m {
			m[i] *= sep / least
		}
	}
	return t
}

// gap is the Mahalanobis distance of two means.
func (t truth) gap(a, b int) float64 {
	d := len(t.means[0])
	s, v := make([]float64, d*d), make([]float64, d)
	for i := range d {
		v[i] = t.means[a][i] - t.means[b][i]
		for j := range d {
			for c := range d {
				s[i*d+j] += (t.roots[a][i*d+c]*t.roots[a][j*d+c] + t.roots[b][i*d+c]*t.roots[b][j*d+c]) / 2
			}
		}
	}
	dense.Cholesky(s, d)
	dense.Forward(s, v, d)
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func rotation(rng *rand.Rand, d int) []float64 {
	q := make([]float64, d*d)
	for c := range d {
		v := make([]float64, d)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		for range 2 {
			for b := range c {
				s := 0.0
				for i := range v {
					s += v[i] * q[i*d+b]
				}
				for i := range v {
					v[i] -= s * q[i*d+b]
				}
			}
		}
		s := 0.0
		for _, x := range v {
			s += x * x
		}
		for i := range v {
			q[i*d+c] = v[i] / math.Sqrt(s)
		}
	}
	return q
}

// pancakes are two equal Gaussians, sep of their thin axis apart along it, and ten times as long in
// all others.
func pancakes(rng *rand.Rand, d int, sep float64) truth {
	t := random(rng, 2, d, 1)
	q := rotation(rng, d)
	for a := range 2 {
		for i := range d {
			for c := range d {
				s := 10.
				if c == 0 {
					s = 1
				}
				t.roots[a][i*d+c] = s * q[i*d+c]
			}
			t.means[a][i] = float64(a) * sep * q[i*d]
		}
	}
	return t
}

// concentric are components with a common mean and the covariances I and ratio I.
func concentric(rng *rand.Rand, d int, ratio float64) truth {
	t := random(rng, 2, d, 1)
	for a := range 2 {
		t.roots[a] = make([]float64, d*d)
		for i := range d {
			t.means[a][i] = 0
			t.roots[a][i*d+i] = math.Pow(ratio, float64(a)/2)
		}
	}
	return t
}

// draw is n rows.
func (t truth) draw(rng *rand.Rand, n int) [][]float64 {
	d := len(t.means[0])
	rows := make([][]float64, n)
	z := make([]float64, d)
	for r := range rows {
		u, a := rng.Float64(), 0
		for ; a < len(t.weights)-1 && u > t.weights[a]; a++ {
			u -= t.weights[a]
		}
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		x := slices.Clone(t.means[a])
		for i := range x {
			for c, v := range z {
				x[i] += t.roots[a][i*d+c] * v
			}
		}
		rows[r] = x
	}
	return rows
}

func (t truth) components() []learner.Component {
	d := len(t.means[0])
	var out []learner.Component
	for a, w := range t.weights {
		c := learner.Component{Weight: w, Mean: t.means[a]}
		for i := range d {
			c.Root = append(c.Root, t.roots[a][i*d:(i+1)*d])
		}
		out = append(out, c)
	}
	return out
}

// far is dist_PARAM: over all assignments, the least of the largest distance of two components.
func far(a, b []learner.Component) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	k := len(a)
	pairs := make([]float64, k*k)
	for i := range a {
		for j := range b {
			pairs[i*k+j] = math.Max(oneWay(a[i], b[j]), oneWay(b[j], a[i]))
		}
	}
	best := math.Inf(1)
	var assign func(i int, used uint, worst float64)
	assign = func(i int, used uint, worst float64) {
		if worst >= best {
			return
		}
		if i == k {
			best = worst
			return
		}
		for j := range k {
			if used>>j&1 == 0 {
				assign(i+1, used|1<<j, math.Max(worst, pairs[i*k+j]))
			}
		}
	}
	assign(0, 0, 0)
	return best
}

// oneWay is the largest of |w-w'|, |mu-mu'| and |Sigma'-Sigma|, the latter two in units of the
// first's covariance.
func oneWay(a, b learner.Component) float64 {
	d := len(a.Mean)
	l := covariance(a)
	if !dense.Cholesky(l, d) {
		return math.Inf(1)
	}
	gap, s := make([]float64, d), make([]float64, 0, d*d)
	for i := range d {
		gap[i] = a.Mean[i] - b.Mean[i]
		s = append(s, b.Root[i]...)
	}
	dense.Forward(l, gap, d)
	dense.SolveLower(l, s, d, d)
	mean, cov := 0.0, 0.0
	for i := range d {
		mean += gap[i] * gap[i]
		for j := range d {
			v := 0.0
			for c := range d {
				v += s[i*d+c] * s[j*d+c]
			}
			if i == j {
				v--
			}
			cov += v * v
		}
	}
	return max(math.Abs(a.Weight-b.Weight), math.Sqrt(mean), math.Sqrt(cov))
}

func covariance(c learner.Component) []float64 {
	d := len(c.Mean)
	s := make([]float64, d*d)
	for i := range d {
		for j := range d {
			for e := range d {
				s[i*d+j] += c.Root[i][e] * c.Root[j][e]
			}
		}
	}
	return s
}
