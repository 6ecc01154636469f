package amn24

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

// deficits is the tractable score: how many rows must be changed until w n rows have the Gaussian's
// counts in cells of equal probability, shells cut by the orthants; on a net of all pairs that the
// facts allow.
//
// Source: [AMN24] Section E.1.
// Differs: counts in cells stand for "there is a subset of w n rows about which the robust
// estimator says so", which nobody can enumerate in two columns.
type deficits struct {
	c      Constants
	d      int
	pairs  []pair
	radii  []float64
	target int  // rows that a cell should hold
	whole  bool // all rows are rated, whatever was found
}

// newDeficits returns the score for d columns and so many rows of k components.
func newDeficits(c Constants, pairs []pair, d, k int, rows float64) deficits {
	s := deficits{c: c, d: d, pairs: pairs}
	chi := distuv.ChiSquared{K: float64(d)}
	for i := 1; i < c.RadialCells; i++ {
		s.radii = append(s.radii, math.Sqrt(chi.Quantile(float64(i)/float64(c.RadialCells))))
	}
	return s.of(rows, k)
}

// of returns the score for w n rows, where so many rows are left of so many components: the
// heaviest of these has 1/components of them or more, so that one pair at least has no deficit, and
// w is little less than that, so that few others have none.
func (s deficits) of(rows float64, components int) deficits {
	s.whole = false
	weight := math.Ceil(math.Max(0, s.c.SureWeight*rows/float64(components)))
	s.target = int(math.Min(1<<29, math.Round(weight/float64(papers.CellCount(s.c.RadialCells, s.d)))))
	return s
}

// nestedPart of their equal share is the least that components which are still sought leave outside
// the found ones; less, and they lie inside a found one. A utility constant.
const nestedPart = .25

// after returns the score for the next pair if found components of k leave so many of n rows.
func (s deficits) after(left, n float64, found, k int) deficits {
	if left < nestedPart*n*float64(k-found)/float64(k) {
		s = s.of(n, k)
		s.whole = true
		return s
	}
	return s.of(left, k-found)
}

// sparePart of w n rows may be missing from the cells of the pair of a net that is nearest to a
// component: a guess, a fifth of a standard deviation or two.
const sparePart = .25

// spare returns the score that the best pair may have because the net is coarse.
func (s deficits) spare() int {
	return int(sparePart * float64(s.target*papers.CellCount(s.c.RadialCells, s.d)))
}

// left returns the rows that lie beyond Removed standard deviations of every found pair. The zero
// Partition, all rows, if none was found.
//
// Source: [AMN24] Algorithm 2. Differs: the paper removes pairs only; rows of a heavy component
// would go on to make pairs inside and around it fit w n rows as well as a light component's own.
// As the paper says where the found pairs leave hardly any rows: what is sought lies inside one.
func (s deficits) left(omega region) (p query.Partition) {
	if len(omega.Found) == 0 || s.whole {
		return p
	}
	p.Regions = make([]query.Region, 1)
	for _, f := range omega.Found {
		p.Regions[0].Conditions = append(p.Regions[0].Conditions, query.Condition{Map: frameOf(f), Radius: s.c.Removed, Outside: true})
	}
	return p
}

// frameOf returns L^-1 (x - m).
func frameOf(p pair) query.Affine {
	f := query.Affine{Center: p.Mean}
	for i := range p.Mean {
		f.W = append(f.W, mat.Row(nil, i, p.Inverse))
	}
	return f
}

func (s deficits) kind() string { return papers.CellDeficits{}.Kind() }
func (s deficits) levels() int  { return s.c.Closer }

func (s deficits) rest(left, n float64, found, k int) (scorer, bool) {
	return s.after(left, n, found, k), true
}

func (s deficits) choose(r *run, omega region, epsilon float64) (pair, bool, error) {
	pairs, score := s.options(omega)
	return r.local(s.left(omega), pairs, score, 0, s.spare(), epsilon)
}

// options returns the pairs of the region, and the score that rates them.
func (s deficits) options(omega region) (pairs []pair, score papers.Score) {
	for _, p := range s.pairs {
		if omega.contains(p) {
			pairs = append(pairs, p)
		}
	}
	return pairs, s.score(pairs)
}

func (s deficits) near(p pair, h float64) (pairs []pair, score papers.Score) {
	for _, q := range paper.Covariances(p, h, 1) {
		pairs = append(pairs, paper.Means(q, h, 2)...)
	}
	return pairs, s.score(pairs)
}

// score returns that of the pairs.
func (s deficits) score(pairs []pair) papers.Score {
	q := papers.CellDeficits{Radii: s.radii}
	for _, p := range pairs {
		q.Maps = append(q.Maps, frameOf(p))
	}
	if len(pairs) > 0 {
		cells := papers.CellCount(len(s.radii)+1, len(pairs[0].Mean))
		for range cells {
			q.Targets = append(q.Targets, s.target)
		}
	}
	return q
}

// publicNet visits a net of all pairs with means within radius of the origin and sds between low
// and high, spaced zeta in their own sds: Lemma D.1's without a pair that it is about. In two
// columns the ratio of the sds is a power of 1+zeta, the axes turn by zeta times the lesser over
// the larger sd, and the mean moves along them. The factor that visit is given has the axes as
// columns.
//
// Source: [AMN24] Lemma D.1.
func publicNet(d int, radius, low, high, zeta float64, visit func(mean []float64, factor *mat.Dense) bool) {
	for wide := low; wide <= high*(1+1e-9); wide *= 1 + zeta {
		if d == 1 {
			if !discs(mat.NewDense(1, 1, []float64{wide}), []float64{wide}, radius, zeta, visit) {
				return
			}
			continue
		}
		for narrow := wide; narrow >= low*(1-1e-9); narrow /= 1 + zeta {
			turns := 1.0
			if narrow < wide*(1-1e-9) {
				turns = math.Ceil(math.Pi / (2 * zeta * narrow / wide))
			}
			for i := 0.0; i < turns; i++ {
				sin, cos := math.Sincos(math.Pi * i / turns)
				axes := mat.NewDense(2, 2, []float64{wide * cos, -narrow * sin, wide * sin, narrow * cos})
				if !discs(axes, []float64{wide, narrow}, radius, zeta, visit) {
					return
				}
			}
		}
	}
}

// discs visits the means within radius, zeta sds apart along the axes, which have the lengths sds.
func discs(axes *mat.Dense, sds []float64, radius, zeta float64, visit func([]float64, *mat.Dense) bool) bool {
	d := len(sds)
	mean, at := make([]float64, d), make([]float64, d)
	var place func(i int, left float64) bool // left of the radius, for the axes from i on
	place = func(i int, left float64) bool {
		if i == d {
			for r := range mean {
				mean[r] = 0
				for j, v := range at {
					mean[r] += axes.At(r, j) / sds[j] * v
				}
			}
			return visit(mean, axes)
		}
		step := zeta * sds[i]
		most := math.Floor(left/step + 1e-9)
		for j := -most; j <= most; j++ {
			at[i] = j * step
			if !place(i+1, math.Sqrt(math.Max(0, (left-at[i])*(left+at[i])))) {
				return false
			}
		}
		return true
	}
	return place(0, radius)
}

// finestNet is the least spacing of a public net: finer ones take time, and Algorithm 1 follows. A
// utility constant.
const finestNet = .25

// finest returns the least spacing with which a net of what the facts allow is within the guard;
// false if there is none.
func (c Constants) finest(d int, radius, low, high float64) (zeta float64, ok bool) {
	for zeta = math.Max(finestNet, c.zeta()); ; zeta *= 1.25 {
		n := 0
		publicNet(d, radius, low, high, zeta, func([]float64, *mat.Dense) bool {
			n++
			return n <= mostOptions
		})
		if n <= mostOptions || zeta*1.25 > c.Coarsest {
			return zeta, n <= mostOptions
		}
	}
}

// publicNet returns the finest net of what the facts allow that is within the guard, and its
// spacing; nil if there is none.
func (c Constants) publicNet(d int, radius, low, high float64) (pairs []pair, zeta float64) {
	zeta, ok := c.finest(d, radius, low, high)
	if !ok {
		return nil, zeta
	}
	publicNet(d, radius, low, high, zeta, func(mean []float64, factor *mat.Dense) bool {
		pairs = append(pairs, paper.NewGaussian(mean, gram(factor)))
		return true
	})
	return pairs, zeta
}
