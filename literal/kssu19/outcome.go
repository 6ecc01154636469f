package kssu19

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
)

// The step of a number of rows, and the part of the total mu^2 that both methods spend on n where
// it is private.
const (
	stepN  = "rows"
	nShare = .01
)

// nSteps returns the step that buys n where it is private.
func nSteps(p estimate.Problem) []kernel.Step {
	if p.Relation == privacy.ReplaceOne {
		return nil
	}
	return []kernel.Step{{Name: stepN, Query: query.Count{}.Kind(), Share: nShare, Most: 1, Source: "KSSU19 Section A.6"}}
}

// count returns n, public or released, and what is left of mu2.
func (r *run) count(mu2 float64) (n, left float64, err error) {
	if n, public := r.a.Session().Rows(); public {
		return float64(n), mu2, nil
	}
	ans, err := r.a.Sum(stepN, query.Count{}, parts.Mu(nShare*mu2))
	if err != nil {
		return 0, 0, err
	}
	return math.Max(0, ans.Values[0]), mu2 * (1 - nShare), nil
}

// A found component, in the columns' units.
type found struct {
	mean  []float64
	cov   *mat.SymDense
	rows  float64
	noise float64
	flags []estimate.Flag
}

// assemble makes a model of the heaviest components, at most as many as are allowed, from n rows.
func (c Constants) assemble(p estimate.Problem, n float64, parts []found, shape estimate.CovarianceType, told ...estimate.Flag) estimate.Outcome {
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].rows > parts[j].rows })
	if k := program.MostComponents(p); len(parts) > k {
		told = append(told, flags.New(flags.FewerComponents, "%d parts of few rows were left out: at most %d components are wanted", len(parts)-k, k))
		parts = parts[:k]
	}
	if len(parts) == 0 {
		return refuse(p, "no component holds enough rows to be seen")
	}
	if c.impossible(parts) {
		return refuse(p, "a component came out %g times as wide as any is publicly known to be: it is several", tooWide)
	}
	if k := p.Components; k > len(parts) {
		told = append(told, flags.New(flags.FewerComponents, "%d of %d components were found", len(parts), k))
	}
	told = append(told, flags.New(flags.Method, "%s", c.conditions(p, parts, n)))
	total := 0.0
	for _, f := range parts {
		total += f.rows
	}
	draft := program.NewDraft(p.Columns, estimate.Diagnostics{})
	draft.Notes.Flags = told
	for _, f := range parts {
		if !dense.Finite(f.noise) {
			return program.Outsize(estimate.Diagnostics{})
		}
		cov, err := program.ShapedMatrix(f.cov, shape)
		draft.Add(f.rows/total, f.mean, cov, err, estimate.ComponentNote{EffectiveRows: f.rows, EffectiveNoise: f.noise, Flags: f.flags})
	}
	return draft.Outcome()
}

// refuse returns the outcome of a fit that failed.
func refuse(p estimate.Problem, format string, args ...any) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: advice(p, 0)}}
}

// unparted returns the outcome of a partition into fewer parts than there are said to be
// components: some part then holds several, and one Gaussian in their place is as wrong as can be.
// (Merged components are no rare accident with the source's constants: their slack falls with
// 1/epsilon, until a ball of c times the radius of all rows of a component has to be free of any
// other row.)
func unparted(p estimate.Problem, parts int, c Constants) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{
		Reason: fmt.Sprintf("%d of %d components were told apart", parts, p.Components),
		Advice: fmt.Sprintf("it takes rows of other components %.2g times as far away as a component's own are from one another, or fewer components; "+
			"--method separated tells apart what is much nearer", c.Sought)}}
}

// advice says what would help, with a number of rows if one is known.
func advice(p estimate.Problem, rows float64) string {
	help := "many more rows, a larger epsilon, fewer components"
	if rows > 0 {
		help = fmt.Sprintf("about %s rows, or a larger epsilon", paper.RowsText(rows))
	}
	if p.Components == 0 && p.MaxComponents > 1 {
		help += ", or say how many components there are"
	}
	return help + "; --method separated learns such mixtures from far fewer rows"
}

// The range of numbers of rows that enough are sought in.
const (
	fewestRows = 100
	mostRows   = 1e16
)

// needed returns the least number of rows, about, that enough holds for; 0 if none does. What is
// enough is enough for every longer table.
func needed(enough func(n float64) bool) float64 {
	const step = 1.25
	of := func(i int) float64 { return fewestRows * math.Pow(step, float64(i)) }
	most := int(math.Log(mostRows/fewestRows) / math.Log(step))
	if i := sort.Search(most, func(i int) bool { return enough(of(i)) }); i < most {
		return of(i)
	}
	return 0
}

// expectation returns what a method says of the rows that it needs, and refusal why a table is too
// short; nil if it is not, or nobody knows. Errors are within twice the non-private ones from about
// accurate times that number on.
func expectation(p estimate.Problem, accurate float64, enough func(n float64) bool) estimate.Expectation {
	if !(p.Mu > 0) || p.Columns < 1 {
		return estimate.Expectation{}
	}
	found := needed(enough)
	e := estimate.Expectation{RowsNeeded: accurate * found}
	e.Notes = append(e.Notes, "a literal algorithm, to compare with: --method separated needs far fewer rows, and less separated components")
	if found > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("it finds the components from about %s rows on, if their means are tens of standard deviations apart; "+
			"it takes time quadratic in a component's part of these", paper.RowsText(found)))
	} else {
		e.Notes = append(e.Notes, "no table is long enough at this epsilon")
	}
	return e
}

func refusal(p estimate.Problem, enough func(n float64) bool) error {
	if !(p.Mu > 0) || p.Relation != privacy.ReplaceOne || enough(float64(p.Rows)) {
		return nil
	}
	return program.Refusal(advice(p, needed(enough)), "at this epsilon noise would hide every ball of %d rows that the algorithm looks for", p.Rows)
}

// enoughForBall reports that t of n rows can be found by PGLOC in l dimensions, from public
// numbers.
func (r *run) enoughForBall(splits, l int, n, t, mu2 float64) bool {
	_, need := r.radiusGamma(splits, l, mu2/2)
	return r.enoughRows(n, t, need) && r.enoughForCenter(splits, l, t, mu2/2)
}

// enoughRows reports that the subset holds need of t rows.
func (r *run) enoughRows(n, t, need float64) bool {
	s := r.subset([]part{{rows: n, t: t}}, need)
	return float64(s.of(t)) >= math.Max(1, need)
}

// A third of the rows of a ball are in the fullest cell along an axis, about; thresholdSDs is what
// a stability threshold is in noise sds, about.
const (
	fullestCell  = 1. / 3
	thresholdSDs = 6.0
)

// enoughForCenter reports that GoodCenter's threshold and histograms see t rows.
func (r *run) enoughForCenter(splits, l int, t, mu2 float64) bool {
	noise := 4 * r.group * r.twice(splits) / paper.PureEpsilon(mu2/4)
	return t/2 > hidden*noise &&
		fullestCell*t > r.group*thresholdSDs*math.Sqrt(2*float64(l))/parts.Mu(mu2/4)
}
