// Package reduction measures the black-box reduction, which makes any learner of mixtures private:
// how many rows it needs, how far from the truth it ends, and whether it keeps silent where there
// is nothing to be found; with each learner, as practical method and as the thesis prints it, and
// beside the learners without privacy. The experiments follow Sections C and D of the restatement
// of [PPE], on random mixtures that internal/madeup draws; a run has a mixture of its own.
//
// In the place of an experiment's name there may be cells, each k,d,n,separation[,family..], like
// 2,2,40000,6 3,2,90000,6,wide.
package reduction

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Names of methods.
const (
	blackBox = "black-box"
	literal  = "black-box:paper"
)

// A goal says what a run has to end in to be a success.
type goal string

const (
	// near: a release whose total variation from the truth is at most 3.5 times that of EM started
	// at the truth, and .005.
	near goal = ""
	// nothing: no release, where there is nothing to be found.
	nothing goal = "no release"
	// likely: a release under which fresh rows are at most .005 nats less likely than under the fit
	// of EM started at the truth.
	likely goal = "likelihood"
	// clean: a release within a total variation of .05 of the mixture without its outliers.
	clean goal = "clean"
	// out: a release, whatever it is.
	out goal = "release"
	// alike: the components found are within a dist_PARAM of .3 of the truth.
	alike goal = "parameters"
)

// The bars of the goals.
const (
	nearRatio, nearMore = 3.5, .005
	likelyGap           = .005
	cleanDistance       = .05
	alikeParameters     = .3
)

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	spec madeup.BlackBox
	goal goal
	// given is the number of components that is asked for, where it is not the true one.
	given int
	// trim is the part of the rows that learners leave out.
	trim float64
	// epsilon and relation, if set, take the place of those asked for.
	epsilon  float64
	relation *privacy.Relation
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	// methods and learners, if set, take the place of the black box and of EM.
	methods, learners []string
	runs              int // if set, instead of the experiment's
}

// params is what a cell's name stands for, as the results keep it.
type params struct {
	madeup.BlackBox
	Given    int     `json:"given,omitempty"`
	Trim     float64 `json:"trim,omitempty"`
	Goal     goal    `json:"goal,omitempty"`
	Learner  string  `json:"learner,omitempty"`
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
}

// asked is the number of components that a fit is asked for.
func (c cell) asked() int {
	if c.given > 0 {
		return c.given
	}
	return c.spec.Components
}

// runsLearner says whether a method runs a learner that can be named.
func runsLearner(method string) bool { return strings.HasPrefix(method, blackBox) }

// request is what a fit of the cell is asked.
func (c cell) request(o engine.Options, method, learner string) gauze.Request {
	r := gauze.Request{Relation: o.Relation, Budget: o.Budget, Force: true, Method: method, Components: c.asked()}
	if runsLearner(method) {
		r.Learner, r.Trim = learner, c.trim
	}
	if c.epsilon != 0 {
		r.Budget.Epsilon = c.epsilon
	}
	if c.relation != nil {
		r.Relation = *c.relation
	}
	return r
}

// Names of values.
const (
	totalVariation = "tv"
	reference      = "reference_tv"
	parameters     = "dist_param"
	gap            = "held_out_gap"
)

const (
	// referenceSteps bounds EM from the truth; it ends when a step changes nothing any more.
	referenceSteps = 200
	// heldRows are fresh rows: of a difference of .005 nats the standard error is some .0003.
	heldRows = 100_000
	// tvRows are those of the Monte-Carlo total variation, in several columns.
	tvRows = 20_000
)

// outcome measures a release.
func (c cell) outcome(in *madeup.Instance, got engine.Fitted, seed uint64) (engine.Outcome, error) {
	end := engine.Outcome{Seconds: got.Seconds, Why: got.Why, Values: engine.Values{}}
	// there is nothing to compare with; a refusal on public facts says nothing about the rows
	if c.goal == nothing {
		end.Success = strings.HasPrefix(got.Why, "no release")
		return end, nil
	}
	plain, err := in.Reference(referenceSteps)
	if err != nil {
		return end, err
	}
	if end.Values[reference], err = madeup.TotalVariation(in.Truth, plain, tvRows); err != nil || got.Release == nil {
		return end, err
	}
	m := got.Release.Model
	tv, err := madeup.TotalVariation(in.Truth, m, tvRows)
	if err != nil {
		return end, err
	}
	end.Values[totalVariation], end.Values[parameters] = tv, parameterDistance(in.Truth, m)
	switch c.goal {
	case likely:
		held, err := c.spec.Held(seed, heldRows)
		if err != nil {
			return end, err
		}
		end.Values[gap], err = likelihoodGap(held, plain, m)
		end.Success = end.Values[gap] <= likelyGap
		return end, err
	case out:
		end.Success = true
	case clean:
		end.Success = tv <= cleanDistance
	default:
		end.Success = tv <= nearRatio*end.Values[reference]+nearMore
	}
	return end, nil
}

// parseCell reads a cell "k,d,n,sep" with families behind it: "2,5,100000,6,t5,wide".
func parseCell(text string) (cell, error) {
	parts := strings.Split(text, ",")
	var k, d, n int
	var sep float64
	wrong := func() (cell, error) {
		return cell{}, fmt.Errorf("cells: wanted k,d,n,separation[,family..], families being %s, got %q", strings.Join(familyNames(), ", "), text)
	}
	if len(parts) < 4 {
		return wrong()
	}
	for i, at := range []any{&k, &d, &n, &sep} {
		if _, err := fmt.Sscan(parts[i], at); err != nil {
			return wrong()
		}
	}
	return newCell(k, d, n, sep, parts[4:]...)
}

// newCell is a cell of one number of rows.
func newCell(k, d, n int, sep float64, which ...string) (cell, error) {
	c := cell{name: fmt.Sprintf("k=%d/d=%d", k, d), spec: madeup.BlackBox{Components: k, Columns: d}, rows: []int{n}}
	if k > 1 && sep != 0 {
		c.spec.Separation = sep
		c.name += fmt.Sprintf("/sep=%g", sep)
	}
	for _, name := range which {
		change, ok := families[name]
		if !ok {
			return cell{}, fmt.Errorf("family: wanted one of %s, got %q", strings.Join(familyNames(), ", "), name)
		}
		change(&c)
		c.name += "/" + name
	}
	return c, c.spec.Validate()
}
