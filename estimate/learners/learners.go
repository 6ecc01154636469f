// Package learners lists the learners of mixtures that a black box may run on blocks of rows, and
// passes them to the kernel: a line in Ours adds one to both forms of the reduction. Those of
// papers are listed in package literal, and the front door joins the two lists.
package learners

import (
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/em"
)

// EM is the name of Gauze's own learner.
const EM = "em"

// A Learner is one that may be named.
type Learner struct {
	Name string
	// For is the learner of k components, as the kernel runs it, which leaves out a part trim of a
	// block's rows if it Trims.
	For   func(k int, trim float64) kernel.Learner
	Trims bool
	// Most is the largest number of components that it finds; 0 for any.
	Most int
	// Slow is the number of columns beyond which a warning says that it is slow; 0 for none.
	Slow int
	// Rather says in an advice which learner agrees on fewer rows; "" for none.
	Rather string
}

// Ours returns the learner that is run if none is named.
func Ours() List {
	return List{{Name: EM, Trims: true, For: func(k int, trim float64) kernel.Learner { return em.Learner{Components: k, Trim: trim} }}}
}

// A List is the learners that a method can run, the one first that it runs where none is named. An
// Estimator that embeds it lets the asker choose.
type List []Learner

// Learners returns the names that a problem may give.
func (l List) Learners() (names []string) {
	for _, one := range l {
		names = append(names, one.Name)
	}
	return names
}

// Trims says whether the learner of that name can leave out the least likely rows
// (estimate.Problem.Trim).
func (l List) Trims(name string) bool { return l.named(name).Trims }

// named returns the learner of that name, the first for none.
func (l List) named(name string) Learner {
	return l[max(0, slices.IndexFunc(l, func(one Learner) bool { return one.Name == name }))]
}

// Rather returns the advice about the learner of a problem whose blocks do not agree.
func (l List) Rather(p estimate.Problem) string {
	if p.Own != "" {
		return ""
	}
	return l.named(p.Learner).Rather
}

// Slow returns the learner of a problem if it is slow in this many columns, else "".
func (l List) Slow(p estimate.Problem) string {
	if one := l.named(p.Learner); p.Own == "" && one.Slow > 0 && p.Columns > one.Slow {
		return one.Name
	}
	return ""
}

// TooMany reports that the learner of a problem does not find k components, whatever the rows.
func (l List) TooMany(p estimate.Problem, k int) bool {
	one := l.named(p.Learner)
	return p.Own == "" && one.Most > 0 && k > one.Most
}

// seed of the learners' own choices: public, and the same for all fits.
const seed = 1

// Blocks says how t blocks are learned from, k components each, by the problem's learner, by
// somebody's own, or by the first.
func (l List) Blocks(p estimate.Problem, k, t int) blocks.Blocks {
	b := blocks.Blocks{Count: t, Seed: seed}
	if p.Own != "" {
		b.OfTerms = k
	} else {
		b.Learner = l.named(p.Learner).For(k, p.Trim)
	}
	return b
}

// Own returns a user's own learner as the terms of a session hold it, nil for none.
func Own(mixture learner.Mixture) func(k int) kernel.Learner {
	if mixture == nil {
		return nil
	}
	return func(k int) kernel.Learner { return own{k, mixture} }
}

// own is somebody's own learner, as the kernel runs learners.
type own struct {
	k       int
	mixture learner.Mixture
}

// Estimates returns k.
func (o own) Estimates() int { return o.k }

// Coordinates returns the length of a component.
func (o own) Coordinates(d int) int { return learner.MixtureCoordinates(d) }

// Learn returns the mixture's components.
func (o own) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	components, err := o.mixture.LearnMixture(rows, o.k, seed)
	return learner.Estimates(components), err
}
