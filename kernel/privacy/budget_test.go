package privacy

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestRelation(t *testing.T) {
	for _, r := range []Relation{ReplaceOne, AddRemoveOne} {
		got, err := ParseRelation(r.String())
		if err != nil || got != r || !r.Valid() {
			t.Errorf("%v reads back as %v, %v", r, got, err)
		}
	}
	if ReplaceOne.String() != "replace-one" || AddRemoveOne.String() != "add-remove-one" {
		t.Error("the words changed")
	}
	for _, s := range []string{"", "Replace-one", "bounded", "Relation(0)"} {
		if r, err := ParseRelation(s); err == nil || r.Valid() {
			t.Errorf("%q was read as %v", s, r)
		}
	}
	var zero Relation
	if zero.Valid() {
		t.Error("the zero Relation is valid")
	}
}

// fields lists the fields that err finds fault with, in order.
func fields(err error) (names []string) {
	var f *FieldError
	switch e := err.(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			names = append(names, fields(one)...)
		}
	default:
		if !errors.As(err, &f) || f.Field == "" || f.Wanted == "" || f.Got == "" || f.Fix == "" {
			return []string{"not a complete FieldError: " + err.Error()}
		}
		names = append(names, f.Field)
	}
	return names
}

func TestBudgetValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		b    Budget
		want string
	}{
		{Budget{Epsilon: 1, Delta: 1e-6}, ""},
		{Budget{Epsilon: 1e6, Delta: 1e-6}, ""},
		{Budget{Epsilon: 1e7, Delta: 1e-300}, ""},
		{Budget{Epsilon: 1e-6, Delta: .999}, ""},
		{Budget{Rho: .5}, ""},
		{Budget{}, "epsilon delta"},
		{Budget{Epsilon: 1}, ""}, // pure
		{Budget{Epsilon: -1}, "epsilon"},
		{Budget{Epsilon: nan}, "epsilon"},
		{Budget{Delta: .1}, "epsilon"},
		{Budget{Epsilon: -1, Delta: 1}, "epsilon delta"},
		{Budget{Epsilon: nan, Delta: nan}, "epsilon delta"},
		{Budget{Epsilon: inf, Delta: -1}, "epsilon delta"},
		{Budget{Epsilon: 1.1e7, Delta: 1e-301}, "epsilon delta"},
		{Budget{Rho: nan}, "rho"},
		{Budget{Rho: -1}, "rho"},
		{Budget{Rho: inf}, "rho"},
		{Budget{Epsilon: 1, Delta: 1e-6, Rho: .5}, "epsilon delta"},
		{Budget{Epsilon: 1, Delta: 1e-6, Rho: -1}, "rho epsilon delta"},
	} {
		if got := strings.Join(fields(c.b.Validate()), " "); got != c.want {
			t.Errorf("%v: faults %q, want %q", c.b, got, c.want)
		}
		if _, err := Calibrate(c.b, Needs{}); (err != nil) != (c.want != "") {
			t.Errorf("%v: Calibrate says %v", c.b, err)
		}
	}
}

// TestPureBudget: the cap is epsilon itself, what is spent is a sum of epsilons, and a plan with
// anything that is not pure is refused, as it is in part by a rho budget.
func TestPureBudget(t *testing.T) {
	for _, eps := range []float64{MinEpsilon, .1, 1, 20, MaxEpsilon} {
		b := Budget{Epsilon: eps}
		c, err := Calibrate(b, Needs{})
		if err != nil || !b.Pure() || c.PureCap != Epsilon(eps) || c.Cap != 0 || c.Mu != 0 || c.ThresholdDelta != 0 || !math.IsInf(c.LogSlack, -1) {
			t.Fatalf("%v: %+v, %v", b, c, err)
		}
		f := NewFilter(c)
		for range 7 {
			if err := f.SpendPure(Epsilon(eps / 8)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.SpendPure(f.LeftPure()); err != nil || f.LeftPure() != 0 || f.SpendPure(MinEpsilon*1e-3) == nil || f.Spend(1e-300) == nil || f.SpendThreshold(1e-300) == nil {
			t.Errorf("%v: left %v, %v", b, f.LeftPure(), err)
		}
		if l := c.Loss(f.Spent()); l.Epsilon > eps || l.Epsilon < eps*(1-1e-15) || l.Delta != 0 || l.Mu != 0 || l.Rho != 0 {
			t.Errorf("%v: %+v", b, l)
		}
		if !panics(func() { c.Loss(0, Epsilon(up(eps)), 0) }) || !panics(func() { c.Loss(1e-300, 0, 0) }) || !panics(func() { c.Loss(0, 0, 1e-300) }) {
			t.Errorf("%v: more than it was spent", b)
		}
	}
	for _, needs := range []Needs{{Impure: true}, {Thresholds: true}, {AddedDelta: 1e-9}, {AddedDelta: math.NaN()}, {Extra: GaussianCurve(.1)}} {
		if _, err := Calibrate(Budget{Epsilon: 1}, needs); strings.Join(fields(err), " ") != "delta" {
			t.Errorf("%+v: %v", needs, err)
		}
	}
	if _, err := Calibrate(Budget{Rho: 1}, Needs{Impure: true}); err != nil {
		t.Errorf("a rho budget pays for Gaussian noise: %v", err)
	}
	for _, b := range []Budget{{}, {Epsilon: 1, Delta: 1e-6}, {Rho: 1}, {Delta: .1}, {Epsilon: 1, Rho: 1}, {Epsilon: 1, Delta: -1}} {
		if b.Pure() {
			t.Errorf("%v is pure", b)
		}
	}
}

func TestCalibrate(t *testing.T) {
	for _, eps := range []float64{1e-6, .1, 1, 8, 100, 1e4, 1e6, 1e7} {
		for _, delta := range []float64{1e-300, 1e-12, 1e-6, .1} {
			plain, err := Calibrate(Budget{Epsilon: eps, Delta: delta}, Needs{})
			if err != nil || !math.IsInf(plain.LogSlack, -1) || plain.ThresholdDelta != 0 {
				t.Fatalf("(%g, %g): %+v, %v", eps, delta, plain, err)
			}
			below(t, "μ", []float64{eps, delta}, plain.Mu, MuOf(eps, delta), 0)
			c, err := Calibrate(Budget{Epsilon: eps, Delta: delta}, Needs{Thresholds: true, AddedDelta: delta / 10})
			if err != nil {
				t.Fatal(err)
			}
			// delta_GDP + (1+e^epsilon) s + added <= delta, and nearly all of it is used.
			slack := math.Exp(c.LogSlack + softplus(eps))
			total := DeltaOfMu(eps, c.Mu) + slack + delta/10
			if total > delta*(1+1e-15) || total < delta*(1-1e-9-1e-14*eps) || math.Abs(slack/(.05*delta)-1) > 1e-9+1e-14*eps {
				t.Errorf("(%g, %g): uses δ = %g, thresholds %g", eps, delta, total, slack)
			}
			if s := math.Exp(c.LogSlack); (1+math.Exp(eps))*s > .05*delta*(1+1e-12) {
				t.Errorf("(%g, %g): slack %g is too much", eps, delta, s)
			}
			if !(c.Cap <= Mu2(c.Mu*c.Mu) && c.Cap > Mu2(c.Mu*c.Mu*(1-1e-15)) && c.Mu < plain.Mu) {
				t.Errorf("(%g, %g): μ %g, μ² %g, without thresholds %g", eps, delta, c.Mu, c.Cap, plain.Mu)
			}
			full := c.Loss(c.Cap, 0, c.ThresholdDelta)
			if full.Epsilon > eps || full.Epsilon < eps*(1-1e-9) || full.Delta != delta || full.Mu > c.Mu || full.Rho > RhoOfMu(c.Mu) {
				t.Errorf("(%g, %g): a full run reports %+v", eps, delta, full)
			}
			if half := c.Loss(c.Cap/2, 0, 0); !(half.Epsilon < eps) {
				t.Errorf("(%g, %g): half a run reports %+v", eps, delta, half)
			}
			if !panics(func() { c.Loss(Mu2(up(float64(c.Cap))), 0, 0) }) || !panics(func() { c.Loss(0, 1e-300, 0) }) || !panics(func() { c.Loss(0, 0, up(c.ThresholdDelta)) }) {
				t.Error("a loss beyond the calibration was converted")
			}
		}
	}
}

func TestCalibrateConcentrated(t *testing.T) {
	b := Budget{Rho: .5}
	c, err := Calibrate(b, Needs{})
	if err != nil || c.Mu != 1 || c.Cap != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if got := c.Loss(c.Cap, 0, 0); got != (Loss{Mu: 1, Rho: .5}) {
		t.Errorf("loss %+v", got)
	}
	_, err = Calibrate(b, Needs{Thresholds: true, AddedDelta: 1e-9, Extra: GaussianCurve(0)})
	if got := strings.Join(fields(err), " "); got != "rho rho rho" {
		t.Errorf("faults %q", got)
	}
	for _, rho := range []float64{1e-12, .3, 7, 1e7} {
		if c, err := Calibrate(Budget{Rho: rho}, Needs{}); err != nil || RhoOfMu(c.Mu) > up(rho) || float64(c.Cap)/2 > rho {
			t.Errorf("ρ = %g: %+v, %v", rho, c, err)
		}
	}
	for _, added := range []float64{-1, math.NaN(), 1e-6, math.Inf(1)} {
		if _, err := Calibrate(Budget{Epsilon: 1, Delta: 1e-6}, Needs{AddedDelta: added}); fields(err) == nil {
			t.Errorf("added δ %g was accepted", added)
		}
	}
}

func TestCalibrateExtra(t *testing.T) {
	b := Budget{Epsilon: 1, Delta: 1e-6}
	// A curve of no loss costs nothing but the exact conversion: .2207 instead of .2367.
	c, err := Calibrate(b, Needs{Extra: GaussianCurve(0)})
	if err != nil || math.Abs(c.Mu-.2207) > 1e-4 {
		t.Fatalf("%+v, %v", c.Mu, err)
	}
	// A Gaussian curve and the mu left beside it add up to the same total.
	d, err := Calibrate(b, Needs{Extra: GaussianCurve(.15)})
	if err != nil || math.Abs(math.Hypot(d.Mu, .15)-c.Mu) > 1e-9 {
		t.Errorf("μ %g beside .15, want a total of %g: %v", d.Mu, c.Mu, err)
	}
	extra := CurveOf(func(a float64) float64 { return math.Min(.3, a*.3*.3/2) }) // of a pure loss of .3
	e, err := Calibrate(b, Needs{Extra: extra, Thresholds: true})
	if err != nil {
		t.Fatal(err)
	}
	left := SubDown(b.Delta, e.ThresholdDelta)
	if got := extra.Compose(GaussianCurve(e.Mu)).Epsilon(left); got > 1 || got < 1-1e-9 {
		t.Errorf("ε = %g, want just below 1", got)
	}
	if got := e.Loss(e.Cap, 0, e.ThresholdDelta); got.Epsilon > 1 || got.Epsilon < 1-1e-9 || got.Rho != 0 {
		t.Errorf("loss %+v", got)
	}
	if _, err := Calibrate(b, Needs{Extra: GaussianCurve(1)}); strings.Join(fields(err), " ") != "epsilon" {
		t.Errorf("an extra loss beyond the budget: %v", err)
	}
}

// Whatever is asked, what a filter granted never exceeds the cap, a refusal spends nothing, and
// what is left can be spent.
func TestFilterNeverExceedsItsCap(t *testing.T) {
	r := generator()
	for range 300 {
		limit := logUniform(r, 1e-12, 1e6)
		f := NewFilter(Calibration{Cap: Mu2(limit)})
		granted := newExact()
		for range 1 + r.IntN(60) {
			ask := limit * logUniform(r, 1e-6, 2)
			switch r.IntN(6) {
			case 0:
				ask = float64(f.Left())
			case 1:
				ask = up(float64(f.Left()))
			case 2:
				ask = 0
			}
			before, left := f.gauss.total(), float64(f.Left())
			err := f.Spend(Mu2(ask))
			if err == nil {
				granted.add(ask)
			} else if o := new(OverspendError); !errors.As(err, &o) || o.Requested != ask || o.Left != left || f.gauss.total() != before {
				t.Fatalf("refusal of %g: %v", ask, err)
			}
			if (err == nil) != (ask <= left) {
				t.Errorf("asked %g with %g left: %v", ask, left, err)
			}
			if granted.over(limit) || f.Left() < 0 || granted.over(float64(f.gauss.total())) {
				t.Fatalf("more than %g was granted", limit)
			}
		}
		if err := f.Spend(f.Left()); err != nil {
			t.Errorf("what is left was refused: %v", err)
		}
		if float64(f.Left()) > limit*1e-15 {
			t.Errorf("%g of %g is left after spending it", f.Left(), limit)
		}
	}
}

func TestFilterOrderDoesNotMatter(t *testing.T) {
	r := generator()
	for range 100 {
		asks := make([]float64, 50)
		for i := range asks {
			asks[i] = logUniform(r, 1e-9, 1)
		}
		var totals []float64
		for range 4 {
			f := NewFilter(Calibration{Cap: 1e3})
			for _, a := range asks {
				if err := f.Spend(Mu2(a)); err != nil {
					t.Fatal(err)
				}
			}
			spent, _, _ := f.Spent()
			totals = append(totals, float64(spent))
			r.Shuffle(len(asks), func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
		}
		if slices.Max(totals) > slices.Min(totals)*(1+50*0x1p-52) {
			t.Errorf("totals differ by order: %v", totals)
		}
	}
}

func TestFilterAccounts(t *testing.T) {
	f := NewFilter(Calibration{Cap: 1, ThresholdDelta: 1e-7})
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := errors.Join(f.Spend(Mu2(bad)), f.SpendPure(Epsilon(bad))); !errors.Is(err, ErrInvalidLoss) {
			t.Errorf("Spend(%g): %v", bad, err)
		}
		if err := f.SpendThreshold(bad); !errors.Is(err, ErrInvalidLoss) {
			t.Errorf("SpendThreshold(%g): %v", bad, err)
		}
	}
	if f.SpendThreshold(6e-8) != nil || f.SpendThreshold(6e-8) == nil || f.SpendPure(1e-300) == nil || f.Left() != 1 {
		t.Error("the threshold account is not kept apart, or not kept")
	}
	if got := f.threshold.left(); math.Abs(got-4e-8) > 1e-20 {
		t.Errorf("threshold left %g", got)
	}
	if new(Filter).Spend(1e-300) == nil || new(Filter).Spend(0) != nil {
		t.Error("the zero Filter must refuse all but nothing")
	}
}

func TestFilterConcurrent(t *testing.T) {
	f := NewFilter(Calibration{Cap: 100})
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if f.Spend(1) == nil {
					mu.Lock()
					granted++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if granted != 100 {
		t.Errorf("%d of 100 were granted", granted)
	}
}
