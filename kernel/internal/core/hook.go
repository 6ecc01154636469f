package core

import "github.com/gauze-dp/gauze/kernel/internal/noise"

// TestHook lets tests, and the audit, observe and steer what a session draws. Only packages below
// kernel can make one. kerneltest does: for tests, and for the audit, whose caller knows the rows
// of the table and whose noise stays as it is. A session with a hook marks everything it releases
// as simulated.
type TestHook struct {
	Source noise.Source // seeded randomness in place of the operating system's
	// NoiseFactor multiplies every sigma that is drawn, but not the stated sigma: 0 gives exact
	// answers, 1/2 plants a bug that an audit must find.
	NoiseFactor float64
	// Replay, if set, is called once for every measurement and replaces its answer by a recorded
	// one.
	Replay func() (answer []float64, ok bool)
	// Record, if set, receives every measurement: the query, its answer and the exact sums before
	// noise. The answer of a stability histogram is leaf, coordinate, count, length of the key and
	// key of every cell released; that of a spacing histogram is leaf, scale, place and mass of
	// every bucket. Histograms have no exact sums.
	Record func(step string, query any, mu float64, answer []float64, exact []int64)
}

// NewTestHook returns a hook that changes nothing.
func NewTestHook() *TestHook { return &TestHook{NoiseFactor: 1} }
