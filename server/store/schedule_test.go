package store

import (
	"math/rand/v2"
	"testing"
	"time"
)

// What is seen of a slot before its end is the same whatever happens in it: of all ways in which a
// fit can end, and not end, at any time. From its end on it is told apart.
func TestSeenIsAFunctionOfTheSlot(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 2000 {
		s := Slot{Start: start, Length: time.Duration(1+rand.Int64N(1e11)) * 10}
		now := start.Add(time.Duration(rand.Int64N(int64(3*s.Length))) - s.Length)
		want := Running
		if now.Before(start) {
			want = Queued
		}
		over := start.Add(time.Duration(rand.Int64N(int64(s.Length))) * 19 / 20)
		for _, state := range []string{"released", "no-release", "failed"} {
			shows := s.Shows(over)
			if !shows.Equal(s.End(0)) {
				t.Fatalf("what is over at %v of %v shows at %v", over.Sub(start), s.Length, shows.Sub(start))
			}
			if got := s.Seen(now, state, shows); now.Before(s.End(0)) && got != want || !now.Before(s.End(0)) && got != state {
				t.Fatalf("at %v of %v: %s is seen as %s", now.Sub(start), s.Length, state, got)
			}
		}
		if got := s.Seen(now, "running", time.Time{}); got != want {
			t.Fatalf("at %v of %v: what is not over is seen as %s", now.Sub(start), s.Length, got)
		}
	}
}

// What comes too late shows at one of few ends.
func TestLateOnesShowAtFewTimes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, seen := Slot{Start: start, Length: time.Second}, map[time.Duration]bool{}
	for over := time.Duration(0); over < 4*time.Second-50*time.Millisecond; over += time.Millisecond {
		shows := s.Shows(start.Add(over))
		if shows.Before(start.Add(over)) {
			t.Fatalf("what is over at %v shows at %v", over, shows.Sub(start))
		}
		seen[shows.Sub(start)] = true
	}
	if len(seen) != Ends || !seen[s.Length] || !seen[2*s.Length] || !seen[4*s.Length] {
		t.Errorf("ends: %v", seen)
	}
	if late := s.Last().Add(time.Minute); !s.Shows(late).Equal(late) {
		t.Error("behind the last end something waits")
	}
}

// No two slots of a worker overlap, and a slot begins as soon as a worker is free.
func TestPlace(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const workers = 3
	var taken []Slot
	for range 200 {
		s := Place(now, taken, workers, time.Duration(1+rand.Int64N(10))*time.Second)
		for _, other := range taken {
			if other.Worker == s.Worker && s.Start.Before(other.End(0)) && other.Start.Before(s.End(0)) {
				t.Fatalf("%v overlaps %v", s, other)
			}
		}
		free := map[int]time.Time{}
		for _, other := range taken {
			if other.End(0).After(free[other.Worker]) {
				free[other.Worker] = other.End(0)
			}
		}
		for i := range workers {
			if free[i].Before(s.Start) && s.Start.After(now) {
				t.Fatalf("%v waits although worker %d is free at %v", s, i, free[i])
			}
		}
		taken = append(taken, s)
	}
}

// The length of a slot follows from public facts, is one of few, and grows with each of them.
func TestLength(t *testing.T) {
	r := Rate{Least: time.Second, PerCell: 4 * time.Microsecond}
	seen := map[time.Duration]bool{}
	for rows := 1; rows < 1e7; rows = rows*11/10 + 1 {
		f := Facts{Capacity: rows, Columns: 3}
		seen[r.Length(f)] = true
		for _, more := range []Facts{{2 * rows, 3, 0, 1, 0}, {rows, 6, 0, 1, 0}, {rows, 3, 4, 1, 0}, {rows, 3, 0, 8, 0}, {rows, 3, 0, 0, 30}} {
			if r.Length(more) < r.Length(f) {
				t.Fatalf("%v takes less than %v", more, f)
			}
		}
	}
	if len(seen) > 20 {
		t.Errorf("%d lengths", len(seen))
	}
}

// Whatever a data set is said to be, a slot has a length, and its ends come one after another.
func TestAbsurdLengths(t *testing.T) {
	for _, f := range []Facts{{}, {1 << 31, 1 << 15, 1 << 40, 8, 10}, {1 << 62, 1 << 15, 1 << 60, 1 << 60, 0}, {3, 1, 0, 0, 1 << 62}} {
		s := Slot{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Length: Rate{Least: time.Second, PerCell: 4 * time.Microsecond}.Length(f)}
		if s.Length < time.Second || !s.End(0).After(s.Start) || !s.Last().After(s.End(0)) {
			t.Errorf("%+v: a slot of %v", f, s.Length)
		}
	}
}
