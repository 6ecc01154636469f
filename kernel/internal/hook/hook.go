// Package hook lets tests and rehearsals see and steer what a session draws. Only packages below
// kernel can import it. Who makes one: kerneltest, whose constructors take a testing.TB, and
// rehearsal, for tables of rows that its caller has in plain sight, without touching their noise.
package hook

import "github.com/gauze-dp/gauze/kernel/internal/noise"

// A Hook changes a session. A session with a hook marks everything it releases as
// simulated.
type Hook struct {
	Source noise.Source // seeded randomness in place of the operating system's
	// NoiseFactor multiplies every sigma that is drawn, not the one that is claimed: 0 gives exact
	// answers, 1/2 plants a bug that an audit must find.
	NoiseFactor float64
	// Replay, if set, is called once for every measurement, and replaces its answer by a recorded
	// one.
	Replay func() (answer []float64, ok bool)
	// Record, if set, is shown every measurement: the query, its answer and the exact sums before
	// noise. The answer of a stability histogram is leaf, coordinate, count, length of the key and
	// key of every cell released, that of a histogram of gaps leaf, scale, place and mass of every
	// bucket; they have no exact sums.
	Record func(step string, query any, mu float64, answer []float64, exact []int64)
}

// New returns a hook that changes nothing.
func New() *Hook { return &Hook{NoiseFactor: 1} }
