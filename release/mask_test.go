package release

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// masked is a consistent release of a test of blocks, a mask, and Gaussian sums, at (epsilon,
// delta) = (1, 1e-6).
func masked(t testing.TB) *Release {
	t.Helper()
	stated := &Mask{Kind: MaskLifted, Dimension: 3, Gamma: .03, Eta: .23}
	return curvedRelease(t, "black-box", &Learner{Name: "em", Trim: .02},
		privacy.CovarianceMask{Dimension: 3, Gamma: .03, Eta: .23}.Curve(), PlanStep{Step: "mask", Query: QueryStable, Count: 1, Mask: stated})
}

// published is one of a pure test and of the mask of parameters, as the literal method makes them.
func published(t testing.TB) *Release {
	t.Helper()
	m := privacy.ParameterMask{Components: 2, Dimension: 2, Gamma: .001, EtaWeight: .02, EtaMean: .02, EtaCov: .02}
	stated := &Mask{Kind: MaskParameters, Components: 2, Dimension: 2, Gamma: .001, EtaWeight: .02, EtaMean: .02, EtaCov: .02}
	return curvedRelease(t, "black-box:paper", &Learner{Name: OwnLearner}, m.Curve().Compose(privacy.PureCurve(.2)),
		PlanStep{Step: "agree", Query: QueryPopular, Count: 1, Pure: .2, Delta: 5e-7}, PlanStep{Step: "mask", Query: QueryPopular, Count: 1, Mask: stated})
}

// curvedRelease has a Gaussian test with a delta of its own, the given steps and Gaussian sums with
// all that is left.
func curvedRelease(t testing.TB, method string, learner *Learner, extra privacy.Curve, steps ...PlanStep) *Release {
	t.Helper()
	c, err := privacy.Calibrate(privacy.Budget{Epsilon: 1, Delta: 1e-6}, privacy.Needs{Extra: extra, AddedDelta: 5e-7})
	if err != nil {
		t.Fatal(err)
	}
	rows, mu := 40000, math.Sqrt(float64(c.Cap/2))*(1-1e-14)
	test := PlanStep{Step: "agree", Query: QueryStable, Count: 1, Sensitivity: 1, Noise: 1 / mu, Mu: mu, Delta: 5e-7}
	if len(steps) > 1 { // the test is among them
		test.Step, test.Query, test.Delta = "count", "count", 0
	}
	sums := PlanStep{Step: "em", Query: "clipped moments", Count: 1, Sensitivity: 2, Noise: 2 / mu, Mu: mu, Source: "PPE Section B6"}
	r := &Release{Model: mixture(t), Certificate: Certificate{Relation: ReplaceOne, Epsilon: 1, Delta: 1e-6, Rows: &rows, Schema: SchemaDeclared,
		Method: method, Learner: learner, Plan: append(append([]PlanStep{test}, steps...), sums)}}
	finish(r, c)
	r.Certificate.Spent.Delta = 1e-6
	if err := r.Certificate.Complete(); err != nil {
		t.Fatal(err)
	}
	return r
}

// A mask's certificate verifies, read back too, and whoever knows nothing of masks finds the same
// loss at the orders that are stated.
func TestMaskedVerifies(t *testing.T) {
	for name, r := range map[string]*Release{"masked": masked(t), "published": published(t)} {
		for _, r := range []*Release{r, reread(t, r)} {
			if faults := Verify(r); faults != nil {
				t.Errorf("%s: %v", name, faults)
			}
			if r.Certificate.Spent.Rho != 0 {
				t.Errorf("%s: rho = %v beside a curve", name, r.Certificate.Spent.Rho)
			}
			// whoever knows nothing of masks
			least := math.Inf(1)
			for order := range r.Certificate.Plan[1].Renyi {
				a, err := strconv.ParseFloat(order, 64)
				if err != nil {
					t.Fatal(err)
				}
				all := a * r.Certificate.Spent.Mu * r.Certificate.Spent.Mu / 2
				for _, s := range r.Certificate.Plan {
					if divergence, stated := s.Renyi[order]; stated {
						all += divergence
					} else if s.Renyi != nil {
						all = math.Inf(1)
					}
				}
				least = min(least, epsilonOfRenyi(a, all, 1e-6-r.Certificate.planTotals().delta))
			}
			if !near(least, r.Certificate.Spent.Epsilon) {
				t.Errorf("%s: the stated orders give epsilon = %v, spent are %v", name, least, r.Certificate.Spent.Epsilon)
			}
			if n := len(r.Certificate.Plan[1].Renyi); n < 10 || n > 40 {
				t.Errorf("%s: %d orders are stated", name, n)
			}
		}
	}
}

// The words say which learner ran and that not all cost is in mu.
func TestMaskedInWords(t *testing.T) {
	for want, c := range map[string]Certificate{
		`The learner "em" of Gauze`:                     masked(t).Certificate,
		"It left out the 2 % of each block's rows":      masked(t).Certificate,
		"the noise of 1 measurement has a Rényi curve":  masked(t).Certificate,
		"the noise of 2 measurements has a Rényi curve": published(t).Certificate,
		"A learner that is not part of Gauze":           published(t).Certificate,
		"whoever provided it is responsible for that":   published(t).Certificate,
		"together they cost mu = ":                      gaussian(t).Certificate,
		// (epsilon, delta) alone: Phi(mu/2) would be 54.8 %
		"right at most 73.2 % of the time; a tossed coin is": masked(t).Certificate,
	} {
		if text := said(c); !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if text := said(gaussian(t).Certificate); strings.Contains(text, "What ran on blocks") {
		t.Errorf("no learner ran:\n%s", text)
	}
	for _, c := range []struct{ mask, want string }{
		{masked(t).Certificate.Plan[1].Mask.String(), "gamma = 0.03, eta = 0.23, dimension 3"},
		{published(t).Certificate.Plan[2].Mask.String(), "gamma = 0.001, eta = 0.02 for weights, 0.02 for means, 0.02 for covariances, 2 components in dimension 2"},
	} {
		if c.mask != c.want {
			t.Errorf("got %q, want %q", c.mask, c.want)
		}
	}
}

// TestMaskTampering: every alteration of a mask's line is found, and named.
func TestMaskTampering(t *testing.T) {
	mask := func(r *Release) *Mask { return r.Certificate.Plan[len(r.Certificate.Plan)-2].Mask }
	for name, c := range map[string]struct {
		make  func(testing.TB) *Release
		alter func(r *Release)
		want  string
	}{
		"gamma raised":     {masked, func(r *Release) { mask(r).Gamma *= 1 + 1e-6 }, "that of its mask"},
		"eta lowered":      {masked, func(r *Release) { mask(r).Eta *= 1 - 1e-6 }, "that of its mask"},
		"dimension raised": {masked, func(r *Release) { mask(r).Dimension++ }, "that of its mask"},
		"no dimension":     {masked, func(r *Release) { mask(r).Dimension = 0 }, "a mask of finite loss"},
		"gamma negative":   {masked, func(r *Release) { mask(r).Gamma = -1 }, "a mask of finite loss"},
		"gamma NaN":        {masked, func(r *Release) { mask(r).Gamma = math.NaN() }, "a mask of finite loss"},
		"no eta":           {masked, func(r *Release) { mask(r).Eta = 0 }, "a mask of finite loss"},
		"kind":             {masked, func(r *Release) { mask(r).Kind = "parameters" }, "with eta alone"},
		"kind unknown":     {masked, func(r *Release) { mask(r).Kind = "other" }, "with eta alone"},
		"two etas":         {masked, func(r *Release) { mask(r).EtaMean = 1 }, "with eta alone"},
		"parameter eta":    {published, func(r *Release) { mask(r).EtaCov *= 1 - 1e-6 }, "that of its mask"},
		"components":       {published, func(r *Release) { mask(r).Components++ }, "that of its mask"},
		"pure raised":      {published, func(r *Release) { r.Certificate.Plan[1].Pure *= 1 + 1e-6 }, "that of its mask or pure loss"},
		"pure negative":    {published, func(r *Release) { r.Certificate.Plan[1].Pure = -1 }, "pure in (0,"},
		"pure infinite":    {published, func(r *Release) { r.Certificate.Plan[1].Pure = math.Inf(1) }, "pure in (0,"},
		"pure and mask":    {published, func(r *Release) { r.Certificate.Plan[2].Pure = .2 }, "either mask or pure"},
		"divergence raised": {masked, func(r *Release) {
			for order := range r.Certificate.Plan[1].Renyi {
				r.Certificate.Plan[1].Renyi[order] *= 1 + 1e-6
			}
		}, "that of its mask"},
		"an order that nobody knows": {masked, func(r *Release) { r.Certificate.Plan[1].Renyi["2.2"] = 0 }, "at which its curve is known"},
		"no divergences":             {masked, func(r *Release) { r.Certificate.Plan[1].Renyi = nil }, "at least one order"},
		"a mu of its own":            {masked, func(r *Release) { r.Certificate.Plan[1].Mu = .1 }, "either it, or"},
		"two masks":                  {masked, func(r *Release) { r.Certificate.Plan[1].Count = 2 }, "got 1 and 2"},
		"the mask taken out": {masked, func(r *Release) {
			r.Certificate.Plan = append(r.Certificate.Plan[:1], r.Certificate.Plan[2])
			r.Certificate.Spent.Rho = r.Certificate.Spent.Mu * r.Certificate.Spent.Mu / 2 * (1 + 1e-9)
		}, "got 1 and 0"},
		"the test taken out":         {masked, func(r *Release) { r.Certificate.Plan = r.Certificate.Plan[1:] }, "got 0 and 1"},
		"delta of the test gone":     {masked, func(r *Release) { r.Certificate.Plan[0].Delta = 0 }, "where blocks do not agree"},
		"delta of the pure one gone": {published, func(r *Release) { r.Certificate.Plan[1].Delta = 0 }, "where blocks do not agree"},
		"a mask under another name":  {masked, func(r *Release) { r.Certificate.Plan[1].Query = "count" }, "which have masks"},
		"another's mask":             {masked, func(r *Release) { r.Certificate.Plan[1].Query = QueryPopular }, "kind"},
		"fewer dimensions": {masked, func(r *Release) {
			mask(r).Dimension--
			if err := r.Certificate.Complete(); err != nil {
				t.Fatal(err)
			}
		}, "of dimension 3"},
		"a larger mask and its curve": {masked, func(r *Release) {
			mask(r).Gamma *= 1.01
			if err := r.Certificate.Complete(); err != nil {
				t.Fatal(err)
			}
		}, "spent.epsilon: want at least"},
		"delta of the test raised":  {masked, func(r *Release) { r.Certificate.Plan[0].Delta *= 1.1 }, "spent.epsilon: want at least"},
		"delta of the test too big": {masked, func(r *Release) { r.Certificate.Plan[0].Delta = 1e-6 }, "spent.delta: want more"},
		"a learner without a name":  {masked, func(r *Release) { r.Certificate.Learner.Name = "" }, "certificate.learner.name"},
		"all trimmed":               {masked, func(r *Release) { r.Certificate.Learner.Trim = 1 }, "certificate.learner.trim"},
		"trim NaN":                  {masked, func(r *Release) { r.Certificate.Learner.Trim = math.NaN() }, "certificate.learner.trim"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.make(t)
			c.alter(r)
			if text := errors.Join(Verify(r)...); text == nil || !strings.Contains(text.Error(), c.want) {
				t.Errorf("got %v, want %q in it", text, c.want)
			}
		})
	}
}

// The order that decides is stated, whichever it is.
func TestCompleteStatesWhatDecides(t *testing.T) {
	r := masked(t)
	sum := r.Certificate.planTotals()
	order, _ := sum.deciding(r.Certificate.Spent.Delta - sum.delta)
	if _, stated := r.Certificate.Plan[1].Renyi[strconv.FormatFloat(order, 'g', -1, 64)]; !stated {
		t.Errorf("order %v is not among %v", order, r.Certificate.Plan[1].Renyi)
	}
	r.Certificate.Plan[1].Mask.Eta = math.NaN()
	if err := r.Certificate.Complete(); err == nil || !strings.Contains(err.Error(), `step "mask"`) {
		t.Errorf("an invalid mask: %v", err)
	}
}
