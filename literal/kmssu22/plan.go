package kmssu22

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

// The steps of the plan.
const (
	stepRows        = "rows"
	stepEigenvalues = "eigenvalues"
	stepCenters     = "subspace: centers"
	stepAverages    = "subspace: averages"
	prefixZero      = "zero: "
	prefixFine      = "fine: "
	prefixFinal     = "final: "
	stepLocation    = "location"
	stepMoments     = "moments"
)

// Parts of the total mu^2: a quarter for the eigenvalues, half for all calls of the preconditioners
// together, and what is left, at least a quarter less a little, for the last covariance. What no
// gap asks for goes to the last covariance too.
//
// Source: [KMSSU22] Corrections, (iv).
// Differs: the half is divided evenly among the calls that the released eigenvalues ask for, in
// place of 2d.
const (
	rowsShare          = .01 // where n is private
	eigenvalueShare    = .25
	preconditionShare  = .5
	zeroLocationShare  = .02
	finalLocationShare = .01
)

// Parts of the mu^2 of a call: utility constants.
const (
	centersPart  = .75 // of a subspace, for GoodCenter; the averages have the rest
	locationPart = .05 // of a fine preconditioner
)

// Parts of the stability delta.
const (
	eigenvalueSlack    = .25
	centersSlack       = .3
	fineSlack          = .15
	zeroSlack          = .15
	finalLocationSlack = .15
)

// steps returns those of a plan for the problem.
func (c Constants) steps(p estimate.Problem) []kernel.Step {
	cells, moments := query.BoxKeys{}.Kind(), query.ClippedMoments{}.Kind()
	d := p.Columns
	var steps []kernel.Step
	if p.Relation != privacy.ReplaceOne {
		steps = append(steps, kernel.Step{Name: stepRows, Query: query.Count{}.Kind(), Share: rowsShare, Most: 1, Source: "KMSSU22 Corrections"})
	}
	steps = append(steps, kernel.Step{Name: stepEigenvalues, Query: kernel.OfBlocks(cells), Share: eigenvalueShare, Most: 1,
		Slack: eigenvalueSlack, Source: "KMSSU22 Algorithm 1"})
	if d > 1 {
		steps = append(steps,
			kernel.Step{Name: stepCenters, Query: kernel.OfBlocks(cells), Share: preconditionShare * centersPart, Most: d, Slack: centersSlack,
				Source: "KMSSU22 Algorithm 2"},
			kernel.Step{Name: stepAverages, Query: kernel.OfBlocks(moments), Share: preconditionShare * (1 - centersPart), Most: d * c.points(d),
				Source: "KMSSU22 Algorithm 2"},
			kernel.Step{Name: prefixFine + stepLocation, Query: cells, Share: preconditionShare * locationPart, Most: d, Slack: fineSlack,
				Source: "KMSSU22 Algorithm 4"},
			kernel.Step{Name: prefixFine + stepMoments, Query: moments, Share: preconditionShare * (1 - locationPart), Most: d,
				Source: "KMSSU22 Algorithm 4"},
			kernel.Step{Name: prefixZero + stepLocation, Query: cells, Share: zeroLocationShare, Most: 2, Slack: zeroSlack,
				Source: "KMSSU22 A zero eigenvalue"})
	}
	return append(steps,
		kernel.Step{Name: prefixFinal + stepLocation, Query: cells, Share: finalLocationShare, Most: 1, Slack: finalLocationSlack,
			Source: "KMSSU22 NaiveEstimator"},
		kernel.Step{Name: prefixFinal + stepMoments, Query: moments, Share: 1, Most: 1, Source: "KMSSU22 NaiveEstimator"})
}

// count returns n, measured where it is private.
func (r *run) count() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if n, public := r.a.Session().Rows(); public {
		r.rows = float64(n)
	} else {
		answer, err := r.a.Sum(stepRows, query.Count{}, parts.Mu(rowsShare*r.mu2))
		if err != nil {
			return err
		}
		r.rows, r.mu2 = math.Max(0, answer.Values[0]), r.mu2*(1-rowsShare)
	}
	return nil
}

// clip2 returns g^2, which bounds |z|^2 of all of n rows z ~ N(0, I) with probability 1-b.
//
// Source: [KMSSU22] NaiveEstimator.
func (c Constants) clip2(d int, n float64) float64 {
	dim, l := float64(d), math.Log(2*math.Max(1, n)/c.FailureProb)
	return dim + 2*math.Sqrt(dim*l) + 2*l
}

// radius returns where rows of variances at most 1 are clipped, around a location that is off by up
// to a cell.
func (c Constants) radius(d int, n float64) float64 {
	return math.Sqrt(c.clip2(d, n)) + c.LocationSide*math.Sqrt(float64(d))
}

// Expect says how many rows are needed with one gap in the spectrum, and the error relative to the
// non-private one without any.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if p.Columns < 1 || !(p.Mu > 0) || p.Budget.Delta == 0 {
		return estimate.Expectation{}
	}
	m := e.c.means(p)
	need := math.Max(m.leastNeeded(p.Mu), m.gapNeeded(p.Mu))
	for need < 1e15 && e.c.inflation(p, need) > 2 {
		need *= 1.1
	}
	x := estimate.Expectation{RowsNeeded: need}
	if n := float64(p.Rows); n >= need {
		x.RelativeError = e.c.inflation(p, n)
	}
	x.Notes = append(x.Notes, "a literal algorithm, to compare with: --method gaussian needs far fewer rows",
		fmt.Sprintf("the eigenvalues alone need about %s rows", paper.RowsText(m.leastNeeded(p.Mu))))
	if p.Columns > 1 {
		x.Notes = append(x.Notes, fmt.Sprintf("one gap of a factor %g or more between neighbouring eigenvalues needs about %s rows, several more",
			e.c.EigenvalueRatio, paper.RowsText(m.gapNeeded(p.Mu))))
	}
	return x
}

// inflation returns the expected error of the last covariance relative to the non-private one, for
// eigenvalues that are all alike.
func (c Constants) inflation(p estimate.Problem, n float64) float64 {
	r := c.radius(p.Columns, n)
	relation := math.Sqrt2
	if p.Relation != privacy.ReplaceOne {
		relation = 1
	}
	rest := 1 - eigenvalueShare - preconditionShare
	noise := relation * c.Bound * r * r * (1 + lift*lift) / (n * p.Mu * math.Sqrt(rest))
	return math.Hypot(1, noise*math.Sqrt(n/2))
}

func advice(rows float64) string {
	help := "many more rows, or a larger epsilon"
	if rows > 0 {
		help = fmt.Sprintf("about %s rows, or a larger epsilon", paper.RowsText(rows))
	}
	return help + "; --method gaussian needs far fewer"
}
