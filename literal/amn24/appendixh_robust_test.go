package amn24

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/literal/paper"
)

// enumerated is the robust estimator of one Gaussian, in one column with any number of rows and in
// two with few, where what it searches can be enumerated. No method uses it: the datasets of score
// (3) are multisets of four lattice points, which have no order to be paired by, and of two pairs
// none can be set aside.
//
// Source: [AMN24] Theorem B.3; Lemmas H.2, H.5, and H.7.
// Differs: directions v and matrices P are those of a lattice; of all feasible covariances of Lemma
// H.5 it takes, from a lattice around that of Lemma H.2, the one that is feasible for the least
// threshold, so that no constant is needed.
type enumerated struct {
	Eta  float64 // the part of the rows that may be arbitrary
	Rank int     // of the matrices P
}

// median is that of |x|, x standard Gaussian.
const median = .6744897501960817

// directions are unit vectors, one of each pair v, -v.
func directions(d, count int) (all [][]float64) {
	if d == 1 {
		return [][]float64{{1}}
	}
	for i := range count {
		sin, cos := math.Sincos(math.Pi * float64(i) / float64(count))
		all = append(all, []float64{cos, sin})
	}
	return all
}

// tested is how many directions the estimator looks along in two columns.
const tested = 16

// bracket is where sqrt(v^t S v) may be: the median of |<x, v>| of the clean rows is between the
// points of all rows that parts of 1/2 - 2 eta and 1/2 + 2 eta do not exceed, if sampling moves
// parts by at most eta.
func (e enumerated) bracket(x [][]float64, v []float64) (low, high float64) {
	y := along(x, v)
	for i := range y {
		y[i] = math.Abs(y[i])
	}
	slices.Sort(y)
	at := func(part float64) float64 {
		return y[min(len(y)-1, max(0, int(math.Ceil(part*float64(len(y))))-1))] / median
	}
	return at(.5 - 2*e.Eta), at(.5 + 2*e.Eta)
}

// spectral is the algorithm of Lemma H.2 on centred rows: a covariance S with v^t S v within the
// bracket of each direction. They are linear bounds on the entries of S, so in two columns the
// candidates are the points where three are met; it is the mean of those that meet all, or the one
// that misses them least.
func (e enumerated) spectral(x [][]float64) *mat.SymDense {
	if len(x[0]) == 1 {
		low, high := e.bracket(x, []float64{1})
		return mat.NewSymDense(1, []float64{(low*low + high*high) / 2})
	}
	vs := directions(2, tested)
	var forms [][3]float64
	var bounds [][2]float64
	for _, v := range vs {
		low, high := e.bracket(x, v)
		forms, bounds = append(forms, [3]float64{v[0] * v[0], 2 * v[0] * v[1], v[1] * v[1]}), append(bounds, [2]float64{low * low, high * high})
	}
	best, met, sum := math.Inf(1), 0., [3]float64{}
	var least [3]float64
	vertices(forms, bounds, func(s [3]float64) {
		miss := 0.
		for i, f := range forms {
			q := f[0]*s[0] + f[1]*s[1] + f[2]*s[2]
			miss = math.Max(miss, math.Max(bounds[i][0]-q, q-bounds[i][1])/(bounds[i][1]+1e-300))
		}
		if miss < 1e-9 {
			met++
			for i := range sum {
				sum[i] += s[i]
			}
		}
		if miss < best && s[0] > 0 && s[0]*s[2] > s[1]*s[1] {
			best, least = miss, s
		}
	})
	if met > 0 {
		for i := range sum {
			least[i] = sum[i] / met
		}
	}
	return mat.NewSymDense(2, []float64{least[0], least[1], least[1], least[2]})
}

// vertices calls f with all (S_11, S_12, S_22) at which three bounds on forms are met.
func vertices(forms [][3]float64, bounds [][2]float64, f func(s [3]float64)) {
	for a := range forms {
		for b := range a {
			for c := range b {
				m := mat.NewDense(3, 3, slices.Concat(forms[a][:], forms[b][:], forms[c][:]))
				var inverse mat.Dense
				if inverse.Inverse(m) != nil {
					continue
				}
				for side := range 8 {
					right := [3]float64{bounds[a][side&1], bounds[b][side>>1&1], bounds[c][side>>2&1]}
					var s [3]float64
					for i := range s {
						for j, r := range right {
							s[i] += inverse.At(i, j) * r
						}
					}
					f(s)
				}
			}
		}
	}
}

// aside is how many of m rows are set aside.
func (e enumerated) aside(m int) int { return int(math.Ceil(e.Eta*float64(m) - 1e-9)) }

// matrices are symmetric, of Frobenius norm 1 and rank at most the given one, P but not -P.
func matrices(d, rank int) (all []*mat.SymDense) {
	if d == 1 {
		return []*mat.SymDense{mat.NewSymDense(1, []float64{1})}
	}
	add := func(mix float64, turns int) {
		whole, turn := math.Cos(mix)/math.Sqrt2, math.Sin(mix)/math.Sqrt2
		for i := range turns {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / tested)
			all = append(all, mat.NewSymDense(2, []float64{whole + turn*cos, turn * sin, turn * sin, whole - turn*cos}))
		}
	}
	add(math.Pi/4, tested) // I plus a reflection has rank 1
	if rank > 1 {
		add(0, 1)
		add(math.Pi/8, tested)
		add(3*math.Pi/8, tested)
		add(math.Pi/2, tested/2)
	}
	return all
}

// farthest is the most that the mean of <x x^t - I, P> over a subset of the kept rows, without the
// given number of them, differs from 0: the rows left out are those where it is least, or largest.
func farthest(x [][]float64, p *mat.SymDense, keep []bool, without int) float64 {
	var y []float64
	for i, row := range x {
		if keep == nil || keep[i] {
			y = append(y, formOf(p, row)-mat.Trace(p))
		}
	}
	slices.Sort(y)
	low, high := mean(y[:len(y)-without]), mean(y[without:])
	return math.Max(-low, high)
}

func mean(y []float64) (m float64) {
	for _, v := range y {
		m += v / float64(len(y))
	}
	return m
}

// eachKept calls f with the rows that stay when r of n are set aside, in all ways.
func eachKept(n, r int, f func(keep []bool)) {
	keep := slices.Repeat([]bool{true}, n)
	var place func(from, left int)
	place = func(from, left int) {
		if left == 0 {
			f(keep)
			return
		}
		for i := from; i+left <= n; i++ {
			keep[i] = false
			place(i+1, left-1)
			keep[i] = true
		}
	}
	place(0, r)
}

// threshold is the least one for which the identity is feasible in Lemma H.5: for some rows S, a
// part eta set aside, and all T in S, as many set aside again, and all P, the mean of <x x^t - I,
// P> over T is at most that far from 0. It stops when it is above give.
func (e enumerated) threshold(x [][]float64, give float64) float64 {
	ps, r := matrices(len(x[0]), e.Rank), e.aside(len(x))
	least := give
	eachKept(len(x), r, func(keep []bool) {
		worst := 0.
		for _, p := range ps {
			if worst = math.Max(worst, farthest(x, p, keep, r)); worst >= least {
				return
			}
		}
		least = worst
	})
	return least
}

// frobenius is the algorithm of Lemma H.5 on centred rows: the covariance that is feasible for the
// least threshold, and that threshold, around a crude one. In one column the rows set aside are
// the i smallest and r-i largest squares, for some i, and S is then known.
func (e enumerated) frobenius(x [][]float64, crude *mat.SymDense) (s *mat.SymDense, threshold float64) {
	if len(x[0]) == 1 {
		return e.line(x)
	}
	best := paper.NewGaussian([]float64{0, 0}, crude)
	threshold = math.Inf(1)
	for _, h := range []float64{.5, .5, .25, .12, .06} { // lattices around the best so far
		for _, g := range paper.Covariances(best, h, 1) {
			if v := e.threshold(whitened(x, g), threshold); v < threshold {
				best, threshold = g, v
			}
		}
	}
	return gram(best.L), threshold
}

func (e enumerated) line(x [][]float64) (s *mat.SymDense, threshold float64) {
	r, y := e.aside(len(x)), make([]float64, len(x))
	for i, row := range x {
		y[i] = row[0] * row[0]
	}
	sort.Float64s(y)
	threshold = math.Inf(1)
	for i := range r + 1 {
		kept := y[i : len(y)-(r-i)]
		low, high := mean(kept[:len(kept)-r]), mean(kept[r:])
		if v := (high - low) / (high + low); v < threshold {
			s, threshold = mat.NewSymDense(1, []float64{(high + low) / 2}), v
		}
	}
	return s, threshold
}

// whitened are the rows in units of the pair.
func whitened(x [][]float64, p pair) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = make([]float64, len(row))
		for j := range row {
			for l := range row {
				out[i][j] += p.Inverse.At(j, l) * (row[l] - p.Mean[l])
			}
		}
	}
	return out
}

// centre is the algorithm of Lemma H.7: the mean of those rows, a part eta set aside, whose
// covariance is least in spectral norm. In one column they are neighbours.
func (e enumerated) centre(x [][]float64) []float64 {
	r, d, least := e.aside(len(x)), len(x[0]), math.Inf(1)
	var best []float64
	try := func(kept [][]float64) {
		m, s := moments(kept)
		top := s.At(0, 0)
		if d == 2 {
			half, diff := (s.At(0, 0)+s.At(1, 1))/2, (s.At(0, 0)-s.At(1, 1))/2
			top = half + math.Hypot(diff, s.At(0, 1))
		}
		if top < least {
			least, best = top, m
		}
	}
	if d == 1 {
		x = slices.Clone(x)
		slices.SortFunc(x, slices.Compare)
		for i := range r + 1 {
			try(x[i : len(x)-(r-i)])
		}
		return best
	}
	kept := make([][]float64, 0, len(x))
	eachKept(len(x), r, func(keep []bool) {
		kept = kept[:0]
		for i, k := range keep {
			if k {
				kept = append(kept, x[i])
			}
		}
		try(kept)
	})
	return best
}

// moments are mean and covariance of rows.
func moments(x [][]float64) ([]float64, *mat.SymDense) {
	d := len(x[0])
	m, s := make([]float64, d), mat.NewSymDense(d, nil)
	for j := range d {
		for _, row := range x {
			m[j] += row[j] / float64(len(x))
		}
	}
	for i := range d {
		for j := range i + 1 {
			for _, row := range x {
				s.SetSym(i, j, s.At(i, j)+(row[i]-m[i])*(row[j]-m[j])/float64(len(x)))
			}
		}
	}
	return m, s
}

// rowPairs are differences of two rows each, centred, with the covariance of a row; a part of 2 eta
// of them may be arbitrary.
func rowPairs(x [][]float64) [][]float64 {
	half := len(x) / 2
	out := make([][]float64, half)
	for i := range out {
		out[i] = make([]float64, len(x[i]))
		for j := range out[i] {
			out[i][j] = (x[i][j] - x[i+half][j]) / math.Sqrt2
		}
	}
	return out
}

// estimate is the algorithm of Theorem B.3: the covariance from pairs of rows, and the mean from
// rows in its units.
func (e enumerated) estimate(x [][]float64) (pair, *mat.SymDense) {
	d, pairs := len(x[0]), rowPairs(x)
	twice := enumerated{Eta: 2 * e.Eta, Rank: e.Rank}
	s, _ := twice.frobenius(pairs, twice.spectral(pairs))
	p := paper.NewGaussian(make([]float64, d), s)
	for j, z := range e.centre(whitened(x, p)) {
		for i := range d {
			p.Mean[i] += p.L.At(i, j) * z
		}
	}
	return p, s
}
