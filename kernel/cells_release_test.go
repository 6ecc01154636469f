package kernel_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// cellsOf releases cells of the rows without noise, and says what was recorded.
func cellsOf(t *testing.T, q query.BoxKeys, r privacy.Relation, rows [][]float64) ([]kernel.HistogramCell, kernel.Measurement) {
	p := kernel.Plan{Method: "cells", Steps: []kernel.Step{{Name: "cells", Query: q.Kind(), Share: 1, Most: 1, Slack: 1}}}
	s := kerneltest.Open(t, kerneltest.Table(rows, 2, r), p, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-3}}, kerneltest.Options{Exact: true})
	cells, sigma, err := kernel.StabilityHistogram(s.SubBudget(), "cells", q, .8*s.Mu())
	if err != nil {
		t.Fatal(err)
	}
	m := s.Measurements()[0]
	if m.Noise != sigma || m.Query != q.Kind() || m.Sensitivity/sigma > m.Mu*(1+1e-15) {
		t.Errorf("recorded %+v, sigma %v", m, sigma)
	}
	return cells, m
}

// TestCellThreshold: without noise a cell is released from count T on, T = 2 + sigma PhiInv(1 -
// s/J) up to rounding, with s = delta/(1 + e^epsilon) and sigma = sqrt(2J)/mu or sqrt J/mu,
// whatever the number of leaves; a J that is taken for another would be off by more.
func TestCellThreshold(t *testing.T) {
	grid := query.Grid{Map: frame(2), Side: []float64{1, 1}, Offset: []float64{0, 0}}
	for _, joint := range []bool{true, false} {
		for _, q := range []query.BoxKeys{{Grids: []query.Grid{grid}, Joint: joint}, {Partition: halves(), Grids: []query.Grid{grid, grid}, Joint: joint}} {
			for r, factor := range map[privacy.Relation]float64{privacy.ReplaceOne: 2, privacy.AddRemoveOne: 1} {
				j := 2.
				if joint {
					j = 1
				}
				var least int
				var m kernel.Measurement
				for low, high := 0, 1000; low < high; { // the least count that is released
					rows := make([][]float64, (low+high)/2)
					for i := range rows {
						rows[i] = []float64{2.5, -3.5}
					}
					var cells []kernel.HistogramCell
					if cells, m = cellsOf(t, q, r, rows); len(cells) > 0 {
						high = len(rows)
					} else {
						low = len(rows) + 1
					}
					least = high
				}
				s := m.Delta / (1 + math.Exp(2))
				if want := 2 + m.Noise*math.Sqrt2*math.Erfcinv(2*s/j); float64(least) < want || float64(least) > want+1.001 {
					t.Errorf("joint %v, %d leaves, %v: released from %d on, want %v", joint, len(q.Grids), r, least, want)
				}
				if want := math.Sqrt(factor * j); math.Abs(m.Sensitivity-want) > 1e-12 || m.Delta > .05*1e-3 || m.Delta < .0499*1e-3 {
					t.Errorf("joint %v, %v: recorded %+v, want sensitivity %v", joint, r, m, want)
				}
			}
		}
	}
}

// TestCellNames: what is released says leaf, coordinate and key, in this order, and counts the rows
// of the leaf alone.
func TestCellNames(t *testing.T) {
	const n = 500
	var rows [][]float64
	for i := range 4 * n {
		rows = append(rows, [][]float64{{-2.5, .5}, {-2.5, 7}, {2.5, 7}, {50, 7}}[i%4])
	}
	q := query.BoxKeys{Partition: halves(), Grids: []query.Grid{{Map: frame(2), Side: []float64{1, 1}, Offset: []float64{0, 0}},
		{Map: frame(2), Side: []float64{1, 2}, Offset: []float64{.25, 0}}}}
	for joint, want := range map[bool][]kernel.HistogramCell{
		false: {cell(0, 0, 2*n, -3), cell(0, 1, n, 0), cell(0, 1, n, 7), cell(1, 0, n, 2), cell(1, 1, n, 3)},
		true:  {cell(0, -1, n, -3, 0), cell(0, -1, n, -3, 7), cell(1, -1, n, 2, 3)},
	} {
		q.Joint = joint
		if cells, _ := cellsOf(t, q, privacy.ReplaceOne, rows); !reflect.DeepEqual(cells, want) {
			t.Errorf("joint %v: got %v, want %v", joint, cells, want)
		}
	}
}

func cell(leaf, coordinate int, count float64, key ...float64) kernel.HistogramCell {
	return kernel.HistogramCell{Leaf: leaf, Coordinate: coordinate, Key: key, Count: count}
}
