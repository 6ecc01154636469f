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
	beyond     = 1.25 // times the noise of all shells is no misfit
)

// ShellReleases is how many releases Shells makes: of radii, and along the widest axes.
const ShellReleases = 2

// Parted sends every row to the component that it most likely belongs to.
func (r *Rounds) Parted() (p query.Partition) {
	for _, c := range r.Components {
		q, _ := r.Space.Density(c, c.Weight)
		q.Radius = math.Inf(1)
		p.Components = append(p.Components, q)
	}
	return p
}

// Axes returns the principal axes of a component beside all of them together, widest first: x -
// Mean = out z, z = in (x - Mean), where z has the unit covariance. One component alone is held
// against the units of the space.
func (r *Rounds) Axes(c component.Gaussian) (out, in *mat.Dense) {
	d := r.Space.Dim()
	pooled := mat.NewSymDense(d, nil)
	for _, o := range r.Components {
		pooled.AddSym(pooled, symmetric.Scaled(o.Weight, o.Cov))
	}
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

// Shells sets, for every component, by how much in total variation its rows are not where the
// components themselves have them: counted, in releases that cost mu together, by their distance
// from its mean in its own sds, and by that along its widest axis alone. Two clusters in one
// component leave its middle empty. random draws rows of the model, which say what to expect where
// components overlap.
func (r *Rounds) Shells(a *kernel.Allotment, step string, random func(draws, components int) Random, mu float64) error {
	p, d := r.Parted(), r.Space.Dim()
	x, part := r.parted(random(shellDraws, len(r.Components)))
	for j := range r.Components {
		r.Components[j].Misfit = 0
	}
	for _, q := range [ShellReleases]int{d, 1} {
		var edges []float64
		for b := 1; b < shells; b++ {
			edges = append(edges, math.Sqrt(2*mathext.GammaIncRegInv(float64(q)/2, float64(b)/shells)))
		}
		queries, want := make([]query.Counts, len(p.Components)), make([][]float64, len(p.Components))
		for j, c := range r.Components {
			_, w, _ := symmetric.Factor(c.Cov)
			if q < d {
				_, in := r.Axes(c)
				w = mat.DenseCopyOf(in.Slice(0, q, 0, d))
			}
			queries[j] = query.Counts{Frame: r.Space.Frame(c.Mean, w), Edges: [][]float64{edges}}
			want[j] = make([]float64, shells)
			for t, away := range x.away2(w, c.Mean) {
				if part[t] == j {
					b, _ := slices.BinarySearch(edges, math.Sqrt(away))
					want[j][b]++
				}
			}
		}
		answers, err := parts.AskLeaves(a, step, p, queries, mu*half)
		if err != nil {
			return err
		}
		for j, ans := range answers {
			c := &r.Components[j]
			c.Misfit = math.Max(c.Misfit, misfitOf(ans, want[j], c.Sigma))
		}
	}
	return nil
}

// half of what a release costs, and a little less: rounded up, two of it would be more.
const half = math.Sqrt2 / 2 * (1 - 1e-9)

// misfitOf returns the total variation between counts and what is expected, in proportion, less
// beyond the noise of both, and of the covariance that they were counted by, sigma.
func misfitOf(ans kernel.Answer, want []float64, sigma float64) (total float64) {
	n, m := floats.Sum(ans.Values), floats.Sum(want)
	if !(n > ans.Sigma*math.Sqrt(shells) && m > 0) {
		return 0
	}
	for b, count := range ans.Values {
		share := want[b] / m
		noise := math.Sqrt(sq(ans.Sigma/n) + sq(sigma*share) + share/n + share/m)
		total += math.Abs(count/n-share) - beyond*noise
	}
	return math.Max(0, total/2)
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
