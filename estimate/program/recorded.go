package program

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants of the search for units, guesses.
const (
	// of mu^2: as much as it takes for seenAtom of the rows to be clear, within these
	leastRecorded, mostRecorded = .005, .015
	seenAtom                    = .2
	recordedReach               = 8 // scales on both sides of the centre
	recordedPoints              = 1024
	// A value is an atom if so large a part of the rows has it, and so many sds of the noise.
	leastAtom, atomSDs = .05, 5.0
)

const stepRecorded = "recorded units"

// RecordedStep is the step of Recorded.
func RecordedStep(prefix string) kernel.Step {
	return kernel.Step{Name: prefix + stepRecorded, Query: query.Histogram, Share: mostRecorded, Most: 1}
}

// Recorded looks whether columns without a declared unit are recorded in one, once units are known:
// one histogram, with bins of their own for the numbers that people write down near the columns'
// centres. What it finds counts from here on as if it had been declared. Centres, scales and counts
// are released values and the rest is post-processing, so it costs the histogram and nothing else.
func (r *Run) Recorded(prefix string, a *kernel.SubBudget, rows float64) error {
	q := query.Counts{Edges: make([][]float64, r.All)}
	points := make([][]float64, r.All)
	for i, j := range r.Space.Columns {
		if r.Grids[j] == (fit1d.Grid{}) {
			reach := recordedReach * r.Space.Scale[i]
			points[j] = fit1d.RoundNumbers(r.Space.Center[i]-reach, r.Space.Center[i]+reach, min(recordedPoints, query.MaxCells/(2*r.All+2)))
			q.Edges[j] = fit1d.PointEdges(points[j])
		}
	}
	part := math.Max(leastRecorded, square(atomSDs*q.Sensitivity(r.Problem.Relation)/(seenAtom*rows))/r.Mu2)
	if q.Size() == 0 || part > mostRecorded {
		return nil
	}
	answer, err := a.Sum(prefix+stepRecorded, q, r.Mu(part))
	if err != nil {
		return err
	}
	before := slices.Clone(r.Grids)
	counts := answer.Values
	r.Atoms = make([][]Atom, r.All)
	for j, edges := range q.Edges {
		if len(edges) == 0 {
			continue
		}
		last := len(edges)
		of, inside := fit1d.PointCounts(points[j], edges, counts[:last+1]), rows-math.Max(0, counts[0]+counts[last])
		if l, ok := fit1d.InferGrid(points[j], of, answer.Sigma, inside, math.Sqrt2*answer.Sigma); ok && !fit1d.FewValues(of, inside) {
			r.Grids[j] = l
		}
		for i, n := range of {
			if n > math.Max(leastAtom*rows, atomSDs*answer.Sigma) {
				r.Atoms[j] = append(r.Atoms[j], Atom{Value: points[j][i], Share: math.Min(1, n/rows), Noise: answer.Sigma / rows})
			}
		}
		counts = counts[last+1:]
	}
	r.noteGrids(before)
	return nil
}

// noteLattices flags what was inferred since.
func (r *Run) noteGrids(before []fit1d.Grid) {
	columns := map[fit1d.Grid][]int{}
	for j, l := range r.Grids {
		if l != before[j] {
			columns[l] = append(columns[l], j)
		}
	}
	for j, l := range r.Grids {
		if of := columns[l]; len(of) > 0 && of[0] == j {
			r.RecordedIn(l, of...)
		}
	}
}

// RecordedIn notes that columns look recorded so, though no unit is declared.
func (c *Columns) RecordedIn(l fit1d.Grid, columns ...int) {
	noun := "column"
	if len(columns) > 1 {
		noun = "columns"
	}
	for _, j := range columns {
		c.Notes.Units = append(c.Notes.Units, estimate.Unit{Column: j, Unit: l.Unit, Offset: l.Offset})
	}
	c.Notes.Flag(flags.New(flags.RecordedUnit, noun+" %v: %s", flags.Ref(columns), l.Words()).In(columns...))
}
