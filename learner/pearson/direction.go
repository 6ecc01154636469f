package pearson

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of the choice of a direction.
const (
	directionsPer = 10   // random directions per column
	rankRows      = 1000 // rows that rank the directions
	screenRows    = 2000 // rows that rank the finalists
	screenSteps   = 2    // of the matching of scores on a line, for that
	finalists     = 3    // directions that are lifted
)

// A sight is a direction and the mixture that the rows' projection on it has.
type sight struct {
	u     []float64
	line  []gauss
	value float64 // how good a view it is
}

// unit returns a random direction, uniform on the sphere of the frame.
func unit(rng *rand.Rand, d int) []float64 {
	u := make([]float64, d)
	for {
		for i := range u {
			u[i] = rng.NormFloat64()
		}
		if r := dense.Norm(u); r > 0 {
			for i := range u {
				u[i] /= r
			}
			return u
		}
	}
}

// directions returns those to look along: directionsPer random ones for each column, and what
// pursuit makes of some of them. In one column there is but one.
//
// Source: [PPE] Section C3 of the restatement.
// Differs: pursuit.
func directions(t table, rng *rand.Rand) [][]float64 {
	if t.d == 1 {
		return [][]float64{{1}}
	}
	out := make([][]float64, directionsPer*t.d)
	for i := range out {
		out[i] = unit(rng, t.d)
	}
	if t.d == 2 {
		return out
	}
	few := t.thin(pursuitRows)
	for i := range pursuits(t.d) {
		out = append(out, pursue(few, out[2*i], 3), pursue(few, out[2*i+1], 2))
	}
	return out
}

// apart returns how well two components on a line are distinguished: 1 less their Bhattacharyya
// coefficient, times the smaller weight.
//
// Source: [PPE] Section C3 of the restatement.
func apart(a, b gauss) float64 {
	va, vb := a.root[0]*a.root[0], b.root[0]*b.root[0]
	m := a.mean[0] - b.mean[0]
	bc := math.Sqrt(2*a.root[0]*b.root[0]/(va+vb)) * math.Exp(-m*m/(4*(va+vb)))
	return (1 - bc) * math.Min(a.weight, b.weight)
}

// clearest returns the directions along which the moments tell two components best apart, best
// first, with the mixtures of these moments.
//
// Source: [PPE] Section C3 of the restatement.
func clearest(t table, us [][]float64) []sight {
	var out []sight
	for _, u := range us {
		if line, ok := t.project(u).moments().solve(); ok {
			out = append(out, sight{u, line, apart(line[0], line[1])})
		}
	}
	return ranked(out)
}

// ranked puts the best sights first.
func ranked(s []sight) []sight {
	slices.SortStableFunc(s, func(a, b sight) int { return cmp.Compare(b.value, a.value) })
	return s
}

// likeliest returns the directions along which mixtures with the rows' moments are likelier by most
// than one Gaussian, best first. The rows' variance is 1 in all directions, so all compare with the
// same Gaussian.
//
// Source: [PPE] Section C3 of the restatement.
// Differs: all candidates of a direction stay, and the likelihood of some rows' projection ranks
// them, after scores are matched on it.
func likeliest(t table, us [][]float64) []sight {
	few := t.thin(rankRows)
	var out []sight
	for _, u := range us {
		lines, _ := t.project(u).moments().candidates()
		projected, best := few.project(u), sight{value: math.Inf(-1)}
		for _, line := range lines {
			if line, v := match(projected, line, screenSteps); v > best.value {
				best = sight{u, line, v}
			}
		}
		if best.line != nil {
			out = append(out, best)
		}
	}
	out = ranked(out)
	return out[:min(len(out), finalists)]
}
