package gauze

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// planDigests are digests of the plans of many requests, for every edition.
var planDigests = map[int]string{1: "63407951a9078feb", 2: "60cdcc77450f19bd", 3: "ff566aa385604ade", 4: "b965f1a42529b5af", 5: "960a17fb3dfb1449", 6: "5ce6e41c0c9f007c", 7: "4ca047a2385e5c55", 8: "fb081b31be025d48", 9: "4ad0f38ff06b1c0c", 10: "3f1babcf02c45c65", 11: "a320f01490a3ac26", 12: "acb443210beefcd3", 13: "876c4fe6d4909668", 14: "8e6838b751aefaa0", 15: "93c5f24a04b4551b", 16: "d58f8b897ee87737", 17: "58e0279fda012759", 18: "cd4146c3951cc373", 19: "9e91110135b13e89", 20: "c6005b46f48b7bf4", 21: "3b6eee52d81d45e9", 22: "4e6c8ada4cb793e6", 23: "16d88fcfd929804b", 24: "565d8b2a2ef6d61f", 25: "e9f906f3d0e36a51"}

// TestPlanEdition: whoever changes a plan gives the plans a new edition, since verify holds
// releases of one edition against its plans: without that it would refuse genuine releases made
// before. And what every fit of a method is said to measure is a step of some plan of it, and what
// people read of a plan is fifteen lines that say in words what each is for.
func TestPlanEdition(t *testing.T) {
	digest, plans, steps := sha256.New(), 0, map[string]bool{}
	for _, name := range Methods().Names()[1:] {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			for i, budget := range []privacy.Budget{{Epsilon: 1, Delta: 1e-6}, {Epsilon: 20, Delta: 1e-7}, {Rho: .3}, {Epsilon: 3}} {
				for _, d := range []int{1, 2, 6, 24} {
					for k := range 4 {
						r := Request{Method: name, Relation: relation, Budget: budget, Components: k, Covariance: estimate.CovarianceType((i + k) % 3), Force: true,
							Columns: Named(slices.Collect(func(yield func(string) bool) {
								for j := range d {
									yield(fmt.Sprint("c", j))
								}
							})...)}
						if i%2 == 1 {
							r.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 20, Eigenvalues: [2]float64{.25, 25}, Moments: 4}
						}
						if name == "gaussian:ppe-line" && d == 1 { // which has to be told
							r.KnownCovariance = [][]float64{{1}}
						}
						if d == 6 && k == 1 {
							r.Columns = append(r.Columns, source.Column{Name: "category", Kind: source.Categories, Categories: []string{"a", "b"}},
								source.Column{Name: "other", Kind: source.Categories, Categories: []string{"a", "b", "c"}})
						}
						if d == 2 && k == 2 { // most of the columns, of which one becomes such
							for _, name := range []string{"x", "y", "z"} {
								r.Columns = append(r.Columns, source.Column{Name: name, Kind: source.Categories, Categories: []string{"a", "b"}})
							}
							r.Columns = append(r.Columns, source.Column{Name: "yes", Kind: source.YesNo})
						}
						rows := []int{0}
						if relation == privacy.ReplaceOne {
							if rows = []int{2000, 200_000}; d == 2 && k == 2 { // columns by themselves, too
								rows = append(rows, 600)
							}
						}
						for _, n := range rows {
							plans += write(t, digest, r, n, steps)
						}
					}
				}
			}
		}
	}
	for _, name := range Methods().Names()[1:] {
		if always[name] == nil {
			t.Errorf("nothing says what every fit of %s measures", name)
		}
		for _, any := range always[name] {
			if !slices.ContainsFunc(strings.Split(any, "|"), func(step string) bool { return steps[name+": "+step] }) {
				t.Errorf("%s has no step %s", name, any)
			}
		}
	}
	if plans < 300 {
		t.Errorf("%d requests have a plan: the test sees too little", plans)
	}
	if got := hex.EncodeToString(digest.Sum(nil))[:16]; got != planDigests[PlanEdition] {
		t.Errorf("the digest of %d plans is %s, want %s of edition %d: if plans have changed on purpose, raise PlanEdition and add its digest", plans, got, planDigests[PlanEdition], PlanEdition)
	}
}

// write writes the plan of a request, if it has one, to six digits: the last ones depend on the
// processor.
func write(t *testing.T, w io.Writer, r Request, rows int, steps map[string]bool) int {
	q, err := r.choose(rows)
	if err != nil {
		return 0
	}
	plan, err := q.plan()
	if err != nil {
		return 0
	}
	fmt.Fprintln(w, plan.Method)
	var lines Statement
	lines.Method = r.Method
	for _, s := range plan.Steps {
		lines.Steps = append(lines.Steps, StepLimit{Step: s.Name})
		steps[r.Method+": "+s.Name] = true
		fmt.Fprintf(w, "%s|%s|%.6g|%d|%.6g|%v|%s\n", s.Name, s.Query, s.Share, s.Most, s.Slack, s.Pure, s.Source)
		if s.Extra != nil {
			mask, delta, pure := s.Extra.Stated()
			fmt.Fprintf(w, "%.6v %.6g %.6g\n", mask, delta, pure)
		}
	}
	for i, p := range lines.Purposes() {
		if !strings.Contains(r.Method, ":") && (i == 15 || steps[r.Method+": "+p.Text]) {
			t.Errorf("%s: line %d of its plan says %q", r.Method, i+1, p.Text)
		}
	}
	return 1
}
