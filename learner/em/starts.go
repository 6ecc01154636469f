package em

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner/kmeans"
)

// A starter draws starts: k-means in the rows' own coordinates, then again in coordinates in which
// the pooled covariance of the parts just found is the identity, and so on. Distances in whitened
// rows are led by directions in which the components do not differ; the more of the parts are
// right, the more of what is left is what tells them apart. All choices are rows, so a start moves
// with the rows.
//
// Source: [PPE] Section C1 of the restatement.
// Differs: the restatement has one round of k-means in the whitened rows, or k-means++ alone. With
// the rounds, nine starts leave fewer blocks in local optima than thirty without, or than the
// restatement's splits and merges, which find nothing better after them.
type starter struct {
	r     *Run
	rng   *rand.Rand
	y     []float64 // the rows in the coordinates of a round
	parts *kmeans.Search
}

// Utility constants of the starts.
const (
	metricRounds = 4 // of k-means, in coordinates that follow from the one before
	lloydSteps   = 5 // of k-means
	regroupEvery = 3 // starts
	axisTries    = 4 // rows of which an axis of a regroup is the one farthest from the others
)

func newStarter(r *Run, rng *rand.Rand) *starter {
	y, rows := make([]float64, len(r.z)), make([][]float64, r.n)
	for i := range rows {
		rows[i] = y[i*r.d : i*r.d+r.d]
	}
	return &starter{r, rng, y, kmeans.New(rows, nil, r.k)}
}

// draw writes a start of that many rounds to m; false if a part is empty or flat.
func (s *starter) draw(m *Mixture, rounds int) bool {
	r := s.r
	copy(s.y, r.z)
	for round := range rounds {
		s.parts.Seed(s.rng.IntN(r.n), s.rng.Float64)
		s.parts.Lloyd(lloydSteps)
		if !s.fit(m) {
			return false
		}
		if r.k == 1 || round == rounds-1 {
			break
		}
		copy(r.work, r.pooled)
		inv := r.square[:len(r.pooled)]
		if !dense.Cholesky(r.work, r.d) || !dense.InvertLower(inv, r.work, r.d) {
			return false
		}
		turn(s.y, inv, r.d, r.z)
	}
	return true
}

// regroup divides the rows of a part and of those next to it, two at least, anew, about their
// common mean and in units of their common covariance: by axes, the nearest of some through rows,
// as components that cross differ; or by shells, as nested ones do. Means tell neither.
func (s *starter) regroup(m *Mixture, axes bool) bool {
	r, d := s.r, s.r.d
	first, group := s.rng.IntN(r.k), make([]int, r.k)
	for j := range group {
		group[j] = j
	}
	from := func(j int) (sum float64) {
		for c, v := range m.Mean[first*d : first*d+d] {
			sum += (m.Mean[j*d+c] - v) * (m.Mean[j*d+c] - v)
		}
		return sum
	}
	slices.SortFunc(group, func(a, b int) int { return cmp.Compare(from(a), from(b)) })
	group = group[:2+s.rng.IntN(r.k-1)]
	var of []int // the rows
	var z []float64
	for i, j := range s.parts.Part {
		if slices.Contains(group, j) {
			of, z = append(of, i), append(z, r.z[i*d:i*d+d]...)
		}
	}
	f := &Whitening{At: make([]float64, d), Root: make([]float64, d*d)}
	if !f.whiten(z, math.Inf(1)) {
		return false
	}
	if axes {
		s.axes(of, z, group)
	} else {
		s.shells(of, z, group)
	}
	return s.fit(m)
}

// axes puts every row into the group's part whose axis is nearest.
func (s *starter) axes(of []int, z []float64, group []int) {
	d, axes := s.r.d, []float64(nil)
	near := func(y []float64) (best int, most float64) {
		for j := range len(axes) / d {
			u := axes[j*d : j*d+d]
			if v := dense.Dot(u, y); v*v/dense.Dot(u, u) > most {
				best, most = j, v*v/dense.Dot(u, u)
			}
		}
		return best, most / dense.Dot(y, y)
	}
	for range group {
		least, at := math.Inf(1), 0
		for range axisTries {
			i := s.rng.IntN(len(of)) * d
			if _, v := near(z[i : i+d]); v < least {
				least, at = v, i
			}
		}
		axes = append(axes, z[at:at+d]...)
	}
	for range lloydSteps {
		next := make([]float64, len(axes))
		for i, row := range of {
			y := z[i*d : i*d+d]
			j, _ := near(y)
			s.parts.Part[row] = group[j]
			v := dense.Dot(axes[j*d:j*d+d], y)
			for c, x := range y {
				next[j*d+c] += v * x
			}
		}
		axes = next
	}
}

// shells puts every row into the group's part of its distance from the middle, between those of
// rows.
func (s *starter) shells(of []int, z []float64, group []int) {
	radii := norms(z, s.r.d)
	var ends []float64
	for range len(group) - 1 {
		ends = append(ends, radii[s.rng.IntN(len(radii))])
	}
	slices.Sort(ends)
	for i, row := range of {
		j, _ := slices.BinarySearch(ends, radii[i])
		s.parts.Part[row] = group[j]
	}
}

// fit makes m of the parts, each covariance shrunk to the pooled one with the weight of d+1 rows,
// and leaves that one in pooled.
func (s *starter) fit(m *Mixture) bool {
	r := s.r
	d, t := r.d, len(r.pooled)
	clear(r.count)
	clear(m.Mean)
	for i, j := range s.parts.Part {
		r.count[j]++
		for c, v := range r.z[i*d : i*d+d] {
			m.Mean[j*d+c] += v
		}
	}
	for j, v := range r.count {
		if v == 0 {
			return false
		}
		m.Weight[j] = v / float64(r.n)
		for c := range d {
			m.Mean[j*d+c] /= v
		}
	}
	clear(m.Root)
	clear(r.pooled)
	for i, j := range s.parts.Part {
		for c, v := range r.z[i*d : i*d+d] {
			r.y[c] = v - m.Mean[j*d+c]
		}
		AddSquare(m.Root[j*t:j*t+t], r.y, d, 1)
	}
	for i, v := range m.Root {
		r.pooled[i%t] += v / float64(r.n)
	}
	few := float64(d + 1)
	for i, v := range m.Root {
		m.Root[i] = (v + few*r.pooled[i%t]) / (r.count[i/t] + few)
	}
	return m.Refactor()
}

// search runs EM for some steps from every start, for more from the best few, and returns the best;
// nil if no start led to a mixture.
func (r *Run) search(starts int, rng *rand.Rand) *Mixture {
	if r.k == 1 {
		starts = 1
	}
	s, m := newStarter(r, rng), NewMixture(r.k, r.d)
	var best podium
	for start := range starts {
		axes, ok := start/regroupEvery%2 == 0, false
		// in one column there is one axis
		if start%regroupEvery < regroupEvery-1 || r.k == 1 || axes && r.d == 1 {
			ok = s.draw(m, metricRounds)
		} else {
			ok = s.draw(m, 1) && s.regroup(m, axes)
		}
		if ok {
			if v, ok := r.iterate(m, shortSteps, 0); ok {
				best.offer(m, v, sameGain*float64(r.n))
			}
		}
	}
	var out *Mixture
	top := math.Inf(-1)
	for _, c := range best {
		if v, ok := r.iterate(c.m, middleSteps, leastGain); ok && v > top {
			out, top = c.m, v
		}
	}
	return out
}

// Utility constants of the search.
const (
	shortSteps  = 6   // of EM from every start
	middleSteps = 25  // from the best ones
	longSteps   = 400 // from the very best
	finalists   = 3
	sameGain    = 1e-6 // nats per row by which the objectives of two different mixtures differ
	// nats, of all rows together, that a step must gain: far below what the likelihood owes to
	// chance
	leastGain = 1e-3
)

// A podium holds the best mixtures so far.
type podium []candidate

type candidate struct {
	m *Mixture
	v float64
}

// offer takes a copy of m if it is among the best and not there yet.
func (p *podium) offer(m *Mixture, v, same float64) {
	worst := 0
	for i, c := range *p {
		if math.Abs(c.v-v) < same {
			return
		}
		if c.v < (*p)[worst].v {
			worst = i
		}
	}
	if len(*p) < finalists {
		*p = append(*p, candidate{NewMixture(m.k, m.d), v})
		worst = len(*p) - 1
	} else if !(v > (*p)[worst].v) {
		return
	}
	(*p)[worst].m.copy(m)
	(*p)[worst].v = v
}
