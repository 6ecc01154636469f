package kerneltest

import (
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Heard is one recorded measurement: the query, its mu, the released answer, and the exact integers
// before the noise, nil where the answer is no vector of sums. A test of blocks and its mask are
// two measurements.
type Heard struct {
	Step   string
	Query  any
	Mu     float64
	Values []float64
	Exact  []int64
}

// Script holds the input of a session over an observed table, and its record. It serves one
// session.
type Script struct {
	// Replayed says that Answers replace the drawn answers, and Seed the operating system's
	// randomness, so that two sessions cut the same blocks and draw the same pairs.
	Replayed bool
	Answers  []Heard
	Seed     uint64
	Codes    int         // the last so many of the d columns are codes of categories
	Texts    [][]string  // .. that stand for these texts, which the fit is to find; nil for codes that are declared
	Room     kernel.Room // stores the rows; nil for memory
	// Heard are the session's measurements, in order.
	Heard []Heard
	// Beyond says that the session made more measurements than there are Answers, or failed to find
	// one.
	Beyond bool
}

// Observed protects rows of d columns, under the relation of the one session that s is for. Fits
// over them run as over any other table, with the noise of the operating system, and s records, for
// each measurement, the query, the released answer, and the sums before the noise. Or recorded
// answers replace the drawn ones, which shows whether a fit decides anything by more than its
// answers. What such a fit releases is marked as simulated.
//
// It is the only function here that controls a session without a testing.TB: the audit calls it, in
// a program of its own, and nothing else may import this package outside of tests
// (internal/archtest). It weakens no promise: its caller has the rows and could add them up without
// it. A table that a Builder has protected, and so one that was read from a source, cannot be
// observed, and nothing here changes how much noise is drawn.
func Observed(rows [][]float64, d int, r privacy.Relation, s *Script) *kernel.Table {
	return observed(rows, d, r, s, 1)
}

// Faulty does what [Observed] does with a planted fault: the noise that is drawn, but not the noise
// that is stated, is multiplied by factor.
func Faulty(tb testing.TB, rows [][]float64, d int, r privacy.Relation, s *Script, factor float64) *kernel.Table {
	tb.Helper()
	forTests()
	return observed(rows, d, r, s, factor)
}

// observed protects rows and gives them the hook of a script.
func observed(rows [][]float64, d int, r privacy.Relation, s *Script, factor float64) *core.Table {
	b := core.NewMixedBuilder(d-s.Codes, s.Codes, s.Room)
	for _, row := range rows {
		b.Append(row)
	}
	if s.Texts != nil {
		b.NameCodes(s.Texts)
	}
	h := core.NewTestHook()
	h.NoiseFactor = factor
	// Each measurement draws from a seed of its own. So a row more, for which a measurement draws
	// more, does not change the draws of the next measurements for all other rows.
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
