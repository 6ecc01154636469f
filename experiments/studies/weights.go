package studies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// flagged is 1 if the release says that the model is not to be used.
const flagged = "flagged"

// weighted is a law of mixtures in a square of side 16 around the origin: these weights, spherical
// components with standard deviations from .5 to 2, and means at least Gap times the larger of two
// standard deviations apart. Without bounds a unit from 1e-3 to 1e3 is drawn too.
type weighted struct {
	Weights []float64
	Columns int
	Bounded bool
	Gap     float64
}

// overWeights returns the cells of general:amn24 over weights, columns and bounds.
func overWeights() (out []cell) {
	for _, x := range []struct {
		columns int
		bounded bool
	}{{1, true}, {1, false}, {2, true}} {
		for _, w := range [][]float64{{1}, {.5, .5}, {.6, .4}, {.75, .25}, {1. / 3, 1. / 3, 1. / 3}, {.5, .25, .25}, {.6, .2, .2}} {
			l := weighted{Weights: w, Columns: x.columns, Bounded: x.bounded, Gap: 3}
			out = append(out, l.cell())
		}
	}
	return out
}

func (l weighted) cell() cell {
	var parts []string
	for _, w := range l.Weights {
		parts = append(parts, fmt.Sprintf("%.2g", w))
	}
	bounds := "no bounds"
	c := cell{law: l, d: l.Columns, k: len(l.Weights), rows: []int{20_000}, by: by("general:amn24")}
	c.ask = gauze.Request{Budget: privacy.Budget{Epsilon: 10, Delta: 1e-6}, Components: len(l.Weights)}
	if l.Bounded {
		bounds = "bounds"
		c.ask.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 10, Eigenvalues: [2]float64{.25, 4}}
	}
	c.name = fmt.Sprintf("d=%d/%s/%s", l.Columns, bounds, strings.Join(parts, ","))
	c.draw = func(seed uint64, n int) (table, error) { return ofMixture(l.draw(engine.SeedOf(c.name, seed), n)) }
	return c
}

// draw draws a truth and its rows: components one after another, all of them anew where one finds
// no room.
func (l weighted) draw(seed uint64, n int) (*madeup.Instance, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	unit := 1.
	if !l.Bounded {
		unit = math.Pow(10, 6*rng.Float64()-3)
	}
	var components []model.Gaussian
	var sds []float64
	for tries := 0; len(components) < len(l.Weights); tries++ {
		if tries == 100 {
			components, sds, tries = nil, nil, 0
		}
		mean, sd, room := make([]float64, l.Columns), .5*math.Pow(4, rng.Float64()), true
		for j := range mean {
			mean[j] = unit * (16*rng.Float64() - 8)
		}
		for i, g := range components {
			square := 0.
			for j := range mean {
				square += math.Pow((mean[j]-g.Mean[j])/unit, 2)
			}
			room = room && math.Sqrt(square) >= l.Gap*math.Max(sd, sds[i])
		}
		if !room {
			continue
		}
		cov, err := model.NewSpherical(l.Columns, math.Pow(unit*sd, 2))
		if err != nil {
			return nil, err
		}
		components, sds = append(components, model.Gaussian{Mean: mean, Cov: cov}), append(sds, sd)
	}
	truth, err := model.New(nil, l.Weights, components)
	if err != nil {
		return nil, err
	}
	in := &madeup.Instance{Truth: truth, Rows: mat.NewDense(n, l.Columns, nil)}
	return in, madeup.Draw(truth, in.Rows, rng)
}

// withFlags measures, beside what m does, whether the release warns of itself.
func withFlags(m measure) measure {
	return func(c cell, t table, f engine.Fitted) (engine.Outcome, error) {
		out, err := m(c, t, f)
		if f.Release != nil {
			out.Values[flagged] = 0
			if _, all, _ := engine.Warnings(f.Release); strings.Contains(strings.Join(all, " "), "do not use this model") {
				out.Values[flagged] = 1
			}
		}
		return out, err
	}
}

// ends returns the column of silences, after that of names, that a run belongs to.
func ends(run engine.Result) int {
	warned := run.Values[flagged] == 1
	switch {
	case strings.HasPrefix(run.Why, "refused: "):
		return 6
	case run.Values[released] == 0:
		return 5
	case run.Success && warned:
		return 2
	case run.Success:
		return 1
	case warned:
		return 3
	}
	return 4
}

// silences writes the table of what was wrong, and whether the release said so.
func silences(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"mixture", "fits", "learned", "learned, flagged", "wrong, flagged", "wrong in silence", "no release", "refused for free"}}
	var all [7]int
	add := func(name string, n [7]int) { t.Add(name, n[0], n[1], n[2], n[3], n[4], n[5], n[6]) }
	for _, l := range r.Lines {
		var n [7]int
		for _, run := range l.First() {
			n[0]++
			n[ends(run)]++
		}
		add(l.Name, n)
		for i := range all {
			all[i] += n[i]
		}
	}
	add("all", all)
	p.Text("Flagged: the release says that the model is not to be used. Learned: a total variation of at most the bar.")
	p.Table(t)
}
