package knowncov

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// A part is one component of the estimate: its mean is base + l at.
type part struct {
	base []float64 // in the columns' units
	at   []float64 // whitened
	rows float64   // how many good rows are its
	// spread is how far, in sds, its rows were from its mean before it was split off: a third
	// component may be there.
	spread float64
	// Uncertainties of the last solution, in sds: of a coordinate of at (root mean square), and of
	// rows.
	atSD, rowsSD float64
}

// A look is a release, and what is needed to say what a mixture would give on average: the frames,
// one for each part of the time.
type look struct {
	centers   [][]float64
	logWeight []float64
	radius    []float64
	// value and sd are the statistics, frame by frame: count, sum, upper triangle of the second
	// moment; sd is that of noise and sampling.
	value, sd []float64
	noise     []float64 // sd of a diagonal entry of the second moments, by frame
	counted   []float64 // sd of the noise of the count, by frame
}

// mostUncertainty is how badly, in sds in each coordinate, a mean can be known. A guess.
const mostUncertainty = 3.0

// leastRadius returns the radius for a component whose mean is known.
func (t Tuning) leastRadius(d int) float64 { return math.Sqrt(float64(d)) + t.Reach }

// firstRadius returns the radius for a component of which only the box is known.
func (t Tuning) firstRadius(d int, side float64) float64 {
	return t.leastRadius(d) + t.Uncertainties*side*math.Sqrt(float64(d)/12)
}

// lift is b/r of the release. With lift 1 the sums have the noise that they would have without
// second moments, and second moments are free: what sum z z^T adds to the sensitivity of (1, z)
// clipped to a ball, the two noises of an off-diagonal entry give back.
const lift = 1

// look releases the moments of the rows near every part.
func (f *fit) look(mu float64) error {
	d := f.Problem.Columns
	l := &look{}
	q := query.ClippedMoments{Form: query.FullForm, Lift: lift}
	for j := range f.parts {
		p := &f.parts[j]
		p.rebase(f.white)
		r := f.tuning.firstRadius(d, f.tuning.side(d))
		if len(f.looks) > 0 {
			r = math.Min(r, f.tuning.leastRadius(d)+f.tuning.Uncertainties*math.Sqrt(float64(d))*math.Min(p.atSD, mostUncertainty)+p.spread)
		}
		l.centers, l.radius = append(l.centers, p.base), append(l.radius, r)
		l.logWeight = append(l.logWeight, math.Log(math.Max(p.rows, 1)))
		frame := f.white.coordinates(0, d)
		frame.Center = p.base
		q.Components = append(q.Components, query.Component{Map: frame, LogWeight: l.logWeight[j], Radius: r, Truncate: true})
	}
	far := privateem.NewOutliers(f.whole())
	q.Components = append(q.Components, far.Components(component.Flat(d))...)
	answer, err := f.Sum(stepLooks, q, mu)
	if err != nil {
		return err
	}
	f.law.limit(f.white, l, f.parts)
	sums := component.UnpackSums(q, answer)
	for _, s := range sums[:len(f.parts)] {
		l.add(s, d, f.law.points())
	}
	f.outliers, f.noise = far.Seen(sums[len(f.parts):], f.Rows)
	f.looks = append(f.looks, l)
	return nil
}

// whole returns the mean of all parts, and the variances of their columns together.
func (f *fit) whole() component.Gaussian {
	all := parts.Map(f.parts, func(p part) component.Gaussian {
		return component.Gaussian{Weight: math.Max(p.rows, 1), Mean: p.base, Cov: symmetric.OnlyDiagonal(f.known(), false)}
	})
	return component.Joined(all[0], all[1:]...)
}

// rebase moves the base to the mean, rounded; at keeps what rounding leaves.
func (p *part) rebase(w *whitening) {
	base := w.point(p.at)
	floats.Add(base, p.base)
	rest := w.way(base, *p)
	if dense.AllFinite(base) && dense.AllFinite(rest) {
		p.base, p.at = base, rest
	}
}

// sampling counts the sampling error of each look as if it had this many times the variance: the
// looks are at the same rows.
const sampling = float64(len(lookParts))

// add appends the statistics of one frame. The comparison with a law of points points counts as
// sampling error too.
func (l *look) add(s component.Sums, d int, points float64) {
	rows := math.Max(s.Count, math.Max(s.CountSD, 1))
	spread := math.Max(1, s.Trace/rows/float64(d)) // of a coordinate
	put := func(value, noise, sample float64) {
		l.value, l.sd = append(l.value, value), append(l.sd, math.Sqrt(noise*noise+sample*(sampling+rows/points)))
	}
	put(s.Count, s.CountSD, rows)
	for _, v := range s.Sum {
		put(v, s.SumSD, rows*spread)
	}
	for i := range d {
		put(s.Second.At(i, i), s.SecondSD, 2*rows*spread*spread)
		for j := i + 1; j < d; j++ {
			put(s.Second.At(i, j), s.SecondSD/math.Sqrt2, rows*spread*spread)
		}
	}
	l.noise, l.counted = append(l.noise, s.SecondSD), append(l.counted, s.CountSD)
}

// excess returns the largest eigenvalue by which the second moment of frame i exceeds the expected
// one, per row, its direction, and about what noise and sampling make of it.
func (l *look) excess(i int, expected []float64, d int) (value float64, direction []float64, uncertainty float64) {
	n := statistics(d)
	at := i * n
	rows := math.Max(expected[at], 1)
	k := at + d
	s := symmetric.Of(d, func(int, int) float64 { k++; return (l.value[k] - expected[k]) / rows })
	uncertainty = (l.noise[i]*math.Sqrt(2*float64(d)) + 2*math.Sqrt(float64(d)*rows)) / rows
	values, vectors, ok := symmetric.Eigen(s)
	if !ok {
		return 0, nil, uncertainty
	}
	return values[d-1], mat.Col(nil, d-1, vectors), uncertainty
}
