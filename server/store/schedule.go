package store

import (
	"math"
	"time"
)

// A Slot is the time that a fit has on a worker: when it runs, and when what it ended in can be
// seen.
//
// How long a fit takes depends on its rows, and so does what it ends in: neither is anybody's to
// see before it was paid for. So a fit has a slot, whose length follows from public facts alone,
// and on whose worker nothing else runs until it ends. Until then an analyst sees "queued" before
// the slot and "running" in it, whatever has happened. What a fit ends in shows at the end of its
// slot; of one that takes longer, at the next end, which is twice as far; and one that is not over
// at the last is ended there, as failed.
//
// What this hides: everything but which of its [Ends] a fit shows at, and that is the first unless
// the length is far too small (docs/SERVER.md says what to do then). What it cannot hide is in
// docs/SERVER.md too.
type Slot struct {
	Worker int
	Start  time.Time
	Length time.Duration
}

// Ends is how often a slot's end can be put off before the fit is ended. A guess.
const Ends = 3

// End is the slot's end, put off so many times: each time it is twice as far from the start.
func (s Slot) End(putOff int) time.Time { return s.Start.Add(s.Length << putOff) }

// Last is when a fit is ended that is not over.
func (s Slot) Last() time.Time { return s.End(Ends - 1) }

// keeping is the part of a slot that is left for keeping what the fit ended in, before its end. A
// guess.
const keeping = 20

// Shows is when a fit's end can be seen that was over at a time: the slot's first end that leaves
// room for it to be kept, so that it shows on time. Behind the last, it is at once.
func (s Slot) Shows(over time.Time) time.Time {
	for putOff := range Ends {
		if end := s.End(putOff); !over.Add(s.Length / keeping).After(end) {
			return end
		}
	}
	return maxTime(over, s.Last())
}

// Keep is when what a fit ended in is kept, that shows at a time: not when it is over, since others
// could see by the time that their requests take that something is written.
func (s Slot) Keep(shows time.Time) time.Time { return shows.Add(-s.Length / keeping) }

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Seen is what can be seen of a fit's state: true is what it is, and shows when that can be seen,
// zero if it is not over.
func (s Slot) Seen(now time.Time, state string, shows time.Time) string {
	switch {
	case !shows.IsZero() && !now.Before(shows):
		return state
	case now.Before(s.Start):
		return Queued
	}
	return Running
}

// Place is the slot of a fit of some length: on the worker that is free first, as far as the slots
// of those that wait or run say.
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

// Facts are what the length of a slot follows from: all of them public.
type Facts struct {
	Capacity int // rows
	Columns  int
	Groups   int // that each get a model, 0 for none
	Slow     int // how many times as slow as others the method is, at least 1
	// Components are as many as are asked for, 0 for few: what they take grows with their square.
	Components int
}

// Rate is how long a slot is.
type Rate struct {
	Least   time.Duration // of any slot
	PerCell time.Duration // for each number of the table, and each pair of columns of a row
}

// most is how long a slot is at most, so that no time overflows. A guess: nobody waits that long.
const most = 365 * 24 * time.Hour

// Length is how long the slot of a fit is, rounded up to one of few lengths, a factor of sqrt(2)
// apart.
func (r Rate) Length(f Facts) time.Duration {
	d := float64(f.Columns)
	cells := float64(f.Capacity) * (d + d*d/columnsPerPair)
	t := float64(r.PerCell) * cells * float64(max(1, f.Groups)) * float64(max(1, f.Slow))
	t += float64(r.Least) * math.Pow(float64(f.Components)/componentsPerLeast, 2)
	steps := math.Ceil(2 * math.Log2(1+t/float64(r.Least)))
	return time.Duration(math.Min(float64(most), float64(r.Least)*math.Pow(2, steps/2))).Round(time.Millisecond)
}

// columnsPerPair: what pairs of columns cost beside columns. componentsPerLeast: how many
// components take as long as the least slot, with room: 50 took 20 s of one processor on 20,000
// rows. Guesses.
const (
	columnsPerPair     = 4
	componentsPerLeast = 10
)
