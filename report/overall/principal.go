package overall

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/release"
)

// A Figure is a number with the standard deviation that the privacy noise causes; NaN where that is
// not known.
//
// Noise is to first order and an upper estimate: a component's effective noise is that of its worst
// direction, and is used for all of them.
type Figure struct{ Value, Noise float64 }

// A Direction is a principal component: a direction of columns along which the table as a whole
// varies, its variance, and how far the noise may have moved it.
type Direction struct {
	Variance          Figure   // along it, in units of the columns squared, or of standardised columns
	Share, Cumulative Figure   // of the variance of all columns; alone and with those before it
	Loadings          []Figure // its unit vector, one entry per column, the largest of them positive
}

// Principal returns the principal components of a release with a valid model, largest variance
// first: eigenvectors of the covariance of the mixture as a whole, background included, before any
// limits of columns; of its correlations if standardised, where columns without spread have
// loadings 0. It fails for a model without any spread.
func Principal(r *release.Release, standardised bool) ([]Direction, error) {
	d := r.Model.Dim()
	unit := units(r, standardised)
	parts := weightedOf(r, unit)
	cov := mat.NewSymDense(d, nil)
	for _, p := range parts {
		cov.AddSym(cov, p.second)
	}
	var e mat.EigenSym
	if mat.Trace(cov) == 0 || !e.Factorize(cov, true) {
		return nil, &release.Error{Field: "model.covariances", Wanted: "a spread along some direction", Got: "none", Hint: "a table whose columns are all constant has no principal components"}
	}
	values, vectors := e.Values(nil), new(mat.Dense)
	e.VectorsTo(vectors)
	noise, total := make([]float64, d), 0.0
	for i := range values {
		values[i] = math.Max(0, values[i])
		total += values[i]
		for _, p := range parts {
			noise[i] = math.Hypot(noise[i], p.noise*mat.Inner(vectors.ColView(i), p.second, vectors.ColView(i)))
		}
	}
	scale := 1.0
	if !standardised {
		scale = unit[0]
	}
	out, sum := make([]Direction, d), 0.0
	for at := range out {
		i := d - 1 - at // gonum sorts in increasing order
		sum += values[i]
		out[at] = Direction{
			Variance:   Figure{scale * values[i] * scale, scale * noise[i] * scale},
			Share:      share(values[i]/total, total, noise, func(j int) bool { return j == i }),
			Cumulative: share(math.Min(1, sum/total), total, noise, func(j int) bool { return j >= i }),
			Loadings:   loadings(values, vectors, noise, i),
		}
	}
	return out, nil
}

// weighted is one component's second moment about the whole's mean, times its weight, and the
// relative noise of it.
type weighted struct {
	second *mat.SymDense
	noise  float64
}

// units returns the divisors of the columns: their standard deviations, 0 for none; or the largest
// of these for all, so that any scale can be computed with.
func units(r *release.Release, standardised bool) []float64 {
	m, out, largest := r.Model.Mean(), make([]float64, r.Model.Dim()), 0.0
	for j := range out {
		for i, g := range r.Model.Components {
			out[j] = math.Hypot(out[j], math.Sqrt(r.Model.Weights[i])*math.Hypot(math.Sqrt(g.Cov.At(j, j)), g.Mean[j]-m[j]))
		}
		largest = math.Max(largest, out[j])
	}
	for j := range out {
		if !standardised {
			out[j] = largest
		}
	}
	return out
}

func weightedOf(r *release.Release, unit []float64) (out []weighted) {
	m, d := r.Model.Mean(), r.Model.Dim()
	over := func(x float64, j int) float64 {
		if unit[j] == 0 {
			return 0
		}
		return x / unit[j]
	}
	for k, g := range r.Model.Components {
		p := weighted{mat.NewSymDense(d, nil), math.NaN()}
		if k < len(r.Diagnostics.Components) && r.Diagnostics.Components[k].EffectiveNoise > 0 {
			p.noise = r.Diagnostics.Components[k].EffectiveNoise
		} else if r.Model.Weights[k] < lightest {
			p.noise = 0
		}
		for i := range d {
			for j := range i + 1 {
				away := over(g.Mean[i]-m[i], i) * over(g.Mean[j]-m[j], j)
				p.second.SetSym(i, j, r.Model.Weights[k]*(over(over(g.Cov.At(i, j), i), j)+away))
			}
		}
		out = append(out, p)
	}
	return out
}

// share returns a part of the total with its noise: noise in the part moves it up, all else down.
func share(value, total float64, noise []float64, in func(int) bool) Figure {
	moved := 0.0
	for j, n := range noise {
		if by := value; in(j) {
			moved = math.Hypot(moved, (1-by)*n)
		} else {
			moved = math.Hypot(moved, by*n)
		}
	}
	return Figure{value, moved / total}
}

// loadings returns eigenvector i. Noise E turns it towards eigenvector j by v_j'E v_i/(l_i - l_j),
// of which the standard deviation is about the geometric mean of both variances' noise over the
// root of 2; an entry cannot be off by more than 1.
func loadings(values []float64, vectors *mat.Dense, noise []float64, i int) []Figure {
	d := len(values)
	out, sign, largest := make([]Figure, d), 1.0, 0.0
	for a := range out {
		v := vectors.At(a, i)
		if math.Abs(v) > largest*(1+1e-9) {
			largest, sign = math.Abs(v), math.Copysign(1, v)
		}
		off := 0.0
		for j := range values {
			if away := vectors.At(a, j); j != i && away != 0 {
				off = math.Hypot(off, away*math.Sqrt(noise[i]*noise[j]/2)/math.Abs(values[i]-values[j]))
			}
		}
		if off > 1 {
			off = 1
		}
		out[a] = Figure{v, off}
	}
	for a := range out {
		if out[a].Value *= sign; out[a].Value == 0 {
			out[a].Value = 0 // no negative zero
		}
	}
	return out
}
