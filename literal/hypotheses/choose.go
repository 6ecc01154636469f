package hypotheses

import (
	"errors"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/choice"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/kernel/query/scores"
)

// form says which sets Choose compares mixtures on.
type form int

// The forms: autoForm is referenceForm up to mostReference mixtures and fastForm beyond.
const (
	autoForm      form = iota
	referenceForm      // Scheffe's set of every pair
	fastForm           // Scheffe's sets of a few mixtures that are far from one another
)

// mostReference is the largest list that referenceForm takes: it has 19900 sets.
const mostReference = 200

// Options say how to choose.
type Options struct {
	Columns []int // of the table, in the order of the Gaussians' coordinates; nil: all
	form    form
	// Partition, if set, has one leaf: only the rows in it are looked at.
	Partition rings.Partition
}

// Step is the plan's line for one choice.
func Step(name string, share float64, source string) kernel.Step {
	return kernel.Step{Name: name, Query: scores.SelectionOf(scores.MinimumDistance{}.Kind()), Share: share, Most: 1, Source: source}
}

// Choose returns the number of a mixture of the list, chosen by the exponential mechanism with
// minus its minimum-distance score: epsilon-DP, charged as kernel's Select says
// (convert.BoundedRangeOfMu turns a mu into an epsilon). A list of one costs nothing.
//
// Utility of referenceForm: if n rows come from f, OPT is the least total variation from f to a
// mixture of the list of M, and the masses are exact, then with probability 1 - 2 beta the total
// variation from f to the choice is at most
//
//	3 OPT + 2 t + 2 ln(M/beta)/(epsilon n) + 2/n,   t = sqrt(ln(M^2/beta)/(2n))
//
// (see bound). fastForm replaces the total variation by the largest difference on its sets,
// whatever that misses.
//
// Failures: an empty list; what kernel's Select refuses. They depend on the list only.
//
// Source: [AAL21] Lemma 3.1; Algorithm 1 (step 5).
func Choose(a *kernel.Allotment, step string, l *List, o Options, epsilon float64) (int, error) {
	q, err := queryOf(l, o)
	if err != nil {
		return 0, err
	}
	if l.Len() == 1 {
		return 0, nil
	}
	chosen, err := choice.Select(a, step, scores.Selection{Partition: o.Partition, Scores: []scores.Score{q}}, epsilon)
	if err != nil {
		return 0, err
	}
	return chosen[0], nil
}

// queryOf is what Choose asks: the score of every mixture of the list.
func queryOf(l *List, o Options) (q scores.MinimumDistance, err error) {
	n := l.Len()
	if n == 0 {
		return q, errors.New("hypotheses: want at least one mixture, got none")
	}
	q = scores.MinimumDistance{Parts: l.Parts, Index: l.index, Share: l.share}
	switch {
	case o.form == referenceForm && n > mostReference:
		return q, fmt.Errorf("hypotheses: want at most %d mixtures for the reference form, got %d; use the fast form", mostReference, n)
	case o.form == fastForm || n > mostReference:
		q.Sets = pairs(l.maximin(fastAnchors(len(l.Gaussians))))
	default:
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		q.Sets = pairs(all)
	}
	if len(q.Sets) == 0 {
		q.Sets = [][2]int{{0, 0}}
	}
	for _, g := range l.Gaussians {
		q.Components = append(q.Components, g.component(o.Columns))
	}
	q.Mass = l.masses(q.Sets)
	return q, nil
}

// pairs are those of mixtures a before b: Scheffe's set of (b, a) has the same differences, but for
// ties.
func pairs(of []int) (sets [][2]int) {
	for j, b := range of {
		for _, a := range of[:j] {
			sets = append(sets, [2]int{a, b})
		}
	}
	return sets
}

// bound is what Choose's reference form promises beyond 3 OPT, with probability 1 - 2 beta, for n
// rows and a list of so many mixtures.
func bound(n float64, mixtures int, epsilon, beta float64) float64 {
	m := float64(mixtures)
	return 2*math.Sqrt(math.Log(m*m/beta)/(2*n)) + 2*math.Log(m/beta)/(epsilon*n) + 2/n
}

// Rows is the number of rows from which bound is at most alpha (but for its last term): 8
// ln(M^2/beta)/alpha^2 + 4 ln(M/beta)/(alpha epsilon).
//
// Source: [AAL21] Lemma 3.1.
func Rows(alpha, beta, epsilon float64, mixtures int) float64 {
	m := float64(mixtures)
	return 8*math.Log(m*m/beta)/(alpha*alpha) + 4*math.Log(m/beta)/(alpha*epsilon)
}
