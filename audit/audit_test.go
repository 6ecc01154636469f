package audit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// known are facts that hold of all made-up tables' clusters, for methods that ask for them.
var known = estimate.Facts{KnowsMean: true, MeanWithin: 20, Eigenvalues: [2]float64{.25, 25}}

// TestCatalog: the small form of the audit, of every method: nothing that a replay could find, and
// no bound above a claim. Methods take turns with the relations; GAUZE_LONG takes both. Those that
// refuse so few rows are asked for the refusal alone.
//
// False-alarm rate: 1e-6 for each of some 30 audits, and far less as so few runs can prove little.
func TestCatalog(t *testing.T) {
	attacked := 0
	relations := []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	for i, m := range gauze.Methods().All() {
		for j, relation := range relations {
			if ((i+j)%2 == 0 || slices.Contains([]string{"axis-aligned:aal21", "general:aal21"}, m.Name())) && !estimatetest.Long() {
				continue // the two list mixtures for seconds, and in one column as univariate:aal21 does
			}
			r := Request{Fit: gauze.Request{Method: m.Name(), Relation: relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, Rows: 600, Runs: 2, scouts: 1, few: 3}
			if strings.Contains(m.Name(), "aal21") { // which lists mixtures for long
				r.Runs, r.few = 1, 1
			}
			report, err := Run(t.Context(), r)
			if err == nil && report.Refused != "" {
				r.Fit.Components, r.Fit.Facts, r.Fit.Budget.Epsilon = 1, known, 10
				report, err = Run(t.Context(), r)
			}
			if err != nil {
				t.Errorf("%s: %v", m.Name(), err)
				continue
			}
			if report.Whole != nil {
				attacked++
			}
			if !report.Passed() {
				t.Errorf("%s, %v: %s", m.Name(), relation, report)
			}
		}
	}
	if attacked < 12 {
		t.Errorf("%d audits attacked anything", attacked)
	}
}

// Every bound is one: guesses that are right as often as a claim allows at most are above a bound
// of it as rarely as stated, and blamed never; those that are right more often are blamed.
func TestBound(t *testing.T) {
	c := claim{mu: .5, slack: 1e-6, epsilon: 2, delta: 1e-6}
	p := c.most()
	if math.Abs(p-.5987063256829237) > 2e-6 || math.Abs(muOf(p)-.5) > 1e-5 {
		t.Errorf("mu .5 allows %v, of which mu is %v", p, muOf(p))
	}
	// the exact law of the bound, over all numbers of right guesses
	const n = 300
	wrong, blamed := 0., 0.
	for right := range n + 1 {
		chance := math.Exp(logChoose(n, right) + float64(right)*math.Log(p) + float64(n-right)*math.Log1p(-p))
		b := bound(right, n, c, .5)
		if b.Mu > c.mu+1e-4 {
			wrong += chance
		}
		if b.Above {
			blamed += chance
		}
		if b.Any > b.Epsilon+1e-9 {
			t.Errorf("%d right: epsilon %v without a shape, %v with the Gaussian's", right, b.Any, b.Epsilon)
		}
	}
	if wrong > wrongBound/2 || wrong < wrongBound/8 || blamed > falseAlarm/2 {
		t.Errorf("wrong with probability %v, blamed with %v", wrong, blamed)
	}
	if b := bound(240, n, c, .5); !b.Above || b.Mu < .5 {
		t.Errorf("four in five are right, and %+v", b)
	}
	low, _ := stattest.ProportionBounds(t, 220, n, wrongBound)
	if got := least(220, n, wrongBound/2); math.Abs(got-low) > 1e-9 {
		t.Errorf("a bound of %v, want %v", got, low)
	}
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// TestWords: what people read has the numbers, and a refusal says so.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		method string
		rows   int
		wanted string
	}{{"gaussian", 600, "the whole transcript"}, {"black-box", 5, "nothing to attack"}} {
		fit := gauze.Request{Method: c.method, Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		report, err := Run(t.Context(), Request{Fit: fit, Rows: c.rows, Runs: 2, scouts: 1})
		if err != nil || !strings.Contains(report.String(), c.wanted) {
			t.Errorf("%v, %v", err, report)
		}
	}
	for _, wrong := range []Request{{Rows: 1}, {Rows: -1}, {Columns: -1}, {Runs: -1}} {
		if _, err := Run(t.Context(), wrong); err == nil {
			t.Errorf("%+v was accepted", wrong)
		}
	}
}

// TestCategoriesAreAttacked: beside categories the counts of their values are scored, with all of
// the mu that their step claims in reach, and nothing is found; with an eighth of the noise their
// step is blamed, and with a quarter where GAUZE_LONG is set (under replace-one: scores and blame
// are the same code under both relations, and what is in reach is tested under both; of what
// nothing is found in there are few runs, unless GAUZE_LONG is set: then both are blamed).
//
// False-alarm rate: 2e-6. An eighth of the noise is missed with probability below 1e-7: it makes mu
// 6.4, of which 79.9 of 80 guesses are right, and 75 are enough to blame .8; so is a quarter, of
// which 284 of 300 guesses are right, give or take 4, and 243 are enough.
func TestCategoriesAreAttacked(t *testing.T) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		fit := gauze.Request{Method: "gaussian", Relation: r, Components: 1, Budget: privacy.Budget{Epsilon: 15, Delta: 1e-6}}
		for _, faulty := range []bool{false, true} {
			if faulty && r == privacy.AddRemoveOne && !estimatetest.Long() {
				continue
			}
			request := Request{Fit: fit, Rows: 200, Columns: 1, Categories: 2, Runs: stattest.Trials(80, 300), scouts: 1, few: 1}
			if !faulty && !estimatetest.Long() {
				request.Runs = 10 // few show that nothing is blamed; that something would be, the others
			}
			request.Fit.Columns = columns(1, 2)
			s, factor := frontDoor(request.Fit, 2, nil), 1./8
			if estimatetest.Long() {
				factor = 1. / 4
			}
			if faulty {
				s.table = func(rows [][]float64, d int, r privacy.Relation, s *kerneltest.Script) *kernel.Table {
					return kerneltest.Faulty(t, rows, d, r, s, factor)
				}
			}
			report, err := run(t.Context(), request, s)
			if err != nil || report.Passed() == faulty || report.Refused != "" {
				t.Fatalf("%v, faulty %v: %v, %+v", r, faulty, err, report)
			}
			at := slices.IndexFunc(report.Steps, func(s Step) bool { return s.Step == "categories" })
			if at < 0 || report.Steps[at].Above != faulty || report.Steps[at].Reach < .99 || slices.Contains(report.Unscored, "categories") {
				t.Errorf("%v, faulty %v: the counts of categories: %+v", r, faulty, report)
			}
		}
	}
}

// TestFoundValuesAreReplayed: where the fit finds the values of categories, nothing is found, and
// finding and counting them is replayed. False-alarm rate: below 2e-6.
func TestFoundValuesAreReplayed(t *testing.T) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		fit := gauze.Request{Method: "gaussian", Relation: r, Components: 1, Budget: privacy.Budget{Epsilon: 15, Delta: 1e-6}}
		report, err := Run(t.Context(), Request{Fit: fit, Rows: 200, Columns: 1, Categories: 2, Find: true, Runs: 20, scouts: 1, few: 1})
		if err != nil || !report.Passed() || report.Refused != "" {
			t.Fatalf("%v: %v, %+v", r, err, report)
		}
		for _, step := range []string{"category values", "categories"} {
			if !slices.Contains(report.Unscored, step) {
				t.Errorf("%v: replayed are %q, want %s too", r, report.Unscored, step)
			}
		}
	}
}
