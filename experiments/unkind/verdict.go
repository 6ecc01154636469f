package unkind

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/families"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// The possible results of a fit.
const (
	fine      = "fine"             // the model is right, whatever its flags
	flagged   = "flagged"          // it is not, and says so
	refused   = "refused"          // on public facts: nothing is spent
	exit3     = "exit 3"           // no release after spending, where an answer exists
	hopeless  = "exit 3 hopeless"  // the same where none does, or the rows are too few for one
	silent    = "silent wrong"     // released, not right, and nothing said
	faulty    = "fault"            // of the program
	flaggedOK = "fine and flagged" // a part of fine
	// a part of flagged: a mean by a standard deviation, or one of these tenfold
	farOff = "flagged, far off"
)

var verdicts = []string{fine, flagged, refused, exit3, hopeless, silent, faulty}

// When a model is right. A reader takes a mean, a spread and a correlation from a release, so these
// are compared with those of the rows that it was learned from.
const (
	// meanOff is how far a mean may be off in standard deviations of its column, beside two
	// sampling errors: what would be seen in a picture of the column.
	meanOff, samplingErrors = .1, 2
	// A standard deviation may be off by a quarter either way, a correlation by so much.
	leastRatio, mostRatio, correlationOff = .8, 1.25, .15
	// To what is said of the noise: a model whose release states a relative noise of its second
	// moments may be off by three times that, up to a limit, since a number that is stated is not
	// silent.
	noiseTimes, mostNoise = 3, .2
	// distanceOff is how much farther a column of a mixture may be from the rows, in Kolmogorov's
	// distance, than that of the best mixture without privacy. The number of components is a choice
	// under noise: where it was left to the method, so much more is allowed to a model that is as
	// close as the best of as many components.
	distanceOff, choiceOff = .05, .05
	// A component of lightest or more stands for nobody if its mean lies so many ranges of the rows
	// beyond them, or its standard deviation is so many times their range.
	lightest, nobodyOff, nobodyWide = .01, 3, 10
	// A true component of leastShare or more has to be there: in the box that holds it the model
	// has at least half and at most twice as many rows as there are.
	leastShare, shareOff, boxSDs = .05, 2, 3
	// answerRows is the n mu per column (and component) from which on an answer is taken to exist.
	answerRows = 60
	// unseenRows/mu rows can be in a table without a private method's seeing them: with a fifth of
	// the budget on nothing but their number, the noise is 2.2/mu. So many of the rows farthest out
	// may be left out of a column's moments without a word, and stray rows that are so few.
	unseenRows = 10
	// statedSlack is by how much more rows than are stated may differ from a constant: it says
	// "about".
	statedSlack = 1.25
	// statedDoubts is by how much of its stated doubt a number may be off.
	statedDoubts = 3
)

var (
	// tails is what has to be said where there are no moments.
	tails = regexp.MustCompile(`(?i)tail|stray|beyond|far |outlier|extreme|outside|left out|not describe|clip|moment`)
	// unseen is how many rows may differ from a constant.
	unseen = regexp.MustCompile(`constant.*?about ([0-9.e+]+) rows`)
	// differing is how many rows of a column do, and the doubt in it.
	differing = regexp.MustCompile(`column (\S+): about ([0-9.e+]+) rows .*give or take ([0-9.e+]+), differ`)
)

// A judgement is a verdict with its reasons.
type judgement struct {
	verdict string
	why     string // the worst that is wrong
	flags   []string
	said    bool // something was said that is no routine
	// ratio is the worst ratio of standard deviations, mean the worst error of a mean in standard
	// deviations, correlation of a correlation; distance is that of the worst column, more than the
	// reference's.
	ratio, mean, correlation, distance float64
	strict                             strictVerdict
}

// A question is what was asked of a table.
type question struct {
	table   *families.Table
	mixture bool // of the whole distribution, not of its moments alone
	shape   estimate.CovarianceType
	k       int     // asked for; 0: left to the method
	most    int     // components, where it is left to the method
	mu      float64 // of the whole budget
	// other are other rows of the same law, where whole mixtures are compared.
	other *mat.Dense
}

// answerable says on public facts that rows of this number and width have an answer.
func (q question) answerable() bool {
	n, d := q.table.Rows.Dims()
	parts := 1
	if q.mixture {
		parts = max(q.table.Components, q.k)
	}
	return !q.table.NoMoments && float64(n)*q.mu >= float64(answerRows*d*parts)
}

// judge returns the verdict on a fit.
func (q question) judge(got engine.Fitted) (j judgement, err error) {
	switch {
	case strings.HasPrefix(got.Why, "refused"):
		return judgement{verdict: refused, why: got.Why}, nil
	case strings.HasPrefix(got.Why, "no release"):
		if q.answerable() {
			return judgement{verdict: exit3, why: got.Why}, nil
		}
		return judgement{verdict: hopeless, why: got.Why}, nil
	case got.Release == nil:
		return judgement{verdict: faulty, why: got.Why}, nil
	}
	j, err = q.released(got.Release, got.Foreground)
	j.verdict = silent
	switch {
	case err != nil:
	case j.why == "":
		j.verdict = fine
	case j.said:
		j.verdict = flagged
	}
	return j, err
}

// released judges a model. If outliers are known, a model that is right for the other rows and
// flags something is right too; so is one whose background describes them.
func (q question) released(r *release.Release, foreground *model.Mixture) (out judgement, err error) {
	said := saidOf(r)
	if q.table.NoMoments {
		j := judgement{flags: said.flags, why: "there are no moments", ratio: 1}
		for _, f := range said.relevant {
			j.said = j.said || tails.MatchString(f)
		}
		j.said = j.said || said.background
		return j, nil
	}
	c := comparison{question: q, said: said, release: r}
	if q.other != nil {
		return c.whole(foreground)
	}
	all := c.rows(false)
	j, err := c.with(r.Model, all)
	if !c.mixture && c.shape != estimate.Spherical {
		strict := c.strictly(r.Model, all)
		defer func() { out.strict = strict }()
	}
	few := c.strays() <= unseenRows/q.mu
	if err != nil || j.why == "" || !j.said && !few || foreground == nil {
		return j, err
	}
	attempts := [][][]float64{}
	if said.background {
		attempts = append(attempts, c.rows(false))
	}
	if q.table.Outliers != nil {
		attempts = append(attempts, c.rows(true))
	}
	for _, rows := range attempts {
		other, err := c.with(foreground, rows)
		if err != nil || other.why == "" {
			return other, err
		}
	}
	return j, nil
}

// said holds a release's own statements.
type said struct {
	flags      []string // all
	relevant   []string // those that are no routine
	background bool
	unseen     float64 // rows that may differ from a constant
	constant   map[string]bool
	differing  map[string][2]float64 // of a column, as said, and the doubt
	noise      float64               // relative, of one entry of the second moments
}

func saidOf(r *release.Release) said {
	s := said{constant: map[string]bool{}, differing: map[string][2]float64{}}
	s.relevant, s.flags, s.background = engine.Warnings(r)
	rows := 0.0
	groups, _ := r.Model.Split()
	for _, i := range groups {
		if notes := r.Diagnostics.Components; i < len(notes) {
			s.noise += notes[i].EffectiveRows * notes[i].EffectiveNoise
			rows += notes[i].EffectiveRows
		}
	}
	if s.noise /= rows; !(s.noise >= 0) {
		s.noise = 0
	}
	for _, f := range s.flags {
		if m := unseen.FindStringSubmatch(f); m != nil {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil {
				s.unseen = max(s.unseen, v)
			}
		}
	}
	for _, f := range s.flags {
		if m := differing.FindStringSubmatch(f); m != nil {
			var v [2]float64
			for i := range v {
				// what the pattern lets through is a number
				v[i], _ = strconv.ParseFloat(m[i+2], 64)
			}
			s.differing[m[1]] = v
		}
	}
	for _, name := range r.Diagnostics.ConstantColumns {
		s.constant[name] = true
	}
	return s
}

// A comparison is of one release with rows.
type comparison struct {
	question
	said    said
	release *release.Release
}

// rows returns the complete rows, or those of them that are not outliers, by column.
func (c comparison) rows(clean bool) [][]float64 {
	n, d := c.table.Rows.Dims()
	out := make([][]float64, d)
	for i := range n {
		row := c.table.Rows.RawRowView(i)
		if clean && c.table.Outliers != nil && c.table.Outliers[i] || hasNaN(row) {
			continue
		}
		for j, x := range row {
			out[j] = append(out[j], x)
		}
	}
	return out
}

func hasNaN(row []float64) bool {
	for _, x := range row {
		if math.IsNaN(x) {
			return true
		}
	}
	return false
}

// with compares a model with rows.
func (c comparison) with(m *model.Mixture, cols [][]float64) (judgement, error) {
	j := judgement{flags: c.said.flags, said: len(c.said.relevant) > 0 || c.said.background, ratio: 1}
	sample := engine.MomentsOf(cols)
	c.moments(&j, m, sample, cols)
	if !c.mixture {
		return j, nil
	}
	c.components(&j, cols)
	if err := c.clusters(&j, m); err != nil {
		return j, err
	}
	c.distances(&j, m, cols)
	return j, nil
}

// strays returns the number of outliers.
func (c comparison) strays() (n float64) {
	for _, stray := range c.table.Outliers {
		if stray {
			n++
		}
	}
	return n
}

// wrong keeps the first that is.
func (j *judgement) wrong(format string, args ...any) {
	if j.why == "" {
		j.why = fmt.Sprintf(format, args...)
	}
}

// moments compares means, standard deviations and correlations.
func (c comparison) moments(j *judgement, m *model.Mixture, s engine.Moments, cols [][]float64) {
	n, d := float64(len(cols[0])), len(cols)
	noise := min(mostNoise, noiseTimes*c.said.noise/math.Sqrt(2*float64(d)))
	mean, sd, correlation := engine.Overall(m)
	excused := make([]bool, d)
	pooled := 0.0
	for a := range d {
		pooled += s.SD[a] * s.SD[a] / float64(d)
		excused[a] = s.SD[a] == 0 || c.constant(m, a, mean[a], sd[a], cols[a])
	}
	if c.shape == estimate.Spherical { // asks for one spread
		for a := range s.SD {
			if s.SD[a] > 0 {
				s.SD[a] = math.Sqrt(pooled)
			}
		}
	}
	for a := range d {
		if excused[a] {
			continue
		}
		off, ratio := math.Abs(mean[a]-s.Mean[a])/s.SD[a], sd[a]/s.SD[a]
		j.mean = math.Max(j.mean, off)
		if math.Abs(math.Log(ratio)) > math.Abs(math.Log(j.ratio)) || math.IsNaN(ratio) {
			j.ratio = ratio
		}
		rightMean := off <= meanOff+samplingErrors/math.Sqrt(n)
		rightSD := ratio >= leastRatio*(1-noise/2) && ratio <= mostRatio*(1+noise/2)
		if (!rightMean || !rightSD) && c.shape != estimate.Spherical && c.fewFarOut(cols[a], s, a, mean[a], sd[a], noise) {
			excused[a] = true
			continue
		}
		if !rightMean {
			j.wrong("column %d: mean off by %.3g sd", a+1, off)
		}
		if !rightSD {
			j.wrong("column %d: sd x%.3g", a+1, ratio)
		}
	}
	if c.shape != estimate.Full && !c.mixture {
		return // correlations are not asked for
	}
	for a := range d {
		for b := range a {
			if excused[a] || excused[b] || sd[a] == 0 || sd[b] == 0 {
				continue
			}
			off := math.Abs(correlation(a, b) - s.Correlation(a, b))
			if j.correlation = math.Max(j.correlation, off); !(off <= correlationOff+samplingErrors/math.Sqrt(n)+noise) {
				j.wrong("columns %d and %d: correlation off by %.3g", b+1, a+1, off)
			}
		}
	}
}

// constant says that a column is called constant, and that no more rows differ than is stated.
func (c comparison) constant(m *model.Mixture, a int, at, sd float64, col []float64) bool {
	if sd != 0 && !c.said.constant[m.Columns[a]] {
		return false
	}
	differ := 0.0
	for _, x := range col {
		if math.Abs(x-at) > 1e-9*math.Max(math.Abs(at), math.Abs(x)) {
			differ++
		}
	}
	if stated, ok := c.said.differing[m.Columns[a]]; ok {
		return math.Abs(differ-stated[0]) <= (statedSlack-1)*stated[0]+statedDoubts*stated[1]
	}
	return differ <= statedSlack*c.said.unseen
}

// fewFarOut says that a mean and a standard deviation are between those of all rows and those
// without the few farthest out that could not be seen.
func (c comparison) fewFarOut(col []float64, s engine.Moments, a int, mean, sd, noise float64) bool {
	return c.few(col, s, a, mean, sd, bar{leastRatio * (1 - noise/2), mostRatio * (1 + noise/2), meanOff + samplingErrors/math.Sqrt(float64(len(col)))})
}

// A bar is the least and the most ratio of standard deviations, and how far a mean may be off.
type bar struct{ least, most, off float64 }

func (c comparison) few(col []float64, s engine.Moments, a int, mean, sd float64, b bar) bool {
	rest := engine.Without(slices.Sorted(slices.Values(col)), int(unseenRows/c.mu))
	if !(sd >= b.least*rest.SD[0] && sd <= b.most*s.SD[a]) {
		return false
	}
	room := b.off * math.Max(rest.SD[0], math.Min(sd, s.SD[a]))
	return mean >= math.Min(rest.Mean[0], s.Mean[a])-room && mean <= math.Max(rest.Mean[0], s.Mean[a])+room
}
