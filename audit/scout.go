package audit

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze"
)

// usualScouts is the number of fits of each pair that show which pairs are worth attacking: a
// guess.
const usualScouts = 6

// scouted holds what a few fits of every pair have shown, by their exact answers alone: none of
// them counts for a bound.
type scouted struct {
	rows     int
	plan     *gauze.Statement
	pairs    []pair
	tallies  []*tally
	whole    int      // the pair whose transcripts reveal the most
	steps    []string // steps that have a score, in order
	unscored []string
	faults   []string
}

// scout runs a few fits of every pair.
func (s subject) scout(ctx context.Context, all []pair, fits int) (*scouted, error) {
	found := &scouted{pairs: all}
	for i, p := range all {
		t, err := s.trials(ctx, p, fits, 2, nil)
		if err != nil {
			return nil, err
		}
		found.tallies = append(found.tallies, t)
		found.faults = append(found.faults, t.faults...)
		found.steps = append(found.steps, t.order...)
		found.unscored = append(found.unscored, t.unscored...)
		if t.whole.reach > found.tallies[found.whole].whole.reach {
			found.whole = i
		}
	}
	found.steps, found.unscored, found.faults = distinct(found.steps), distinct(found.unscored), distinct(found.faults)
	if len(found.faults) > mostFaults {
		found.faults = found.faults[:mostFaults]
	}
	return found, nil
}

// distinct returns the names without repetitions.
func distinct(names []string) (out []string) {
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// reach returns the mean mu that a pair shows of a step, or the part of the plan's mu that it shows
// of the whole, for "".
func (f *scouted) reach(pair int, step string) float64 {
	t := f.tallies[pair]
	if step == "" {
		return math.Sqrt(t.whole.mean()) / f.plan.Mu
	}
	if t.steps[step] == nil {
		return 0
	}
	return math.Sqrt(t.steps[step].mean())
}

// better is the factor by which a pair has to show more of a step to be attacked for it: a guess.
const better = 2

// mostPairs is the number of pairs that are attacked: a guess.
const mostPairs = 2

// chosen returns the pairs to attack: the best for the whole, and those that show far more of most
// steps.
func (f *scouted) chosen() []int {
	out := []int{f.whole}
	for len(out) < mostPairs {
		best, most := -1, 0
		for i := range f.pairs {
			gains := 0
			for _, step := range f.steps {
				if f.reach(i, step) > better*f.reach(f.of(step, out), step) {
					gains++
				}
			}
			if gains > most {
				best, most = i, gains
			}
		}
		if best < 0 {
			break
		}
		out = append(out, best)
	}
	return out
}

// of returns the one of some pairs that shows the most of a step.
func (f *scouted) of(step string, pairs []int) int {
	return slices.MaxFunc(pairs, func(a, b int) int {
		switch x, y := f.reach(a, step), f.reach(b, step); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}
