package general

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of atoms: guesses, tried on made-up mixtures in which up to two of three to
// eight columns have one value in 10 to 60 % of the rows.
const (
	// An atom gets components of its own if knowing its share gains so many nats per row: of .02,
	// .05 and .1, which are equally good.
	leastAtomGain = .05
	// .. if a column without a grid has so large a part of its rows there, and outstanding times as
	// many as at any other value within besideAtom of the sd: else it may be a number among others
	leastAlone, outstanding, besideAtom = .1, 3.0, .5
	// .. each of so large a part of all rows, or all together
	leastAtomPart = .03
	// .. where it would have so large a part of the atom
	leastOfAtom = .002
	// The other rows of a component keep so large a part of its rows, and of its variance.
	leastRest, leastRestVariance = .05, .2
)

// An atom is a share of the rows within half of a value of a coordinate of the working space. Its
// rows start with the variance least, and components may be as narrow.
type atom struct {
	at           int
	value, half  float64
	share, least float64
}

// splitAtoms gives atoms that components miss components of their own. Noise alone decides whether
// rounds find a spike within a wide component; the released columns have seen it already.
func (f *fit) splitAtoms(r *privateem.Rounds) {
	if f.Problem.Components > 0 || f.method.Without.Atoms {
		return
	}
	for atoms := f.atoms(r); len(atoms) > 0; {
		best, at := leastAtomGain, -1
		for i, a := range atoms {
			if gain := a.gain(r.Components); gain > best {
				best, at = gain, i
			}
		}
		if at < 0 {
			return
		}
		a := atoms[at]
		r.Grid[a.at] = math.Max(r.Grid[a.at], a.least)
		r.Components = a.split(r.Components)
		atoms = slices.Delete(atoms, at, at+1)
	}
}

// atoms returns what the columns' atoms are in the space of r.
func (f *fit) atoms(r *privateem.Rounds) (out []atom) {
	if f.Atoms == nil || len(r.Components) == 0 {
		return nil
	}
	whole := component.Joined(r.Components[0], r.Components[1:]...)
	for i, j := range r.Space.Columns {
		scale, least := r.Space.Scale[i], math.Inf(1)
		for _, c := range r.Components {
			least = math.Min(least, sq(atomWidth)*c.Cov.At(i, i))
		}
		least = math.Max(least, r.Grid[i])
		for _, a := range f.Atoms[j] {
			if f.Grids[j].Unit == 0 && !standsOut(a, f.Atoms[j], besideAtom*scale*math.Sqrt(whole.Cov.At(i, i))) {
				continue
			}
			out = append(out, atom{i, (a.Value - r.Space.Center[i]) / scale, math.Sqrt(3 * least), a.Share - 2*a.Noise, least})
		}
	}
	return out
}

// standsOut reports whether a value is no number among others of a column without a grid: it has a
// large part of the rows, and no value within so much of it has nearly as many.
func standsOut(a program.Atom, all []program.Atom, within float64) bool {
	return a.Share >= leastAlone && !slices.ContainsFunc(all, func(b program.Atom) bool {
		return b.Value != a.Value && math.Abs(b.Value-a.Value) < within && b.Share > a.Share/outstanding
	})
}

// gain returns by how many nats per row a model is better that knows the share of the atom:
// KL(share || that of the components).
func (a atom) gain(cs []component.Gaussian) float64 {
	p := 1e-12
	for _, c := range cs {
		sd, x := math.Sqrt(2*c.Cov.At(a.at, a.at)), a.value-c.Mean[a.at]
		p += c.Weight * (math.Erf((x+a.half)/sd) - math.Erf((x-a.half)/sd)) / 2
	}
	if p >= a.share {
		return 0
	}
	return a.share*math.Log(a.share/p) + (1-a.share)*math.Log((1-a.share)/(1-p))
}

// split divides components into the rows of the atom and the others: each has them in proportion to
// its density at the value, and parts that would be light are one.
func (a atom) split(cs []component.Gaussian) (out []component.Gaussian) {
	shares := make([]float64, len(cs))
	for j, c := range cs {
		v := c.Cov.At(a.at, a.at)
		shares[j] = math.Log(c.Weight) - math.Log(v)/2 - sq(a.value-c.Mean[a.at])/(2*v)
	}
	most, total := slices.Max(shares), 0.0
	for j, log := range shares {
		shares[j] = math.Exp(log - most)
		total += shares[j]
	}
	var light []component.Gaussian
	for j, c := range cs {
		rows := math.Min(a.share*shares[j]/total, (1-leastRest)*c.Weight)
		if rows < leastOfAtom*a.share {
			out = append(out, c)
			continue
		}
		of, others := a.divide(c, rows)
		if out = append(out, others); rows >= leastAtomPart {
			out = append(out, of)
		} else {
			light = append(light, of)
		}
	}
	if len(light) > 0 {
		out = append(out, component.Joined(light[0], light[1:]...))
	}
	return out
}

// divide returns a component's rows of the atom, that share of all, and its others: in the other
// columns both are as it is.
func (a atom) divide(c component.Gaussian, share float64) (of, others component.Gaussian) {
	i, w, x, v := a.at, c.Weight, c.Mean[a.at], c.Cov.At(a.at, a.at)
	mean := (w*x - share*a.value) / (w - share)
	variance := math.Max(leastRestVariance*v, (w*(v+x*x)-share*sq(a.value))/(w-share)-mean*mean)
	at := func(weight, mean, variance, correlated float64) component.Gaussian {
		g := component.Gaussian{Weight: weight, Mean: slices.Clone(c.Mean), Cov: mat.NewSymDense(len(c.Mean), nil), Uncertainty: component.StartUncertainty()}
		g.Cov.CopySym(c.Cov)
		for j := range g.Mean {
			g.Cov.SetSym(i, j, correlated*g.Cov.At(i, j))
		}
		g.Mean[i] = mean
		g.Cov.SetSym(i, i, variance)
		return g
	}
	return at(share, a.value, a.least, 0), at(w-share, mean, variance, math.Sqrt(variance/v))
}
