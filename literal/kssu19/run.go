package kssu19

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A run is what the algorithms share: whom they ask, and what they may assume. An algorithm is a
// method of it that is given the prefix of its steps' names, the parts of the table that it works
// on, all at once, and the mu^2 that it may cost, parts included.
type run struct {
	a        *kernel.SubBudget
	relation privacy.Relation
	c        Constants
	// group is how many rows of the table may change at once: 1, or more in a table of estimates
	// that blocks were made into.
	group float64
	draws uint64 // public draws so far
}

// A part is a set of rows: where all conditions hold; and the coordinates in which a ball is sought
// in it. Parts that are measured together are disjoint, and have frames with as many coordinates.
type part struct {
	where []query.Condition
	// frame has orthonormal rows: all columns, or a projection.
	frame query.Affine
	// rows is about how many rows there are, t how many a ball shall hold: public or released.
	rows, t float64
}

// A ball is in the coordinates of a frame: a released centre and radius.
type ball struct {
	frame  query.Affine // centred at the centre
	radius float64
}

// begin returns a run on the session of a sub-budget, in whose table group rows may change at once.
func begin(a *kernel.SubBudget, c Constants, group float64) *run {
	return &run{a: a, relation: a.Session().Relation(), c: c, group: group}
}

// partition returns the partition of space into the parts.
func partition(parts []part) query.Partition {
	var p query.Partition
	for _, q := range parts {
		p.Regions = append(p.Regions, query.Region{Conditions: q.where})
	}
	return p
}

// and returns the part's rows that meet further conditions.
func (p part) and(more ...query.Condition) part {
	p.where = append(append([]query.Condition(nil), p.where...), more...)
	return p
}

func (p part) dim() int { return p.frame.Out() }

func (b ball) within(radius float64) query.Condition {
	return query.Condition{Map: b.frame, Radius: radius}
}

func (b ball) beyond(radius float64) query.Condition {
	return query.Condition{Map: b.frame, Radius: radius, Outside: true}
}

// whole returns the frame of all d columns as they are.
func whole(d int) query.Affine {
	a := query.Affine{Center: make([]float64, d), W: make([][]float64, d)}
	for i := range a.W {
		a.W[i] = make([]float64, d)
		a.W[i][i] = 1
	}
	return a
}

// shifted returns f, whose rows are orthonormal, centred where its coordinates are z.
func shifted(f query.Affine, z []float64) query.Affine {
	center := append([]float64(nil), f.Center...)
	for i, w := range f.W {
		for j, v := range w {
			center[j] += v * z[i]
		}
	}
	f.Center = center
	return f
}

// turned returns u after f: coordinates u z.
func turned(u *mat.Dense, f query.Affine) query.Affine {
	r, l := u.Dims()
	out := query.Affine{Columns: f.Columns, Center: f.Center, W: make([][]float64, r)}
	for i := range r {
		out.W[i] = make([]float64, len(f.Center))
		for k := range l {
			for j, v := range f.W[k] {
				out.W[i][j] += u.At(i, k) * v
			}
		}
	}
	return out
}

// publicSeed is that of all public draws: rotations, projections and shifts, drawn independently of
// the table.
const publicSeed = 0x4b53535531392e31

// draw returns a generator of public draws. How many were made before is a function of released
// values.
func (r *run) draw() *rand.Rand {
	r.draws++
	return rand.New(rand.NewPCG(publicSeed, r.draws))
}

func uniform(rng *rand.Rand, n int, below float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = below * rng.Float64()
	}
	return out
}

// twice returns 2 where one row can change the scores of two parts at once, by moving from one to
// the other: see [papers.Selection.Sensitivity].
func (r *run) twice(parts int) float64 {
	if parts > 1 && r.relation == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// A subset is the rows that a search for radii looks at.
type subset struct{ keep float64 }

// subset returns one that is large enough for need points in every ball that is sought, however
// many rows there are.
func (r *run) subset(parts []part, need float64) subset {
	need = math.Max(need, leastInBall) + 1
	least := (3 + math.Sqrt(9+4*need)) / 2 // solves x^2 - 3x = need, what of takes off
	largest, keep := 1.0, 0.0
	for _, p := range parts {
		largest = math.Max(largest, p.rows)
		if p.t > 0 {
			keep = math.Max(keep, math.Max(1.5*need, least*least)/p.t)
		}
	}
	return subset{math.Min(1, math.Max(keep, float64(r.c.SubsetRows)/largest))}
}

// leastInBall is how many rows of a ball a subset holds at least, whatever the noise: few would
// show a radius badly. A guess.
const leastInBall = 50.0

// of returns about how many of t rows are in the subset, and seldom fewer. It is below what a score
// takes.
//
// Source: [KSSU19] Section B.1 of the restatement.
// Differs: three standard deviations below the mean instead of .9 of it, so that a component of a
// tenth of the rows is not lost.
func (s subset) of(t float64) int {
	most := float64(1 << 28)
	return int(math.Max(0, math.Min(most, s.keep*t-3*math.Sqrt(s.keep*(1-s.keep)*math.Max(0, t)))))
}

// chosen returns the parts with the given numbers.
func chosen(parts []part, at []int) []part {
	out := make([]part, len(at))
	for i, j := range at {
		out[i] = parts[j]
	}
	return out
}
