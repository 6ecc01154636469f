package audit

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A pair is two tables that differ in one row, their last.
type pair struct {
	name   string
	tables [2][][]float64
}

// neighbours returns pairs of tables, each of which some query distinguishes as well as any pair.
// They have n-1 common rows of d columns; the last row is in one place, in another, or absent.
//
// Clipped rows are far from the others, or near them on either side, so that the largest norm is
// reached, or a leaf or a sign flips; missing and huge cells test the limits of arithmetic; and
// among rows that are all equal, a different one is alone in its cell.
func neighbours(r privacy.Relation, n, d int) (all []pair) {
	cloud, clusters, equal := draw(n-1, d, 1), draw(n-1, d, 2), make([][]float64, n-1)
	for i := range equal {
		equal[i] = filled(d, 7)
	}
	nan := math.NaN()
	type differs struct {
		name string
		base [][]float64
		x, y float64
	}
	// a row at one of two places shows the most that a replacement can do; against no row, or a
	// null one, only x matters
	for _, c := range []differs{
		{"a far row, or a null row", cloud, 1e6, nan},
		{"two far rows, on either side", cloud, 1e6, -1e6},
		{"two rows at two standard deviations", cloud, 2, -2},
		{"a far row, or one of the middle", cloud, 1e6, 0},
		{"a row of 1e308, or a null row", cloud, 1e308, nan},
		{"a row of the middle, or a null row", cloud, .5, nan},
		{"two far rows beside two clusters", clusters, 1e6, -1e6},
		{"a far row beside two clusters, or a null row", clusters, 1e6, nan},
		{"a row in one of two clusters, or the other", clusters, 0, 8},
		{"rows all equal but one", equal, 8, 7},
		{"rows all equal but a far one", equal, -1e6, nan},
	} {
		p := pair{name: c.name, tables: [2][][]float64{with(c.base, d, c.x), with(c.base, d, c.y)}}
		if r == privacy.AddRemoveOne {
			if !math.IsNaN(c.y) {
				continue
			}
			p.tables[1] = c.base
		}
		all = append(all, p)
	}
	return all
}

// coded adds c columns of codes to tables: all rows but the last have one of two values by turns,
// and the last has the one value in one table, and the other in its neighbour: all that a row can
// change of counts of categories.
func coded(all []pair, c int) []pair {
	if c == 0 {
		return all
	}
	for i := range all {
		n := len(all[i].tables[0])
		for side, rows := range all[i].tables {
			with := make([][]float64, len(rows))
			for at, row := range rows {
				value := float64(at % 2)
				if at == n-1 {
					value = float64(side)
				}
				with[at] = append(slices.Clip(row), filled(c, value)...)
			}
			all[i].tables[side] = with
		}
	}
	return all
}

// clusterGap is the distance between clusters, in standard deviations.
const clusterGap = 8

// draw returns n rows of standard Gaussians in k clusters, always the same: they are public.
func draw(n, d, k int) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = clusterGap*float64(i%k) + rng.NormFloat64()
		}
	}
	return rows
}

func filled(d int, v float64) []float64 {
	row := make([]float64, d)
	for j := range row {
		row[j] = v
	}
	return row
}

func with(rows [][]float64, d int, v float64) [][]float64 {
	return append(slices.Clip(rows), filled(d, v))
}
