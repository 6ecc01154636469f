package query_test

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/kernel/query"
)

// twin is the dumb second implementation of what a query makes of a row.
func twin(q query.Sum, row []float64) contribution {
	switch q := q.(type) {
	case query.Directions:
		return twinOfDirections(q, row)
	case query.ClippedMoments:
		return twinOfClippedMoments(q, row)
	case query.LogRatio:
		return twinOfLogRatio(q, row)
	case query.Count:
		return twinOfCount(q, row)
	case query.Counts:
		return twinOfCounts(q, row)
	case query.GridCounts:
		return twinOfCellCounts(q, row)
	case query.Parts:
		return twinOfParts(q, row)
	}
	panic("no twin")
}

// A sumCase is one query of every kind, shape and extreme that the tests of this package go
// through.
type sumCase struct {
	name string
	q    query.Sum
	// replace and remove are the part of the stated sensitivity that a search must reach under
	// either relation; 0 where the frame makes the bound unreachable. Replace-one is not tight for
	// the linear forms: .84 (diagonal: z = e_1 against (-1/4, .97)) and .94 (spherical: antipodal),
	// because <u, u'> = 0 cannot be had at full length.
	replace, remove float64
}

const dims = 3

func identity(d int, scale float64) query.Affine {
	a := query.Affine{Center: make([]float64, d)}
	for i := range d {
		w := make([]float64, d)
		w[i] = scale
		a.W = append(a.W, w)
	}
	return a
}

func dense(rng *rand.Rand, d, out int, scale float64) query.Affine {
	a := query.Affine{}
	for range d {
		a.Center = append(a.Center, rng.NormFloat64())
	}
	for range out {
		w := make([]float64, d)
		for j := range w {
			w[j] = rng.NormFloat64() * scale
		}
		a.W = append(a.W, w)
	}
	return a
}

func frames() map[string]query.Affine {
	rng := rand.New(rand.NewPCG(11, 7))
	upper, lower, holes := dense(rng, dims, dims, 1), dense(rng, dims, dims, 1), dense(rng, dims, dims+1, 1)
	for i := range dims {
		for j := range i {
			upper.W[i][j] = 0
			lower.W[j][i] = 0
		}
	}
	clear(holes.W[1])
	nothing := identity(dims, 0) // a null row's image would be finite
	return map[string]query.Affine{
		"identity": identity(dims, 1), "dense": dense(rng, dims, dims, 1), "upper": upper, "lower": lower, "zero row": holes, "nothing": nothing,
		"tall": dense(rng, dims, 9, 1), "flat": dense(rng, dims, 1, 1), "huge": dense(rng, dims, dims, 1e200),
		"overflowing": dense(rng, dims, dims, math.MaxFloat64/8), "tiny": dense(rng, dims, 2, 1e-200), "denormal": identity(dims, 5e-324),
		"all columns": {Columns: []int{0, 1, 2}, Center: []float64{1, 1e308, -1e308}, W: [][]float64{{1, 2, 0}, {0, 1, 1}, {0, 0, 1}}},
		"columns":     {Columns: []int{2, 0, 2, 2}, Center: []float64{0, 1, -1e308, 1e-3}, W: [][]float64{{1, 2, 0, 0}, {0, 0, 1, 1}}},
	}
}

func sumCases() []sumCase {
	rng := rand.New(rand.NewPCG(3, 4))
	id := identity(dims, 1)
	moments := func(f query.Form, lift float64, c ...query.Component) query.ClippedMoments {
		return query.ClippedMoments{Components: c, Form: f, Lift: lift}
	}
	unit := query.Component{Map: id, Radius: 1}
	ratio := func(bound float64, f ...query.Component) query.LogRatio {
		return query.LogRatio{F: f, G: []query.Component{{Map: identity(dims, .5), LogWeight: -1}}, Bound: bound}
	}
	nan := math.NaN()
	cut := func(c query.Component) query.Component { c.Truncate = true; return c }
	wide := query.Component{Map: dense(rng, dims, 2, .3), Radius: 3, LogWeight: 1}
	cases := []sumCase{
		{"count", query.Count{}, 1, 1},
		{"tails", query.Counts{Map: id, As: query.Above, Edges: [][]float64{{0, 1, 4, 1e300, 3}}}, 1, 1},
		{"columns", query.Counts{Edges: query.Each([]float64{0, 1, nan}), As: query.Above}, 1, 1},
		// nothing is <= -Inf
		{"columns signed", query.Counts{Edges: query.Each([]float64{0, math.Inf(-1), 1e300}), As: query.Balance}, .8, 1},
		{"columns signed finite", query.Counts{Edges: query.Each([]float64{0, -1, 1}), As: query.Balance}, 1, 1},
		{"columns centred", query.Counts{Center: []float64{0, 1e308, -3}, Edges: query.Each([]float64{0, 1, 2}), As: query.Balance, SkipZero: true}, .7, 1},
		{"columns signed not zero", query.Counts{Edges: query.Each([]float64{-1, 0, nan}), As: query.Balance, SkipZero: true}, 1, 1},
		{"columns not zero", query.Counts{Edges: query.Each([]float64{-1, 1, nan}), As: query.Above, SkipZero: true}, 1, 1},
		{"columns none", query.Counts{Edges: query.Each([]float64{nan, nan, nan}), As: query.Above}, 0, 0},
		{"bins", query.Counts{Edges: [][]float64{{-1, 0, 0, 1}, nil, {5e-324, 1e308}}}, 1, 1},
		{"cells", query.GridCounts{Map: id, HalfWidth: []float64{1, 2, 3}, Level: 2}, 1, 1},
		{"cells wide", query.GridCounts{Map: id, HalfWidth: []float64{math.MaxFloat64, 5e-324, 1e308}, Level: 1}, 1, 1},
		{"cells parents", query.GridCounts{Map: id, HalfWidth: []float64{2, 2, 2}, Level: 3, Parents: []uint64{42, 21, 42, 0, 27, 1 << 40}}, 1, 1},
		{"full lift 1", moments(query.FullForm, 1, unit), .95, .95},
		{"full lift .5", moments(query.FullForm, .5, unit), .95, .95},
		{"full lift tiny", moments(query.FullForm, 1e-9, unit), .95, .95},
		{"full soft", moments(query.FullForm, .7, unit, query.Component{Map: dense(rng, dims, 2, .3), Radius: 3, LogWeight: 1}), .9, .95},
		{"full soft gate", moments(query.FullForm, .7, query.Component{Map: id, Radius: 1, GateOnly: true, LogWeight: -2}, unit,
			query.Component{Map: dense(rng, dims, dims, 1), Radius: 2}, query.Component{Map: id, Radius: 9, GateOnly: true, LogWeight: -40}), 0, .5},
		{"full equal twins", moments(query.FullForm, 1, unit, unit, unit, unit, unit), 0, 0},
		{"full no weight", moments(query.FullForm, 1, query.Component{Map: id, Radius: 1, LogWeight: math.Inf(-1)}, unit), .95, .95},
		{"full radius huge", moments(query.FullForm, 1, query.Component{Map: id, Radius: 1e300}), .35, .49},
		{"full radius tiny", moments(query.FullForm, 1, query.Component{Map: id, Radius: 1e-300}), 0, 0},
		{"full radius denormal", moments(query.FullForm, 1, query.Component{Map: id, Radius: 5e-324}), 0, 0},
		{"full two radii tiny", moments(query.FullForm, 1, query.Component{Map: id, Radius: 1e-310}, unit), 0, 0},
		{"full two radii denormal", moments(query.FullForm, 1, query.Component{Map: id, Radius: 5e-324}, unit), 0, 0},
		{"diagonal", moments(query.DiagonalForm, 0, unit), .82, .95},
		{"diagonal soft", moments(query.DiagonalForm, 0, unit, query.Component{Map: dense(rng, dims, 2, .3), Radius: 3, GateOnly: true}), 0, .5},
		{"diagonal radius tiny", moments(query.DiagonalForm, 0, query.Component{Map: id, Radius: 1e-300}), 0, 0},
		{"diagonal radius denormal", moments(query.DiagonalForm, 0, query.Component{Map: id, Radius: 5e-324}), 0, 0},
		{"diagonal radius huge", moments(query.DiagonalForm, 0, query.Component{Map: id, Radius: 1e300}), 0, .5},
		{"spherical", moments(query.SphericalForm, 0, unit), .93, .95},
		{"spherical soft", moments(query.SphericalForm, 0, unit, query.Component{Map: dense(rng, dims, 2, .3), Radius: 3}), .5, .9},
		{"spherical radius tiny", moments(query.SphericalForm, 0, query.Component{Map: id, Radius: 1e-300}), 0, 0},
		{"full truncated", moments(query.FullForm, 1, cut(unit)), .95, .95},
		{"full truncated soft", moments(query.FullForm, .7, cut(unit), wide, cut(wide)), .4, .4},
		{"full truncated radius tiny", moments(query.FullForm, 1, cut(query.Component{Map: id, Radius: 1e-300})), 0, 0},
		{"full truncated radius huge", moments(query.FullForm, 1, cut(query.Component{Map: id, Radius: 1e300})), .35, .49},
		{"diagonal truncated", moments(query.DiagonalForm, 0, cut(unit)), .81, .95},
		{"diagonal truncated soft", moments(query.DiagonalForm, 0, cut(wide), cut(unit)), .4, .5},
		{"spherical truncated", moments(query.SphericalForm, 0, cut(unit)), .93, .95},
		{"spherical truncated soft", moments(query.SphericalForm, 0, unit, cut(wide)), .45, .5},
		{"completed lift 1", moments(query.CompletedForm, 1, unit), .95, .9995},
		{"completed lift .1", moments(query.CompletedForm, .1, unit), .95, .9995},
		{"completed lift tiny", moments(query.CompletedForm, 1e-9, unit), .95, .9995},
		{"completed lift denormal", moments(query.CompletedForm, 5e-324, unit), .95, .9995},
		{"completed no weight", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 1, LogWeight: math.Inf(-1)}), .95, .9995},
		{"completed radius large", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 1e150}), .35, .9995},
		{"completed radius huge", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 1e300}), 0, 0},
		{"completed radius tiny", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 1e-300}), 0, 0},
		{"completed radius denormal", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 5e-324}), 0, 0},
		{"marginal", moments(query.ColumnForm, .4, unit), .9, .95},
		{"marginal lift 1", moments(query.ColumnForm, 1, unit), .9, .95},
		{"marginal lift tiny", moments(query.ColumnForm, 1e-9, unit), .9, .95},
		{"marginal wide", moments(query.ColumnForm, .4, query.Component{Map: id, Radius: 4}), .5, .95},
		{"marginal radius large", moments(query.ColumnForm, .4, query.Component{Map: id, Radius: 1e75}), 0, .49},
		{"marginal radius huge", moments(query.ColumnForm, .4, query.Component{Map: id, Radius: 1e300}), 0, .49},
		{"marginal radius tiny", moments(query.ColumnForm, .4, query.Component{Map: id, Radius: 1e-300}), 0, 0},
		{"marginal radius denormal", moments(query.ColumnForm, .4, query.Component{Map: id, Radius: 5e-324}), 0, 0},
		{"completed soft", moments(query.CompletedForm, .7, unit, query.Component{Map: dense(rng, dims, 2, .3), Radius: 3, LogWeight: 1}), .9, .9995},
		{"completed soft gate", moments(query.CompletedForm, .3, query.Component{Map: id, Radius: 1, GateOnly: true, LogWeight: -2}, unit,
			query.Component{Map: dense(rng, dims, dims, 1), Radius: 2}, query.Component{Map: id, Radius: 9, GateOnly: true, LogWeight: -40}), 0, .9},
		{"completed equal twins", moments(query.CompletedForm, 1, unit, unit, unit, unit, unit), 0, 0},
		{"completed two radii tiny", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 1e-310}, unit), 0, 0},
		{"completed two radii huge", moments(query.CompletedForm, 1, query.Component{Map: id, Radius: 1e300}, unit), 0, 0},
		{"completed truncated", moments(query.CompletedForm, 1, cut(unit)), .9, .9995},
		{"completed truncated soft", moments(query.CompletedForm, .7, cut(unit), wide, cut(wide)), .3, .3},
		{"log ratio", ratio(.5, unit), 1, 1},
		// F never loses by much
		{"log ratio soft", ratio(3, query.Component{Map: dense(rng, dims, 2, .3), LogWeight: 1}, unit, query.Component{Map: id, LogWeight: -1e3}), .5, 1},
		{"log ratio of equals", query.LogRatio{F: []query.Component{unit, unit}, G: []query.Component{unit, unit}, Bound: 1}, 0, 0},
		{"log ratio bound denormal", ratio(5e-324, unit), 1, 1},
		{"log ratio bound tiny", ratio(1e-300, unit), 1, 1},
		// beyond it lie only rows too far for one side
		{"log ratio bound huge", ratio(math.MaxFloat64, unit), .4, .9},
		{"log ratio weights huge", query.LogRatio{F: []query.Component{{Map: id, LogWeight: -math.MaxFloat64}, {Map: id, LogWeight: -1e308}},
			G: []query.Component{{Map: id, LogWeight: math.MaxFloat64}}, Bound: 1}, 0, 1},
		{"directions", query.Directions{Map: id, Lift: 1}, .95, .95},
		{"directions lift huge", query.Directions{Map: id, Lift: 1e300}, .95, .95},
		{"directions lift denormal", query.Directions{Map: id, Lift: 5e-324}, .95, .95},
	}
	for name, f := range frames() {
		cases = append(cases,
			sumCase{"directions " + name, query.Directions{Map: f, Lift: .5}, 0, .95},
			sumCase{"tails " + name, query.Counts{Map: f, As: query.Above, Edges: [][]float64{{1e-9, 1, 1e300}}}, 0, 0},
			sumCase{"full " + name, moments(query.FullForm, .5, query.Component{Map: f, Radius: 2}), 0, 0},
			sumCase{"diagonal " + name, moments(query.DiagonalForm, 0, query.Component{Map: f, Radius: 2}), 0, 0},
			sumCase{"spherical " + name, moments(query.SphericalForm, 0, query.Component{Map: f, Radius: 2}), 0, 0},
			sumCase{"completed " + name, moments(query.CompletedForm, .5, query.Component{Map: f, Radius: 2}), 0, 0},
			sumCase{"marginal " + name, moments(query.ColumnForm, .5, query.Component{Map: f, Radius: 2}), 0, 0},
			sumCase{"log ratio " + name, ratio(.5, query.Component{Map: f}), 0, 0},
			sumCase{"full two frames " + name, moments(query.FullForm, .5, query.Component{Map: f, Radius: 2}, unit), 0, .3})
	}
	return append(append(cases, distanceCases()...), partsCases()...)
}

var extremes = []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, .5, 1e308, -1e308, math.MaxFloat64, -math.MaxFloat64, 0x1p1000, -0x1p1000,
	0x1p-1000, -0x1p-1000, 5e-324, -5e-324, math.NaN(), math.Inf(1), math.Inf(-1), 1e154, 1e-154}

// poolRows holds the rows that the searches pair up: random at many scales, axes, antipodes, a
// circle, ties, and extremes.
func poolRows(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(5, 6))
	add := func(pool [][]float64, row ...float64) [][]float64 { return append(pool, nullIfBad(row)) }
	var pool [][]float64
	for _, s := range []float64{1, 1.5, 1e-3, 1e3, 1e150, 1e300} {
		for i := range dims {
			row := make([]float64, dims)
			row[i] = s
			pool = add(pool, row...)
			row[i] = -s
			pool = add(pool, row...)
		}
		for range n {
			row := make([]float64, dims)
			for j := range row {
				row[j] = rng.NormFloat64() * s
			}
			pool = add(pool, row...)
		}
	}
	for a := range 24 {
		sin, cos := math.Sincos(float64(a) * math.Pi / 12)
		pool = add(pool, 1e3*cos, 1e3*sin, 0)
	}
	for _, v := range extremes {
		pool = add(pool, v, v, v)
		row := []float64{0, 1, -3}
		row[rng.IntN(dims)] = v
		pool = add(pool, row...)
		pool = add(pool, extremes[rng.IntN(len(extremes))], v, extremes[rng.IntN(len(extremes))])
	}
	return pool
}

// nullIfBad does what a table does on the way in. It copies.
func nullIfBad(row []float64) []float64 {
	row = append([]float64(nil), row...)
	if isNull(row) {
		for j := range row {
			row[j] = math.NaN()
		}
	}
	return row
}

func flatten(rows [][]float64) (flat []float64) {
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return flat
}

// sumOf runs the row map over the rows in one batch.
func sumOf(q query.Sum, rows ...[]float64) []int64 {
	sum := make([]int64, q.Size())
	q.Compile(dims).Add(sum, flatten(rows))
	return sum
}
