package madeup

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/model"
)

// Of the integral in one column: its pieces are that many standard deviations of a component long,
// as far as that from its mean.
const (
	piece, farOut = .25, 9
)

// gaussLegendre are nodes and weights of five points on [-1, 1].
var gaussLegendre = [][2]float64{{0, 128. / 225}, {.5384693101056831, .4786286704993665}, {-.5384693101056831, .4786286704993665},
	{.9061798459386640, .2369268850561891}, {-.9061798459386640, .2369268850561891}}

// monteCarloStream keeps the rows of the Monte-Carlo estimate apart from those of a table.
const monteCarloStream = 3

// TotalVariation returns the total variation distance of two mixtures: an integral in one column,
// in pieces that resolve every component, else by Monte Carlo with the given number of rows.
func TotalVariation(a, b *model.Mixture, rows int) (float64, error) {
	if a.Dim() > 1 || b.Dim() > 1 {
		c, err := model.Compare(context.Background(), a, b, rows, rand.New(rand.NewPCG(1, monteCarloStream)))
		return float64(c.TV), err
	}
	terms, atoms := terms(a, b)
	places := breaks(terms)
	sum := 0.0
	for i, p := range places[:len(places)-1] {
		length := places[i+1].from(p)
		for _, g := range gaussLegendre {
			x := p
			x.offset += length * (1 + g[0]) / 2
			diff := 0.0
			for _, t := range terms {
				z := x.from(place{t.mean, 0}) / t.sd
				diff += t.weight / t.sd * math.Exp(-z*z/2)
			}
			sum += length / 2 * g[1] * math.Abs(diff)
		}
	}
	return min(1, (sum/math.Sqrt(2*math.Pi)+atoms)/2), nil
}

// A term is a component, with a negative weight if it is one of the second mixture.
type term struct{ weight, mean, sd float64 }

// terms returns the components of both; atoms is the mass of those without a density, which are
// assumed to overlap with nothing.
func terms(a, b *model.Mixture) (out []term, atoms float64) {
	for side, m := range []*model.Mixture{a, b} {
		for i, g := range m.Components {
			t := term{m.Weights[i] * float64(1-2*side), g.Mean[0], math.Sqrt(g.Cov.At(0, 0))}
			switch {
			case t.weight == 0:
			case t.sd == 0:
				atoms += math.Abs(t.weight)
			default:
				out = append(out, t)
			}
		}
	}
	return out, atoms
}

// A place is a number as the sum of a mean and an offset from it, which keeps more digits than a
// float64 far from 0 does.
type place struct{ mean, offset float64 }

func (p place) from(q place) float64 { return (p.mean - q.mean) + (p.offset - q.offset) }

// breaks returns the ends of the pieces, increasing.
func breaks(terms []term) []place {
	out := []place{{0, 0}, {0, 0}} // there is a piece even if there is no component
	for _, t := range terms {
		for z := -farOut; z <= farOut; z++ {
			for s := 0.0; s < 1; s += piece {
				out = append(out, place{t.mean, t.sd * (float64(z) + s)})
			}
		}
	}
	slices.SortFunc(out, func(p, q place) int { return cmp.Compare(p.from(q), 0) })
	return out
}
