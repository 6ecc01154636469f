// Package stage is what rehearsals, and the tests that plant a fault in one, have in common.
package stage

import (
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/hook"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Heard measurement: what was asked, for which mu, what was released, and the exact integers
// before the noise, nil where the answer is no vector of sums. A test of blocks and its mask are
// two.
type Heard struct {
	Step   string
	Query  any
	Mu     float64
	Values []float64
	Exact  []int64
}

// A Script is what a session over a rehearsed table is given, and what it leaves. It serves one
// session.
type Script struct {
	// Replayed says that Answers stand in the place of what is drawn, and Seed for the operating
	// system's randomness, so that two sessions cut the same blocks and draw the same pairs.
	Replayed bool
	Answers  []Heard
	Seed     uint64
	Room     core.Room // where the rows lie; nil for memory
	// Heard are the session's measurements, in order.
	Heard []Heard
	// Beyond: the session measured more often than there are Answers, or failed to find one.
	Beyond bool
}

// Table protects rows and rehearses them: factor multiplies the noise that is drawn, and is 1 but
// for a test's planted fault.
func Table(rows [][]float64, d int, r privacy.Relation, s *Script, factor float64) *core.Table {
	b := core.NewBuilderIn(d, s.Room)
	for _, row := range rows {
		b.Append(row)
	}
	h := hook.New()
	h.NoiseFactor = factor
	draws := &reseeded{noise.NewSeeded(s.Seed)}
	if s.Replayed {
		h.Source = draws
		h.Replay = func() ([]float64, bool) {
			i := len(s.Heard)
			if i >= len(s.Answers) {
				s.Beyond = true
				return nil, false
			}
			return slices.Clone(s.Answers[i].Values), true
		}
	}
	h.Record = func(step string, q any, mu float64, answer []float64, exact []int64) {
		s.Heard = append(s.Heard, Heard{step, q, mu, slices.Clone(answer), slices.Clone(exact)})
		draws.Source = noise.NewSeeded(s.Seed + uint64(len(s.Heard)))
	}
	return core.Hooked(b.Protect(r), h)
}

// reseeded starts anew after every measurement, so that one row more, for which a measurement draws
// more, does not change what the next ones draw for all others.
type reseeded struct{ noise.Source }
