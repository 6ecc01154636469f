package kssu19

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// The steps of PGE, and the parts of its mu^2. The rest is for the mean: half for where it is
// about, half for itself.
const (
	stepScale      = "scale"
	stepRound      = "round"
	stepCovariance = "covariance"
	stepWhere      = "where"
	stepPGEMean    = "mean of a component"

	scaleShare      = 1. / 16
	roundsShare     = 7. / 16
	covarianceShare = 1. / 4
)

// The loop: K_(t+1) = shrink K_t, until K_t <= narrow.
const (
	shrink = .7
	narrow = 8.0
)

// condition returns K for d columns.
func (c Constants) condition(d int) float64 {
	if c.known() {
		ratio := c.SigmaMax / c.SigmaMin
		return math.Min(ratio*ratio, 1e30)
	}
	return c.Condition * float64(d)
}

// known reports that both bounds of the covariances are known.
func (c Constants) known() bool { return c.SigmaMin > 0 && c.SigmaMax > 0 }

// rounds returns T.
func (c Constants) rounds(d int) int {
	return max(0, int(math.Ceil(math.Log(c.condition(d)/narrow)/math.Log(1/shrink))))
}

func (c Constants) pgeSteps(prefix string, d int, slack float64) []kernel.Step {
	const source = "KSSU19 Section B.7"
	pairs := query.PartsOf(papers.PairMoments{}.Kind())
	return []kernel.Step{
		{Name: prefix + stepScale, Query: query.PartsOf(papers.PairDistances{}.Kind()), Share: 1, Most: 1, Source: source},
		{Name: prefix + stepRound, Query: pairs, Share: 1, Most: max(1, c.rounds(d)), Source: source},
		{Name: prefix + stepCovariance, Query: pairs, Share: 1, Most: 1, Source: source},
		{Name: prefix + stepWhere, Query: query.PartsOf(query.BoxKeys{}.Kind()), Share: 1, Most: 1, Slack: slack, Source: source},
		{Name: prefix + stepPGEMean, Query: query.PartsOf(query.ClippedMoments{}.Kind()), Share: 1, Most: 1, Source: source},
	}
}

// A gaussian is what PGE finds in a part.
type gaussian struct {
	mean  []float64
	cov   *mat.SymDense
	noise float64 // relative spectral noise of the covariance in its own frame
	round bool    // too few rows for a covariance: spherical
}

// A pgePart is the state of PGE in one part.
type pgePart struct {
	part
	at    int
	unit2 float64    // s^2: all eigenvalues are taken to lie between s^2 and K s^2
	bound float64    // K_t: of the top eigenvalue after A, in units of s^2
	cap2  float64    // squared length of almost all y, in the same units; +Inf if not known
	a     *mat.Dense // the product of the A_t
	cov   *mat.SymDense
	noise float64
	round bool
	mid   []float64 // about where the mean is
	found bool
}

// A klsu is PGE in all parts at once.
type klsu struct {
	*run
	prefix string
	d      int
	mu2    float64
	live   []*pgePart
	out    []*gaussian
}

// pge estimates one Gaussian in every part, whatever its shape, from rows of which a few may be
// missing or strange; nil where too few are seen. It uses up the sub-budget, mu2 of which is left:
// parts are measured in parallel, so all share one budget.
//
// Source: [KSSU19] Algorithm 2 (step 3, PGE); Section B.7 of the restatement.
// Differs: where no bounds are known, the unit comes from the distances of pairs, whose histogram
// takes the place of their number; released scales and traces bound the length that pairs are
// clipped to; a round that noise would spoil changes nothing; the last covariance is shrunk towards
// the sphere by Stein's rule.
func (r *run) pge(prefix string, of []part, mu2 float64) ([]*gaussian, error) {
	k := &klsu{run: r, prefix: prefix, d: r.a.Session().Columns(), mu2: mu2, out: make([]*gaussian, len(of))}
	for i, p := range of {
		k.live = append(k.live, &pgePart{part: p, at: i, a: mat.DenseCopyOf(symmetric.Identity(k.d)),
			unit2: r.c.SigmaMin * r.c.SigmaMin, bound: r.c.condition(k.d), cap2: math.Inf(1), round: p.rows < float64(k.d)})
	}
	// The unit where no bounds are known, then steps 1 and 2 (rounds), 3 (covariance), 4 (where,
	// means).
	for _, step := range []func() error{k.scale, k.rounds, k.covariance, k.where, k.means} {
		if len(k.live) == 0 {
			break
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	return k.out, nil
}

// sd0 returns r_0, the length of almost all rows of a standard Gaussian.
func (k *klsu) sd0() float64 {
	n := 1.0
	for _, c := range k.live {
		n = math.Max(n, c.rows)
	}
	l := math.Log(n / k.c.FailureProb)
	d := float64(k.d)
	return math.Sqrt(d + 2*math.Sqrt(d*l) + 2*l)
}

func (k *klsu) drop() {
	k.live = slices.DeleteFunc(k.live, func(c *pgePart) bool {
		found := c.found
		c.found = false
		return !found
	})
}

// pairs asks the components for which one is not nil about pairs of their rows, and hands every
// answer to read.
func (k *klsu) pairs(step string, mu2 float64, one func(*pgePart) query.PairSum, read func(*pgePart, query.PairSum, []float64, float64)) error {
	var of []part
	var asked []*pgePart
	q := query.Pairs{}
	for _, c := range k.live {
		if s := one(c); s != nil {
			asked, of = append(asked, c), append(of, c.part)
			q.Queries = append(q.Queries, s)
			q.Buckets = append(q.Buckets, buckets(c.rows))
		}
	}
	if asked == nil {
		return nil
	}
	q.Partition = partition(of)
	ans, err := kernel.SumPairs(k.run.a, k.prefix+step, q, parts.Mu(mu2))
	if err != nil {
		return err
	}
	answers, sigmas := q.Split(ans.Values, ans.Sigma)
	for i, c := range asked {
		read(c, q.Queries[i], answers[i], sigmas[i])
	}
	return nil
}

// The half-octaves of distances of pairs.
const (
	lowestHalf  = -299
	highestHalf = 300
)

// halfOctaves lists the edges 2^(low/2), .., 2^(high/2). Bin b of a histogram over them holds what
// has floor(2 log2 v) = low-1+b, but for the first and the last, which are unbounded. The 601 bins
// of [KSSU19] are those of halfOctaves(-299, 300).
func halfOctaves(low, high int) (edges []float64) {
	for e := low; e <= high; e++ {
		edge := math.Ldexp(1, e>>1)
		if e&1 == 1 {
			edge *= math.Sqrt2
		}
		edges = append(edges, edge)
	}
	return edges
}

// scale finds the unit of every component: K s^2 bounds its top eigenvalue.
func (k *klsu) scale() error {
	if k.c.known() {
		return nil
	}
	edges := halfOctaves(lowestHalf, highestHalf)
	err := k.pairs(stepScale, k.mu2*scaleShare, func(c *pgePart) query.PairSum {
		return papers.PairDistances{Map: whole(k.d), Edges: edges}
	}, func(c *pgePart, _ query.PairSum, counts []float64, sd float64) {
		best := 0
		for b, n := range counts {
			if n > counts[best] {
				best = b
			}
		}
		// The most frequent distance of two rows is about sqrt(2 tr Sigma); the next half-octave
		// covers what it misses of the trace.
		edge := edges[min(best+1, len(edges)-1)]
		c.unit2 = edge * edge / k.c.condition(k.d)
		c.cap2 = 2 * k.c.condition(k.d)      // |y|^2 is half of a squared distance
		c.found = counts[best] > (seen+1)*sd // the largest of 601 noises
	})
	k.drop()
	return err
}

// second returns the clipped second moment of pairs in the component's current coordinates.
func (k *klsu) second(c *pgePart) query.PairSum {
	if c.round {
		return nil
	}
	f := turned(c.a, whole(k.d))
	s := math.Sqrt(c.unit2)
	for _, w := range f.W {
		for j := range w {
			w[j] /= s
		}
	}
	return papers.PairMoments{Map: f, Radius: math.Sqrt(math.Min(c.bound*k.sd0()*k.sd0(), c.cap2))}
}

// read divides by the released number of pairs; false if that is too small. noise is the sd of a
// diagonal entry.
func (k *klsu) read(q query.PairSum, values []float64, sd float64) (z *mat.SymDense, noise float64, ok bool) {
	p := q.(papers.PairMoments)
	pairs, second := p.Read(values)
	if !(pairs > seen*sd/(p.Radius*p.Radius)) || pairs < 1 {
		return nil, 0, false
	}
	z = component.Symmetric(second, k.d)
	z.ScaleSym(1/pairs, z)
	return z, sd / pairs, dense.Finite(symmetric.Frobenius2(z))
}

// tolerated is the part of K_t that the noise of a round may be: with .13 of it, .7 K_t bounds the
// next round.
const tolerated = .13

// rounds halves the wide directions until none is.
func (k *klsu) rounds() error {
	t := k.c.rounds(k.d)
	for range t {
		err := k.pairs(stepRound, k.mu2*roundsShare/float64(t), k.second,
			func(c *pgePart, q query.PairSum, values []float64, sd float64) {
				if z, noise, ok := k.read(q, values, sd); ok && k.spectral(noise) <= tolerated*c.bound {
					c.halve(z, c.bound/2)
					c.bound *= shrink
				}
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// spectral returns the spectral norm, about, of a matrix of noise of the given sd.
func (k *klsu) spectral(sd float64) float64 { return sd * math.Sqrt(2*float64(k.d)) }

// halve multiplies c.a by 1/2 in the directions of z's eigenvalues of at least wide, and bounds the
// lengths that this leaves.
func (c *pgePart) halve(z *mat.SymDense, wide float64) {
	values, v, ok := symmetric.Eigen(z)
	if !ok {
		return
	}
	d := z.SymmetricDim()
	step := symmetric.Identity(d)
	for i, value := range values {
		if value >= wide {
			step.SymRankOne(step, -.5, v.ColView(i))
		}
	}
	var next mat.Dense
	next.Mul(step, c.a)
	c.a = &next
	if trace := symmetric.Congruence(mat.DenseCopyOf(step), z).Trace(); trace > 0 {
		c.cap2 = math.Min(c.cap2, longest*trace)
	}
}

// longest times the mean squared length of y bounds that of almost all. A utility constant; the
// scale's histogram gives 8 to 16.
const longest = 8.0

// covariance returns the second moment of pairs in the frame that the rounds ended in. Components
// with fewer rows than columns, or pairs that are lost in noise, get a sphere of the scale's size.
func (k *klsu) covariance() error {
	for _, c := range k.live {
		c.found = true
	}
	done := map[*pgePart]bool{}
	err := k.pairs(stepCovariance, k.mu2*covarianceShare, k.second,
		func(c *pgePart, q query.PairSum, values []float64, sd float64) {
			z, noise, ok := k.read(q, values, sd)
			if !ok {
				return
			}
			done[c] = true
			z = symmetric.Floored(shrunk(z, noise), math.Max(k.floor(), unseenPart*z.Trace()/float64(k.d)), math.Inf(1))
			var inverse mat.Dense
			if inverse.Inverse(c.a) != nil {
				inverse = *mat.DenseCopyOf(symmetric.Identity(k.d))
			}
			c.cov = symmetric.Congruence(&inverse, z)
			c.noise = noise / math.Max(k.floor(), z.Trace()/float64(k.d))
		})
	for _, c := range k.live {
		if !done[c] {
			c.round, c.cov = true, k.sphere()
		}
	}
	k.drop()
	return err
}

// unseenPart of the mean eigenvalue: smaller ones are taken for noise. A utility constant.
const unseenPart = 1e-3

// shrunk moves z towards the multiple of the identity with its trace, by as much as its noise asks
// for.
//
// Source: [KSSU19] Section A.5 of the restatement.
func shrunk(z *mat.SymDense, noise float64) *mat.SymDense {
	d := z.SymmetricDim()
	mean := z.Trace() / float64(d)
	out := mat.NewSymDense(d, nil)
	out.CopySym(z)
	for i := range d {
		out.SetSym(i, i, z.At(i, i)-mean)
	}
	if f2 := symmetric.Frobenius2(out); f2 > 0 {
		out.ScaleSym(math.Max(0, 1-noise*noise*float64(d*(d+1))/2/f2), out)
	}
	for i := range d {
		out.SetSym(i, i, out.At(i, i)+mean)
	}
	return out
}

// floor returns the least eigenvalue, in units of s^2.
func (k *klsu) floor() float64 {
	if k.c.known() {
		return .5
	}
	return 1e-6
}

// sphere returns a covariance of the scale that was measured, in units of s^2.
func (k *klsu) sphere() *mat.SymDense {
	s := symmetric.Identity(k.d)
	// the scale's bound is about four times the trace
	s.ScaleSym(k.c.condition(k.d)/(4*float64(k.d)), s)
	return s
}
