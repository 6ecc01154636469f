package store

import (
	"math"
	"time"
)

// A Slot is the time that a fit has on a worker: when it runs, and when its outcome can be seen.
//
// How long a fit takes depends on its rows, and so does its outcome: nobody may see either before
// it was paid for. So a fit has a slot, whose length follows from public facts alone, and on whose
// worker nothing else runs until it ends. Until then an analyst sees "queued" before the slot and
// "running" in it, whatever has happened. The outcome shows at the end of its slot; if the fit
// takes longer, at the next end, which is twice as far; and a fit that is not over at the last end
// is stopped there, as failed.
//
// This hides everything but at which of its [Ends] a fit shows, and that is the first unless the
// length is far too small (docs/SERVER.md says what to do then, and what this cannot hide).
type Slot struct {
	Worker int
	Start  time.Time
	Length time.Duration
}

// Ends is the number of times that a slot can end: after the last the fit is stopped. A guess.
const Ends = 3

// End returns the slot's end, put off this many times: each time it is twice as far from the start.
func (s Slot) End(putOff int) time.Time { return s.Start.Add(s.Length << putOff) }

// Last returns when a fit that is not over is stopped.
func (s Slot) Last() time.Time { return s.End(Ends - 1) }

// keeping says that 1/keeping of a slot is reserved for storing the outcome before the slot's end.
// A guess.
const keeping = 20

// Shows returns when the end of a fit can be seen that was over at a time: the slot's first end
// that leaves room to store it, so that it shows on time. After the last end it is at once.
func (s Slot) Shows(over time.Time) time.Time {
	for putOff := range Ends {
		if end := s.End(putOff); !over.Add(s.Length / keeping).After(end) {
			return end
		}
	}
	return maxTime(over, s.Last())
}

// Keep returns when an outcome is stored that shows at a time. It is not when the fit is over,
// since others could see by the duration of their requests that something is written.
func (s Slot) Keep(shows time.Time) time.Time { return shows.Add(-s.Length / keeping) }

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Seen returns what can be seen of a fit's state. state is the actual one, and shows when it can be
// seen, zero if the fit is not over.
func (s Slot) Seen(now time.Time, state string, shows time.Time) string {
	switch {
	case !shows.IsZero() && !now.Before(shows):
		return state
	case now.Before(s.Start):
		return Queued
	}
	return Running
}

// Place returns the slot of a fit of some length: on the worker that is free first, going by the
// slots of those that wait or run.
func Place(now time.Time, taken []Slot, workers int, length time.Duration) Slot {
	free := make([]time.Time, workers)
	for i := range free {
		free[i] = now
	}
	for _, t := range taken {
		if i := t.Worker % workers; t.End(0).After(free[i]) {
			free[i] = t.End(0)
		}
	}
	best := 0
	for i := range free {
		if free[i].Before(free[best]) {
			best = i
		}
	}
	return Slot{Worker: best, Start: free[best], Length: length}
}

// Facts determine the length of a slot: all of them public.
type Facts struct {
	Capacity int // rows
	Columns  int
	Groups   int // with a model each, 0 for none
	Slow     int // how many times as slow as others the method is, at least 1
	// Components is the requested number, 0 for few: the time grows with its square.
	Components int
}

// Rate determines the length of slots.
type Rate struct {
	Least   time.Duration // of any slot
	PerCell time.Duration // for each number of the table, and each pair of columns of a row
}

// most is the longest slot, so that no time overflows. A guess: nobody waits that long.
const most = 365 * 24 * time.Hour

// Length returns the length of a fit's slot, rounded up to one of few lengths, a factor of sqrt(2)
// apart.
func (r Rate) Length(f Facts) time.Duration {
	d := float64(f.Columns)
	cells := float64(f.Capacity) * (d + d*d/columnsPerPair)
	t := float64(r.PerCell) * cells * float64(max(1, f.Groups)) * float64(max(1, f.Slow))
	t += float64(r.Least) * math.Pow(float64(f.Components)/componentsPerLeast, 2)
	steps := math.Ceil(2 * math.Log2(1+t/float64(r.Least)))
	return time.Duration(math.Min(float64(most), float64(r.Least)*math.Pow(2, steps/2))).Round(time.Millisecond)
}

// columnsPerPair is the number of columns per row at which pairs of columns cost as much as
// columns. componentsPerLeast is the number of components that take as long as the least slot, with
// room: 50 took 20 s of one processor on 20,000 rows. Guesses.
const (
	columnsPerPair     = 4
	componentsPerLeast = 10
)
