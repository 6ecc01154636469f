package blackbox

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// Utility constants of the look at shapes, guesses.
const (
	shapePart  = .02   // of the Gaussian steps' mu^2, for all looks
	shapeLooks = 2     // at the radii, and along the axis in which a component is widest
	shapeBins  = 8     // of a look, of equal probability under the Gaussian
	shapeDraws = 20000 // of the model, which say what is expected
	beyond     = 1.25  // times the noise of all bins is no misfit
	toldMisfit = .05   // is told, in total variation
)

// shapeStep is the step of the looks.
func shapeStep() kernel.Step {
	return kernel.Step{Name: stepShapes, Query: rings.PartsOf(query.DistanceCounts), Share: shapePart, Most: shapeLooks, Source: source}
}

// A look is how many rows lie in each of some bins about each component, the rows nearest to it:
// released counts of so much noise.
type look struct {
	frames []*mat.Dense // of the components, z = frame (x - mean)
	edges  []float64    // of |z|
	counts [][]float64
	sigma  float64
}

// shapes asks how the rows nearest to each component lie about it: by radius, and along the axis in
// which it is widest. Two that the learner took for one show there.
func (f *fit) shapes(r *em.Rounds) error {
	f.seen = slices.Clone(r.Components)
	p, looks := rings.Partition{}, make([]look, shapeLooks)
	for _, c := range f.seen {
		q, _ := r.Space.Density(c, c.Weight)
		q.Radius = math.Inf(1)
		p.Components = append(p.Components, q)
		_, inv, _ := symmetric.Factor(c.Cov)
		looks[0].frames, looks[1].frames = append(looks[0].frames, inv), append(looks[1].frames, widest(c, f.seen))
	}
	for _, l := range looks {
		forms, _ := l.frames[0].Dims()
		for b := 1; b < shapeBins; b++ {
			l.edges = append(l.edges, math.Sqrt(2*mathext.GammaIncRegInv(float64(forms)/2, float64(b)/shapeBins)))
		}
		q := rings.Parts{Partition: p}
		for j, c := range f.seen {
			q.Queries = append(q.Queries, query.Counts{Frame: r.Space.Frame(c.Mean, l.frames[j]), Edges: [][]float64{l.edges}})
		}
		ans, err := f.Sum(stepShapes, q, f.Mu(shapePart/shapeLooks))
		if err != nil {
			return err
		}
		l.counts, _ = q.Split(ans.Values, ans.Sigma)
		l.sigma = ans.Sigma
		f.looks = append(f.looks, l)
	}
	return nil
}

// misfits are, of the components that shapes saw, the total variation between the bins of their
// rows and those of draws of the model, beyond noise.
func (f *fit) misfits(model []component.Gaussian) []float64 {
	out := make([]float64, len(f.seen))
	for _, l := range f.looks {
		for j, want := range l.drawn(model, f.seen) {
			out[j] = math.Max(out[j], misfitOf(l.counts[j], want, l.sigma))
		}
	}
	return out
}

// widest is the axis in which c is widest beside all components together: the linear form of
// variance 1 under c whose mean variance under all is the least. One component alone is held
// against the sds of its columns.
func widest(c component.Gaussian, all []component.Gaussian) *mat.Dense {
	d := len(c.Mean)
	pooled := mat.NewSymDense(d, nil)
	for _, o := range all {
		var part mat.SymDense
		part.ScaleSym(o.Weight, o.Cov)
		pooled.AddSym(pooled, &part)
	}
	if len(all) == 1 {
		pooled = symmetric.Identity(d)
	}
	_, inv, _ := symmetric.Factor(pooled)
	axes, values := symmetric.Principal(symmetric.Congruence(inv, c.Cov), 1)
	form := mat.NewDense(1, d, nil)
	form.Mul(axes.T(), inv)
	form.Scale(1/math.Sqrt(values[0]), form)
	return form
}

// drawn are the bins of draws of a model, as the look sees the components.
func (l look) drawn(model, seen []component.Gaussian) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(len(model)), shapeDraws)) // public
	d, out := len(seen[0].Mean), make([][]float64, len(seen))
	inverses, logs := make([]*mat.Dense, len(seen)), make([]float64, len(seen))
	for j, c := range seen {
		out[j] = make([]float64, len(l.edges)+1)
		_, inv, logDet := symmetric.Factor(c.Cov)
		inverses[j], logs[j] = inv, math.Log(c.Weight)-logDet/2
	}
	z, x, v := make([]float64, d), make([]float64, d), make([]float64, d)
	length2 := func(m *mat.Dense, mean []float64) (total float64) {
		for i := range v {
			v[i] = x[i] - mean[i]
		}
		rows, _ := m.Dims()
		for i := range rows {
			y := dense.Dot(m.RawRowView(i), v)
			total += y * y
		}
		return total
	}
	for _, c := range model {
		root, _, _ := symmetric.Factor(c.Cov)
		for range int(c.Weight * shapeDraws) {
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			copy(x, c.Mean)
			symmetric.AddMul(x, root, z)
			best, most := 0, math.Inf(-1)
			for j := range seen {
				if score := logs[j] - length2(inverses[j], seen[j].Mean)/2; score > most {
					best, most = j, score
				}
			}
			bin, _ := slices.BinarySearch(l.edges, math.Sqrt(length2(l.frames[best], seen[best].Mean)))
			out[best][bin]++
		}
	}
	return out
}

// misfitOf is the total variation between counts, of so much noise, and what is expected, in
// proportion, less beyond the noise of both.
func misfitOf(counts, want []float64, sigma float64) float64 {
	n, m, total := 0.0, 0.0, 0.0
	for i, c := range counts {
		n, m = n+c, m+want[i]
	}
	if !(n > sigma*math.Sqrt(float64(len(counts))) && m > 0) {
		return 0
	}
	for i, c := range counts {
		share := want[i] / m
		total += math.Abs(c/n-share) - beyond*math.Sqrt(square(sigma/n)+share/n+share/m)
	}
	return total / 2
}

func square(x float64) float64 { return x * x }
