package component

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Shape is a covariance less the identity, in the frames of components that have all the same
// shape, without its trace, and the noise sd of an entry.
type Shape struct {
	Excess *mat.SymDense
	SD     float64
	// Differ is the variance of an entry from component to component, beyond noise; apart has it of
	// variances and of covariances, each by themselves.
	Differ float64
	apart  [2]float64
	rows   float64
	// Covary is the median over components of the mean square of their relative covariances beyond
	// noise, whose variance is CovaryNoise in the median.
	Covary, CovaryNoise float64
}

// Pooled returns the shape that components have in common by all their sums, of the full or the
// diagonal form: their noises add up, and so do their rows. Of k components it has k times the rows
// of one, and the root of k times the noise.
func Pooled(form query.Form, sums []Sums, how []Clipping) *Shape {
	d := len(sums[0].Sum)
	entries := float64(d*(d+1)) / 2
	if form == query.DiagonalForm {
		entries = float64(d)
	}
	all, rows, noise := mat.NewSymDense(d, nil), 0.0, 0.0
	own, sd, weight := make([]*mat.SymDense, len(sums)), make([]float64, len(sums)), make([]float64, len(sums))
	for j, s := range sums {
		n, law := math.Max(s.Count, leastRows), how[j].Law
		even := law.A + law.B2*(s.Trace/n-law.A*float64(d))/law.TraceGain()
		own[j], sd[j], weight[j] = mat.NewSymDense(d, nil), s.SecondSD/law.B1/n, n
		for a := range d {
			for b := a; b < d && (b == a || form != query.DiagonalForm); b++ {
				own[j].SetSym(a, b, s.Second.At(a, b)/n/law.B1-s.Sum[a]*s.Sum[b]/sq(n*law.A1))
			}
			own[j].SetSym(a, a, own[j].At(a, a)+1-even/law.B1)
		}
		all.AddSym(all, symmetric.Scaled(n, own[j]))
		rows, noise = rows+n, math.Hypot(noise, n*sd[j])
	}
	excess, size := unsized(all, rows)
	out := &Shape{Excess: excess, SD: noise / size, rows: rows}
	total, precision, covary, noisy := 0.0, [2]float64{}, make([]float64, len(sums)), make([]float64, len(sums))
	for j := range sums { // what is seen best counts most
		e, size := unsized(own[j], 1)
		var diff mat.Dense
		diff.Sub(e, excess)
		out.Differ += sq(weight[j]) * (sq(mat.Norm(&diff, 2))/entries - sq(sd[j]/size))
		total += sq(weight[j])
		squares := meanSquares(&diff)
		noisy[j] = entryNoise(sd[j]/size, weight[j])[1]
		covary[j] = meanSquares(e)[1] - noisy[j]
		for g, noise := range entryNoise(sd[j]/size, weight[j]) {
			out.apart[g] += (squares[g] - noise*(1-weight[j]/rows)) / sq(noise)
			precision[g] += 1 / sq(noise)
		}
	}
	slices.Sort(covary)
	slices.Sort(noisy)
	out.Covary, out.CovaryNoise = covary[len(covary)/2], noisy[len(noisy)/2]
	out.Differ = math.Max(0, out.Differ/total)
	for g := range out.apart {
		out.apart[g] = math.Max(0, out.apart[g]/precision[g])
	}
	if form == query.DiagonalForm {
		out.apart[1] = 0
	}
	return out
}

// entryNoise returns the noise of n rows, a variance, in a variance over their mean variance and in
// a covariance, to which noise was added that in a variance has that sd.
func entryNoise(sd, n float64) [2]float64 { return [2]float64{sq(sd) + 2/n, sq(sd)/2 + 1/n} }

// meanSquares returns the mean squares of the entries on the diagonal and beside it.
func meanSquares(m mat.Matrix) (out [2]float64) {
	d, _ := m.Dims()
	for a := range d {
		out[0] += sq(m.At(a, a)) / float64(d)
		for b := range a {
			out[1] += sq(m.At(a, b)) / float64(d*(d-1)/2)
		}
	}
	return out
}

// of returns the covariance in its frame of a component of n rows, of a mean variance, that is by
// itself as far from that as excess says, to whose variances noise of that sd was added; and the
// variance of a relative entry that is left in doubt. What the components have in common is drawn
// towards none by its noise, and what is the component's own towards that by how components differ
// beyond noise: variances and covariances each by their own, since groups differ in the scales of
// columns more often than in correlations, which are far more numbers. Variances are lognormal
// before, so that none is negative.
func (s *Shape) of(excess *mat.SymDense, size, sd, n float64) (cov *mat.SymDense, left float64) {
	d := excess.SymmetricDim()
	size = math.Max(size, shrinkStep)
	noise, gain := entryNoise(sd/size, n), entryNoise(s.SD, s.rows)
	for g, square := range meanSquares(s.Excess) {
		gain[g] = 1 - gain[g]/math.Max(square, gain[g])
	}
	v, root := make([]float64, d), make([]float64, d)
	for a := range d {
		common := math.Max(1+gain[0]*s.Excess.At(a, a), shrinkStep)
		var doubt float64
		v[a], doubt = lognormal(common, math.Log1p(s.apart[0]/sq(common)), 1+excess.At(a, a)/size, noise[0])
		root[a] = math.Sqrt(v[a] / common)
		left += doubt
	}
	entries := float64(d)
	cov = symmetric.Of(d, func(a, b int) float64 {
		if a == b {
			return size * v[a]
		}
		common, own := gain[1]*s.Excess.At(a, b)*root[a]*root[b], s.apart[1]*v[a]*v[b]
		k := 0.0
		if own > 0 {
			k = own / (own + noise[1])
			left, entries = left+2*k*noise[1], entries+1
		}
		return size * (common + k*(excess.At(a, b)/size-common))
	})
	return cov, left / entries
}

// lognormal returns the mean of a positive number, and its variance, of which x is known, with a
// normal error of that variance: its logarithm was normal before, about that of the median.
func lognormal(median, spread, x, noise float64) (mean, variance float64) {
	const points, reach = 40, 4.0
	if spread < 1e-12 {
		return median, 0
	}
	var total, first, second float64
	logs, values := make([]float64, points+1), make([]float64, points+1)
	for i := range logs {
		z := reach * (2*float64(i)/points - 1)
		values[i] = median * math.Exp(z*math.Sqrt(spread))
		logs[i] = -z*z/2 - sq(values[i]-x)/noise/2
	}
	likeliest := floats.Max(logs)
	for i, v := range values {
		w := math.Exp(logs[i] - likeliest)
		total, first, second = total+w, first+w*v, second+w*v*v
	}
	mean = first / total
	return mean, math.Max(0, second/total-mean*mean)
}

// unsized returns a second moment over its mean variance, which is size, less the identity; no
// variance is below a small part of that of so few rows.
func unsized(m *mat.SymDense, rows float64) (e *mat.SymDense, size float64) {
	d := m.SymmetricDim()
	size = math.Max(mat.Trace(m)/float64(d), shrinkStep*rows)
	e = symmetric.Scaled(1/size, m)
	for a := range d {
		e.SetSym(a, a, e.At(a, a)-1)
	}
	return e, size
}

// ShareShape gives components their mean shape, each at its own size.
func ShareShape(cs []Gaussian) {
	d := len(cs[0].Mean)
	shape, size := mat.NewSymDense(d, nil), func(cov *mat.SymDense) float64 {
		_, _, logDet := symmetric.Factor(cov)
		return math.Exp(logDet / float64(d))
	}
	for _, c := range cs {
		shape.AddSym(shape, symmetric.Scaled(c.Weight/size(c.Cov), c.Cov))
	}
	whole := size(shape)
	for j, c := range cs {
		cs[j].Cov = symmetric.Scaled(size(c.Cov)/whole, shape)
	}
}
