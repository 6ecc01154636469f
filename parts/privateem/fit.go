package privateem

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of the shells, guesses.
const (
	shells     = 8    // of equal probability under the Gaussian
	shellDraws = 8000 // of the model, which say what is expected
	beyond     = 1.25 // times the noise of a shell is no misfit
	// the rows of a component do not fit it if chi squared is this many of its sds too large: 169
	// right fits of 171 of fresh plain clusters had less in all their components
	misfitSDs = 6.0
	stretched = 1.05 // a small change of scale
)

// GoodnessOfFitReleases is how many releases GoodnessOfFit makes: of radii, and along the widest
// axes.
const GoodnessOfFitReleases = 2

// Parted sends every row to the component that it most likely belongs to.
func (r *Rounds) Parted() (p query.Partition) {
	for _, c := range r.Components {
		q, _ := r.Space.Density(c, c.Weight)
		q.Radius = math.Inf(1)
		p.Components = append(p.Components, q)
	}
	return p
}

// Axes returns the principal axes of a component relative to all of them together, widest first: x
// - Mean = out z, z = in (x - Mean), where z has the unit covariance. One component alone is
// compared with the units of the space.
func (r *Rounds) Axes(c component.Gaussian) (out, in *mat.Dense) {
	d := r.Space.Dim()
	pooled := r.pooled()
	if len(r.Components) == 1 {
		pooled = symmetric.Identity(d)
	}
	root, inv, _ := symmetric.Factor(c.Cov)
	vec, _ := symmetric.Principal(symmetric.Congruence(inv, pooled), d)
	turn := mat.NewDense(d, d, nil)
	for i := range d { // widest is where all together are narrowest
		turn.SetCol(i, mat.Col(nil, d-1-i, vec))
	}
	out, in = new(mat.Dense), new(mat.Dense)
	out.Mul(root, turn)
	in.Mul(turn.T(), inv)
	return out, in
}

// GoodnessOfFit sets, for every component, by how much in total variation its rows are not where
// the components themselves have them: counted, in releases that cost mu together, by their
// distance from its mean in its own sds, and by that along its widest axis alone. Two clusters in
// one component leave its middle empty. random draws rows of the model, which say what to expect
// where components overlap.
func (r *Rounds) GoodnessOfFit(a *kernel.SubBudget, step string, random func(draws, components int) Random, mu float64) error {
	p, d := r.Parted(), r.Space.Dim()
	x, part := r.parted(random(shellDraws, len(r.Components)))
	for j := range r.Components {
		r.Components[j].Misfit = 0
	}
	for _, q := range [GoodnessOfFitReleases]int{d, 1} {
		var edges []float64
		for b := 1; b < shells; b++ {
			edges = append(edges, math.Sqrt(2*mathext.GammaIncRegInv(float64(q)/2, float64(b)/shells)))
		}
		queries := make([]query.Counts, len(p.Components))
		want, wider := make([][]float64, len(p.Components)), make([][]float64, len(p.Components))
		for j, c := range r.Components {
			_, w, _ := symmetric.Factor(c.Cov)
			if q < d {
				_, in := r.Axes(c)
				w = mat.DenseCopyOf(in.Slice(0, q, 0, d))
			}
			queries[j] = query.Counts{Map: r.Space.Affine(c.Mean, w), Edges: [][]float64{edges}}
			want[j], wider[j] = make([]float64, shells), make([]float64, shells)
			for t, away := range x.away2(w, c.Mean) {
				if part[t] == j {
					want[j][shellOf(edges, math.Sqrt(away))]++
					wider[j][shellOf(edges, math.Sqrt(away)*stretched)]++
					wider[j][shellOf(edges, math.Sqrt(away)/stretched)]--
				}
			}
		}
		answers, err := parts.AskLeaves(a, step, p, queries, mu*half)
		if err != nil {
			return err
		}
		for j, ans := range answers {
			c := &r.Components[j]
			c.Misfit = math.Max(c.Misfit, misfitOf(ans, want[j], wider[j], c.Sigma))
		}
	}
	return nil
}

// half of what a release costs, and a little less: rounded up, two of it would be more.
const half = math.Sqrt2 / 2 * (1 - 1e-9)

func shellOf(edges []float64, away float64) int {
	b, _ := slices.BinarySearch(edges, away)
	return b
}

// misfitOf returns the total variation between counts and what is expected, in proportion, where
// chi squared says that they differ, else 0. What a change of the number of rows and of their scale
// explains, wider, is no difference, nor is the noise of both and of the covariance that they were
// counted by, sigma.
func misfitOf(ans kernel.Answer, want, wider []float64, sigma float64) float64 {
	n, m := floats.Sum(ans.Values), floats.Sum(want)
	if !(n > ans.Sigma*math.Sqrt(shells) && m > 0) {
		return 0
	}
	x, y, sd := mat.NewDense(shells, 2, nil), mat.NewVecDense(shells, nil), make([]float64, shells)
	for b, count := range ans.Values {
		w := want[b] / m * n
		sd[b] = math.Sqrt(sq(ans.Sigma) + sq(sigma*w) + math.Max(w, 1)*(1+n/m))
		x.SetRow(b, []float64{w / sd[b], wider[b] / m * n / sd[b]})
		y.SetVec(b, (count-w)/sd[b])
	}
	var fit, off mat.VecDense
	if fit.SolveVec(x, y) != nil {
		return 0
	}
	off.MulVec(x, &fit)
	off.SubVec(y, &off)
	total, free := 0.0, float64(shells-2)
	for b := range shells {
		total += sd[b] * math.Max(0, math.Abs(off.AtVec(b))-beyond)
	}
	if chi := mat.Dot(&off, &off); !(chi > free+misfitSDs*math.Sqrt(2*free)) {
		return 0
	}
	return total / 2 / n
}

func sq(x float64) float64 { return x * x }

// parted returns the rows of the model, drawn, and the component that each most likely belongs to.
func (r *Rounds) parted(random Random) (x drawn, part []int) {
	x = r.draw(random, shellDraws)
	part = make([]int, shellDraws)
	best := make([]float64, shellDraws)
	for j, c := range r.Components {
		for t, l := range x.logDensities(c) {
			if j == 0 || l > best[t] {
				best[t], part[t] = l, j
			}
		}
	}
	return x, part
}
