package expected

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The grid. A method's numbers of rows are multiples of what it says that it needs, so that every
// line begins where runs begin to fail and ends where privacy costs little.
var (
	allColumns = []int{1, 2, 5, 10, 20, 50}
	epsilons   = []float64{.5, 1, 4}
	multiples  = []float64{.35, .5, .7, 1, 2, 6, 20}
	relations  = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	shapes     = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
	onGaussian = []string{catalog.GaussianRows}
	onBoth     = []string{catalog.GaussianRows, catalog.HeavyRows}
	noFacts    = []float64{0}
)

const (
	delta = 1e-6
	// mostCells bounds n d, and so time and memory of a run; settings beyond are left out.
	mostCells = 3.5e6
)

// runsAt returns the number of runs of a setting: an error of few columns varies much from run to
// run, and costs little.
func runsAt(d int) int {
	switch {
	case d <= 2:
		return 61
	case d <= 5:
		return 31
	case d <= 10:
		return 15
	case d <= 20:
		return 9
	}
	return 3
}

// An entry is what is measured of a method. A method of the catalog that is not here, or whose
// every setting is too large, is "not measured".
type entry struct {
	method    string
	shapes    []estimate.CovarianceType
	columns   []int
	data      []string
	loose     []float64 // of the bounds that it is told; 0 tells none
	multiples []float64
	mostRuns  int       // of a setting; 0 for no limit
	gaps      []float64 // of mixtures, if it is those that are measured
}

var entries = []entry{
	{"gaussian", shapes, allColumns, onGaussian, noFacts, multiples, 0, nil},
	{"heavy-tailed", shapes[:1], allColumns[:5], onBoth, noFacts, multiples, 0, nil},
	{"gaussian:coinpress", shapes[:1], allColumns[:5], onGaussian, []float64{10, 1e4}, []float64{.35, .7, 1.4, 4}, 0, nil},
	{"univariate:kv18", shapes[:1], allColumns[:1], onGaussian, noFacts, multiples, 0, nil},
	// Literal algorithms: so many rows that a rough idea must do.
	{"heavy-tailed:paper", shapes[:1], allColumns[:3], onBoth[1:], []float64{10}, []float64{.3, 1}, 11, nil},
	{"gaussian:kmssu22", shapes[:1], allColumns[:3], onGaussian, noFacts, []float64{.3, 1}, 11, nil},
	{method: "auto", gaps: mixtureGaps},
}

// A setting is some points of the table, at rising numbers of rows, before they are measured.
type setting struct {
	catalog.Kind
	columns int
	rows    []int
	epsilon float64
	mu      float64
	// of a mixture; 0 of one Gaussian
	components int
	gap        float64
}

// settings returns the settings of a method's part of the table, without numbers of rows that a run
// cannot handle.
func (e entry) settings() (out []setting, err error) {
	method, _, err := gauze.Methods().Choose(e.method, estimate.Problem{})
	if err != nil {
		return nil, err
	}
	for _, shape := range e.shapes {
		for _, relation := range relations {
			for _, data := range e.data {
				for _, loose := range e.loose {
					kind := catalog.Kind{Method: e.method, Shape: shape, Relation: relation, Data: data, Loose: loose}
					for _, d := range e.columns {
						if d == 1 && shape != estimate.Full {
							continue
						}
						out = append(out, e.along(method, kind, d)...)
					}
				}
			}
		}
	}
	return out, nil
}

// along returns the settings at one number of columns.
func (e entry) along(method estimate.Estimator, kind catalog.Kind, d int) (out []setting) {
	for _, epsilon := range epsilons {
		s := setting{Kind: kind, columns: d, epsilon: epsilon, mu: privacy.MuOf(epsilon, delta)}
		needs := s.needs(method)
		for _, m := range e.multiples {
			if n := math.Ceil(m * needs); n*float64(d) <= mostCells {
				s.rows = append(s.rows, int(n))
			}
		}
		if s.rows != nil {
			out = append(out, s)
		}
	}
	return out
}

// needs returns the number of rows that the method says it needs, or a guess.
func (s setting) needs(method estimate.Estimator) float64 {
	e := method.Expect(estimate.Problem{Columns: s.columns, Relation: s.Relation, Mu: s.mu, Components: 1, MaxComponents: 1,
		Covariance: s.Shape, Facts: s.draw(0).facts})
	if e.RowsNeeded > 0 {
		return e.RowsNeeded
	}
	const guess = 250 // d^1.5/mu of these
	return guess * math.Pow(float64(s.columns), 1.5) / s.mu
}

// A draw is what one seed of a setting is about.
type draw struct {
	population madeup.Population
	facts      estimate.Facts
}

// Utility rests on none of these: the range of condition numbers, units and distances of the mean
// that rows are drawn with.
const (
	mostKappa  = 6.  // a power of ten
	units      = 3.  // a power of ten and its inverse
	mostOffset = 20. // in the largest standard deviation
)

// draw says what is drawn: condition number, units and offset, or what the facts leave open, are
// spread evenly over the seeds.
func (s setting) draw(seed uint64) draw {
	u, v, w := spread(seed, 0), spread(seed, 1), spread(seed, 2)
	p := madeup.Population{Columns: s.columns, Kappa: math.Pow(10, mostKappa*u), Units: units, Offset: mostOffset * v, Axes: s.Shape != estimate.Full}
	if s.Shape == estimate.Spherical {
		p.Kappa, p.Units = 1, 0
	}
	if s.Data != catalog.GaussianRows {
		p.Law = s.Data
	}
	if s.Loose == 0 {
		return draw{population: p}
	}
	// The facts are true, and as loose as they are said to be: the eigenvalues lie anywhere within
	// the bounds, and so does the mean.
	p.Units, p.Kappa = 0, math.Pow(s.Loose, u)
	high := math.Pow(s.Loose/p.Kappa, w)
	within := math.Sqrt(high * float64(s.columns))
	p.Offset = within * v
	return draw{p, estimate.Facts{KnowsMean: true, MeanWithin: within, Eigenvalues: [2]float64{high / s.Loose, high}}}
}

// spread returns a sequence in (0, 1) whose first members are spread evenly, whichever the seed it
// starts from: the fractional parts of multiples of irrational numbers.
func spread(seed uint64, which int) float64 {
	root := []float64{math.Sqrt2, math.Sqrt(3), math.Sqrt(5)}[which]
	_, part := math.Modf(float64(seed%1_000_000+1) * root)
	return part
}

// request returns the request of a fit.
func (s setting) request(facts estimate.Facts) gauze.Request {
	return gauze.Request{Relation: s.Relation, Budget: privacy.Budget{Epsilon: s.epsilon, Delta: delta}, Force: true, Method: s.Method, Components: 1,
		Covariance: s.Shape, Facts: facts}
}

// cell returns the setting's name in a results file, without the number of rows.
func (s setting) cell() string {
	return fmt.Sprintf("%v/%v/%s/%g/%d/%g", s.Shape, s.Relation, s.Data, s.Loose, s.columns, s.epsilon)
}
