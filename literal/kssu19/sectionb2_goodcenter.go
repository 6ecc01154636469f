package kssu19

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// The steps of GoodCenter, a quarter of its mu^2 each.
const (
	stepBox   = "box"
	stepBoxes = "boxes"
	stepAxes  = "axes"
	stepMean  = "mean"
)

// seen: a released count of fewer noise sds than this is taken for nothing. A utility constant.
const seen = 4.0

// goodCenterSteps returns the steps; slack is for each of the two stability histograms.
func goodCenterSteps(prefix string, share float64, most int, slack float64) []kernel.Step {
	const source = "KSSU19 Section B.2"
	histogram := query.PartsOf(query.BoxKeys{}.Kind())
	return []kernel.Step{
		{Name: prefix + stepBox, Query: papers.SelectionOf(papers.MaxBoxCount{}.Kind()), Share: share / 4, Most: most, Source: source},
		{Name: prefix + stepBoxes, Query: histogram, Share: share / 4, Most: most, Slack: slack, Source: source},
		{Name: prefix + stepAxes, Query: histogram, Share: share / 4, Most: most, Slack: slack, Source: source},
		{Name: prefix + stepMean, Query: query.PartsOf(query.ClippedMoments{}.Kind()), Share: share / 4, Most: most, Source: source},
	}
}

// goodCenter finds, for every part, the centre of a ball that holds about t of its rows, given a
// radius at which there is one; nil is bottom. The ball returned has the radius given. A part whose
// radius is NaN is left out.
//
// Every step holds for rows of a released set, whatever the relation, so each is valid after the
// ones before it.
//
// Source: [KSSU19] Section B.2 of the restatement.
// Differs: a random projection with orthonormal rows; cells along the axes are never wider than the
// ball; the mean is one release with its count (the spherical form of clipped moments).
func (r *run) goodCenter(prefix string, parts []part, radii []float64, mu2 float64) ([]*ball, error) {
	found, err := r.centers(prefix, parts, radii, 1, mu2)
	balls := make([]*ball, len(parts))
	for i, list := range found {
		if len(list) > 0 {
			balls[i] = list[0]
		}
	}
	return balls, err
}

// centers returns the balls of the fullest boxes, at most so many of a part, the fullest first. All
// boxes are looked into at once, as parts of the table, so that more of them cost no more.
func (r *run) centers(prefix string, parts []part, radii []float64, most int, mu2 float64) ([][]*ball, error) {
	s := &centerSearch{run: r, prefix: prefix, mu2: mu2 / 4, most: most, balls: make([][]*ball, len(parts))}
	for i, p := range parts {
		if radii[i] > 0 { // false for NaN
			s.live = append(s.live, &candidate{at: i, part: p, radius: radii[i]})
		}
	}
	for _, step := range []func() error{s.findShift, s.findBox, s.findCell, s.findMean} {
		if len(s.live) == 0 {
			break
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s.balls, nil
}

// A centerSearch is the state between the steps.
type centerSearch struct {
	*run
	prefix string
	mu2    float64 // of a step
	most   int     // candidates of a part
	live   []*candidate
	balls  [][]*ball
}

// A candidate is a part that has not failed yet; its part is narrowed step by step.
type candidate struct {
	part
	at      int
	radius  float64
	boxes   query.Affine // the coordinates of the boxes
	shifts  [][]float64
	shift   []float64 // the shift at which a box is full
	center  query.Affine
	reached float64 // radius of the ball around center that the mean is taken in
	found   bool    // in the current step
}

func (s *centerSearch) parts() []part {
	out := make([]part, len(s.live))
	for i, c := range s.live {
		out[i] = c.part
	}
	return out
}

// drop leaves out the candidates that the step did not find.
func (s *centerSearch) drop() {
	s.live = slices.DeleteFunc(s.live, func(c *candidate) bool {
		found := c.found
		c.found = false
		return !found
	})
}

func (s *centerSearch) side(c *candidate) float64 { return s.c.BoxSide * c.radius }

// findShift projects to q dimensions and looks for a shift of the grid of boxes at which a box
// holds half of t.
func (s *centerSearch) findShift() error {
	// Steps 1 and 2: a public projection, and a shift of the boxes.
	q := papers.Selection{Partition: partition(s.parts())}
	var thresholds []int64
	for _, c := range s.live {
		rng := s.draw()
		l := c.dim()
		dims := min(l, s.c.BoxDimensions)
		j := mat.DenseCopyOf(paper.Rotation(rng, l).Slice(0, dims, 0, l))
		j.Scale(math.Sqrt(float64(l)/float64(dims)), j) // keeps distances, on average
		c.boxes = turned(j, c.frame)
		for range s.c.BoxAttempts {
			c.shifts = append(c.shifts, uniform(rng, dims, s.side(c)))
		}
		q.Scores = append(q.Scores, papers.MaxBoxCount{Map: c.boxes, Side: s.side(c), Offsets: c.shifts})
		thresholds = append(thresholds, int64(math.Max(1, math.Min(c.t/2, 1<<40))))
	}
	at, err := pure.AboveThreshold(s.a, s.prefix+stepBox, q, thresholds, paper.PureEpsilon(s.mu2))
	if err != nil {
		return err
	}
	for i, c := range s.live {
		if at[i] >= 0 {
			c.shift, c.found = c.shifts[at[i]], true
		}
	}
	s.drop()
	return nil
}

// findBox takes the fullest boxes at that shift.
func (s *centerSearch) findBox() error {
	// Step 3: the boxes of that shift.
	q := query.BoxKeys{Partition: partition(s.parts()), Joint: true}
	for _, c := range s.live {
		q.Grids = append(q.Grids, query.Grid{Map: c.boxes, Side: repeat(s.side(c), c.boxes.Out()), Offset: c.shift})
	}
	cells, _, err := kernel.StabilityHistogram(s.a, s.prefix+stepBoxes, q, parts.Mu(s.mu2))
	if err != nil {
		return err
	}
	var live []*candidate
	for i, c := range s.live {
		for _, cell := range s.fullest(cells, i) {
			in := *c
			for k, w := range c.boxes.W {
				middle := c.shift[k] + (cell.Key[k]+.5)*s.side(c)
				in.part = in.and(slab(c.boxes, w, middle, s.side(c)/2))
			}
			live = append(live, &in)
		}
	}
	s.live = live
	return nil
}

// fullest returns the boxes of a leaf with the largest counts.
func (s *centerSearch) fullest(all []kernel.HistogramCell, leaf int) []kernel.HistogramCell {
	var own []kernel.HistogramCell
	for _, c := range all {
		if c.Leaf == leaf {
			own = append(own, c)
		}
	}
	slices.SortStableFunc(own, func(a, b kernel.HistogramCell) int { return cmp.Compare(b.Count, a.Count) })
	return own[:min(len(own), s.most)]
}

// slab returns the condition |w(x - Center) - middle| <= half, for one row w of f.
func slab(f query.Affine, w []float64, middle, half float64) query.Condition {
	n2 := 0.0
	for _, v := range w {
		n2 += v * v
	}
	center := append([]float64(nil), f.Center...)
	for j, v := range w {
		center[j] += v * middle / n2
	}
	return query.Condition{Map: query.Affine{Columns: f.Columns, Center: center, W: [][]float64{w}}, Radius: half}
}

// findCell finds, along the axes of a random rotation, the fullest interval of each, and so a ball
// that is bounded in all dimensions.
func (s *centerSearch) findCell() error {
	// Step 4: a public rotation, and the fullest cell along every axis.
	q := query.BoxKeys{Partition: partition(s.parts())}
	var turns []*mat.Dense
	for _, c := range s.live {
		rng := s.draw()
		l := c.dim()
		u := paper.Rotation(rng, l)
		turns = append(turns, u)
		width := s.width(c)
		q.Grids = append(q.Grids, query.Grid{Map: turned(u, c.frame), Side: repeat(width, l), Offset: uniform(rng, l, width)})
	}
	cells, _, err := kernel.StabilityHistogram(s.a, s.prefix+stepAxes, q, parts.Mu(s.mu2))
	if err != nil {
		return err
	}
	for i, c := range s.live {
		l, width := c.dim(), s.width(c)
		z := make([]float64, l)
		c.found = true
		for k := range l {
			best := heaviest(cells, i, k)
			if best == nil {
				c.found = false
				break
			}
			along := q.Grids[i].Offset[k] + (best.Key[0]+.5)*width
			for j := range l {
				z[j] += turns[i].At(k, j) * along
			}
		}
		c.center, c.reached = shifted(c.frame, z), 1.5*width*math.Sqrt(float64(l))
		c.found = c.found && usable(c.center, c.reached)
	}
	s.drop()
	return nil
}

// width returns p, the width of the cells along an axis.
func (s *centerSearch) width(c *candidate) float64 {
	l := float64(c.dim())
	return 2 * c.radius * math.Min(1, math.Sqrt(math.Log(4*l*math.Max(2, c.rows))/l))
}

// findMean takes the noisy mean of the rows in that ball.
func (s *centerSearch) findMean() error {
	// Step 5: the mean.
	q := query.Parts{}
	for _, c := range s.live {
		c.part = c.and(query.Condition{Map: c.center, Radius: c.reached})
		q.Queries = append(q.Queries, spherical(c.center, c.reached))
	}
	q.Partition = partition(s.parts())
	sums, err := s.sphericalSums(s.prefix+stepMean, q, parts.Mu(s.mu2))
	if err != nil {
		return err
	}
	for i, c := range s.live {
		if m := sums[i]; m.Count > seen*m.CountSD {
			s.balls[c.at] = append(s.balls[c.at], &ball{frame: shifted(c.center, meanWithin(m, c.reached)), radius: c.radius})
		}
	}
	return nil
}

// spherical asks for the count, sum and squared lengths of the rows, clipped to the ball.
func spherical(f query.Affine, radius float64) query.ClippedMoments {
	return query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{{Map: f, Radius: radius}}}
}

// sphericalSums measures q, Parts of queries made by spherical.
func (r *run) sphericalSums(step string, q query.Parts, loss float64) ([]component.Sums, error) {
	ans, err := r.a.Sum(step, q, loss)
	if err != nil {
		return nil, err
	}
	var out []component.Sums
	answers, sigmas := q.Split(ans.Values, ans.Sigma)
	for i, values := range answers {
		out = append(out, component.UnpackSums(q.Queries[i].(query.ClippedMoments), kernel.Answer{Values: values, Sigma: sigmas[i]})...)
	}
	return out, nil
}

// meanWithin returns the mean, moved into the ball that the rows were clipped to.
func meanWithin(m component.Sums, radius float64) []float64 {
	z, n2 := make([]float64, len(m.Sum)), 0.0
	for i, v := range m.Sum {
		z[i] = v / m.Count
		n2 += z[i] * z[i]
	}
	if n := math.Sqrt(n2); !(n <= radius) {
		for i := range z {
			if z[i] *= radius / n; math.IsNaN(z[i]) {
				z[i] = 0
			}
		}
	}
	return z
}

// heaviest returns the cell of the largest count of a leaf and coordinate; nil if none was
// released.
func heaviest(cells []kernel.HistogramCell, leaf, coordinate int) (best *kernel.HistogramCell) {
	for i, c := range cells {
		if c.Leaf == leaf && c.Coordinate == coordinate && (best == nil || c.Count > best.Count) {
			best = &cells[i]
		}
	}
	return best
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// usable reports a ball that a query takes.
func usable(f query.Affine, radius float64) bool {
	return dense.AllFinite(f.Center) && radius > 0 && radius <= 1e150
}
