package kssu19

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// Step 4 of PGE: means.

// white returns the component's frame in which it is standard, centred at center, and the factor
// back.
func (c *pgePart) white(center []float64) (query.Affine, *mat.Dense) {
	l, inverse, _ := symmetric.Factor(c.cov)
	s := math.Sqrt(c.unit2)
	l.Scale(s, l)
	inverse.Scale(1/s, inverse)
	f := turned(inverse, whole(len(center)))
	f.Center = center
	return f, l
}

// where finds, coordinate by coordinate of the whitened rows, the fullest cell of side 1.
func (k *klsu) where() error {
	q := query.BoxKeys{}
	var of []part
	var factors []*mat.Dense
	for _, c := range k.live {
		f, l := c.white(make([]float64, k.d))
		factors, of = append(factors, l), append(of, c.part)
		q.Grids = append(q.Grids, query.Grid{Map: f, Side: repeat(1, k.d), Offset: uniform(k.draw(), k.d, 1)})
	}
	q.Partition = partition(of)
	cells, _, err := kernel.StabilityHistogram(k.run.a, k.prefix+stepWhere, q, parts.Mu(k.mu2*(1-scaleShare-roundsShare-covarianceShare)/2))
	if err != nil {
		return err
	}
	for i, c := range k.live {
		z := mat.NewVecDense(k.d, nil)
		c.found = true
		for j := range k.d {
			best := heaviest(cells, i, j)
			if best == nil {
				c.found = false
				break
			}
			z.SetVec(j, q.Grids[i].Offset[j]+best.Key[0]+.5)
		}
		var x mat.VecDense
		x.MulVec(factors[i], z)
		c.mid = append([]float64(nil), x.RawVector().Data...)
		c.found = c.found && dense.AllFinite(c.mid)
	}
	k.drop()
	return nil
}

// means takes the means of the whitened rows, clipped around where they are, with all that the
// sub-budget has left.
func (k *klsu) means() error {
	q := query.Parts{}
	var of []part
	var factors []*mat.Dense
	for _, c := range k.live {
		f, l := c.white(c.mid)
		factors, of = append(factors, l), append(of, c.part)
		radius := 2*math.Sqrt(float64(k.d)) + 2*math.Sqrt(math.Log(math.Max(2, c.rows)/k.c.FailureProb))
		q.Queries = append(q.Queries, spherical(f, radius))
	}
	q.Partition = partition(of)
	sums, err := k.sphericalSums(k.prefix+stepPGEMean, q, k.run.a.LeftMu())
	if err != nil {
		return err
	}
	for i, c := range k.live {
		m := sums[i]
		if !(m.Count > seen*m.CountSD) {
			continue
		}
		z := meanWithin(m, q.Queries[i].(query.ClippedMoments).Components[0].Radius)
		g := &gaussian{mean: append([]float64(nil), c.mid...), cov: mat.NewSymDense(k.d, nil), noise: c.noise, round: c.round}
		for a := range k.d {
			for b, v := range z {
				g.mean[a] += factors[i].At(a, b) * v
			}
		}
		if c.round { // the spread in the same release says what the scale did not
			c.cov.ScaleSym(math.Max(.01, math.Min(100, m.Trace/m.Count/float64(k.d))), c.cov)
		}
		g.cov.ScaleSym(c.unit2, c.cov)
		k.out[c.at] = g
	}
	return nil
}
