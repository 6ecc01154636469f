package paper

import (
	"errors"
	"fmt"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// Form says by what Choose chooses.
type Form int

// The forms. AllPairs and Tournament are what the sources print, at their cost (see CostOf); Quick
// is AllPairs up to mostReference mixtures and Anchored beyond.
const (
	Quick      Form = iota
	AllPairs        // the minimum distance over Scheffe's set of every pair
	Tournament      // a contest of every pair
	anchored        // the minimum distance over Scheffe's sets of a few mixtures, far from one another
)

// mostReference is the largest list of which Quick takes all pairs: it has 1225 sets. A guess.
const mostReference = 50

// Options say how to choose.
type Options struct {
	Form Form
	// Accuracy is alpha of a Tournament: the best of the list is within it of the truth. In (0, 1].
	Accuracy float64
}

// SelectionStep returns the plan's line for one choice, which a pure budget pays for too.
func SelectionStep(name string, share float64, form Form, source string) kernel.Step {
	kind := papers.MinimumDistance{}.Kind()
	if form == Tournament {
		kind = papers.Tournament{}.Kind()
	}
	return kernel.Step{Name: name, Query: papers.SelectionOf(kind), Share: share, Most: 1, Pure: true, Source: source}
}

// Choose returns the number of a mixture of the list, chosen by the exponential mechanism:
// epsilon-DP with delta = 0, charged as kernel's Select says (privacy.BoundedRangeOfMu turns a mu
// into an epsilon). A list of one costs nothing.
//
// What it promises is Bound for AllPairs and TournamentRows for a Tournament. Anchored replaces the
// total variation by the largest difference on its sets, whatever that misses.
//
// Failures: an empty list; a list of which a form has more sets than there is memory for, which
// wraps ErrTooMany; what kernel's Select refuses. They depend on the list only.
//
// Source: [AAL21] Lemma 3.1; Algorithm 1 (step 5); [AMN24] Theorem D.2.
// Differs: with Quick, more than mostReference mixtures are compared on the sets of at most
// mostAnchors of them, 190, and not on those of all pairs: time is M and not M^3 of M mixtures, and
// nothing is proved of what is chosen. The epsilon is a part of a budget of Gaussian DP: the choice
// itself has delta = 0.
func Choose(a *kernel.SubBudget, step string, l *List, o Options, epsilon float64) (int, error) {
	q, err := queryOf(l, o)
	if err != nil {
		return 0, err
	}
	if l.Len() == 1 {
		return 0, nil
	}
	chosen, err := pure.Select(a, step, papers.Selection{Scores: []papers.Score{q}}, epsilon)
	if err != nil {
		return 0, err
	}
	return chosen[0], nil
}

// queryOf returns what Choose asks: the score of every mixture of the list.
func queryOf(l *List, o Options) (papers.Score, error) {
	if l.Len() == 0 {
		return nil, errors.New("hypotheses: want at least one mixture, got none")
	}
	q := papers.MinimumDistance{Parts: l.Parts, Index: l.index, Share: l.share}
	if o.Form == anchored || o.Form == Quick && l.Len() > mostReference {
		q.Sets = pairs(l.maximin(fastAnchors(len(l.Gaussians))))
	} else {
		cost := CostOf(o.Form, len(l.Gaussians), float64(l.Len()))
		if !cost.Runs() {
			return nil, fmt.Errorf("hypotheses: %v are too many pairs: %w", cost, ErrTooMany)
		}
		all := make([]int, l.Len())
		for i := range all {
			all[i] = i
		}
		q.Sets = pairs(all)
	}
	if len(q.Sets) == 0 {
		q.Sets = [][2]int{{0, 0}}
	}
	for _, g := range l.Gaussians {
		q.Components = append(q.Components, g.component())
	}
	q.Mass = l.masses(q.Sets)
	if o.Form == Tournament {
		draw, margin := margins(o.Accuracy)
		return papers.Tournament{MinimumDistance: q, Draw: draw, Margin: margin}, nil
	}
	return q, nil
}

// pairs returns those of mixtures a before b: Scheffe's set of (b, a) has the same differences, but
// for ties.
func pairs(of []int) (sets [][2]int) {
	for j, b := range of {
		for _, a := range of[:j] {
			sets = append(sets, [2]int{a, b})
		}
	}
	return sets
}
