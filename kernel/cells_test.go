package kernel

import (
	"context"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestSingletonCells: a cell of as many rows as one person can change passes the threshold with
// probability at most the slack s, and nearly that; a threshold for twice the slack would be seen.
// False-alarm rate 8e-9.
func TestSingletonCells(t *testing.T) {
	h := core.NewTestHook()
	h.Source = noise.NewSeeded(stattest.Seed(t))
	p := core.Plan{Method: "cells", Steps: []core.Step{{Name: "keys", Query: "stability histogram", Share: 1, Most: 1, Slack: 1}}}
	s, err := core.Open(context.Background(), core.Hooked(core.NewBuilder(1).Protect(privacy.ReplaceOne), h), p, core.Terms{Relation: privacy.ReplaceOne,
		Budget: privacy.Budget{Epsilon: 1, Delta: .5}})
	if err != nil {
		t.Fatal(err)
	}
	var draw *core.Draw
	if err := core.Secretly(s.SubBudget(), func(d *core.Draw) error { draw = d; return nil }); err != nil {
		t.Fatal(err)
	}
	const runs = 10_000
	for _, rows := range []int64{1, 70} {
		few := []map[query.Box]int64{{{7}: rows}}
		for _, sigma := range []float64{1e2, 1e6} {
			slack := .05
			released := 0
			for range runs {
				released += len(NoisyHistogram(query.BoxKeys{Grids: []query.Grid{oneCoordinate}}, few, privacy.Threshold(float64(rows), sigma, math.Log(slack)), func() int64 { return draw.Gaussian(sigma) }))
			}
			stattest.GoodAtMost(t, released, runs, slack, stattest.FalseAlarm)
			stattest.GoodAtLeast(t, released, runs, slack*.9, stattest.FalseAlarm)
			stattest.BadAtMost(t, released, runs, slack/2, stattest.FalseAlarm)
		}
	}
}

var oneCoordinate = query.Grid{Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{1}, Offset: []float64{0}}
