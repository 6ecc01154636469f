package own_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/examples/own"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// drift is a table of n moves in two columns: noise, and half of its size towards 30 degrees.
func drift(t *testing.T, n int) *kernel.Table {
	t.Helper()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{math.Cos(math.Pi/6) + 2*rand.NormFloat64(), .5 + 2*rand.NormFloat64()}
	}
	in, err := gauze.FromRows(rows, source.Column{Name: "east"}, source.Column{Name: "north"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDirections: a space of one's own is planned, charged and certified; its release says who
// answers for it, and is the direction.
func TestDirections(t *testing.T) {
	d := own.Directions{Spread: .09}
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 8, Delta: 1e-6}, Columns: gauze.Named("east", "north"), Components: 1, Estimator: d}
	result, err := gauze.Fit(context.Background(), drift(t, 600_000), r)
	if err != nil || result.Release == nil || result.Release.Model == nil {
		t.Fatalf("%v, %+v", err, result)
	}
	g := result.Release.Model.Components[0]
	off, noise := math.Hypot(g.Mean[0]-math.Cos(math.Pi/6), g.Mean[1]-.5), math.Sqrt(g.Cov.At(0, 0))
	if off > 7*noise || noise > .3 || math.Hypot(g.Mean[0], g.Mean[1]) > 1+1e-9 { // one in 4e10
		t.Errorf("the direction %v is off by %.2f, noise %.2f", g.Mean, off, noise)
	}
	v := gauze.Verify(result.Release)
	if v.Faults != nil || !strings.Contains(strings.Join(v.Exceptions, "; "), "the distance and the mask of its popular estimate are not part of Gauze") {
		t.Errorf("%+v", v)
	}
	if v := gauze.VerifyOwn(result.Release, d); v.Faults != nil || !v.Replanned {
		t.Errorf("with its estimator: %+v", v)
	}
	for _, s := range result.Release.Certificate.Plan {
		if s.Mu > 0 && strings.Contains(s.Query, "author") {
			result.Release.Certificate.Plan[len(result.Release.Certificate.Plan)-1].Sensitivity /= 2
		}
	}
	if v := gauze.Verify(result.Release); v.Faults == nil {
		t.Error("half of what the mask is said to cover is believed")
	}
}

// TestSphere searches what the author of the space answers for: distances are symmetric, those of
// friends add to one that is covered, and masks of what is covered are shifted by no more.
func TestSphere(t *testing.T) {
	s := own.Sphere{Grid: 64, Covers: 24, Mu: 1}
	estimate := func() []blocks.Component {
		return []blocks.Component{{Mean: []float64{rand.NormFloat64(), rand.NormFloat64(), .3 * rand.NormFloat64()}, Root: make([]float64, 9)}}
	}
	near := func(y []blocks.Component) []blocks.Component {
		out := estimate()
		for i := range out[0].Mean {
			out[0].Mean[i] = y[0].Mean[i] + .1*out[0].Mean[i]
		}
		return out
	}
	exact := func(float64) int64 { return 0 }
	pairs, most := 0, 0.0
	for range 200_000 {
		b := estimate()
		a, c := near(b), near(b)
		if s.Distance(a, b) != s.Distance(b, a) {
			t.Fatalf("%v and %v", a, b)
		}
		if s.Distance(a, b) > 12 || s.Distance(b, c) > 12 {
			continue
		}
		pairs++
		shift := 0.0
		for i, v := range s.Mask(a, exact)[0].Mean {
			shift = math.Hypot(shift, v-s.Mask(c, exact)[0].Mean[i])
		}
		if most = math.Max(most, shift); shift > 24 || s.Distance(a, c) > 24 {
			t.Fatalf("%v, %v and %v: %v apart, shifted by %v", a, b, c, s.Distance(a, c), shift)
		}
	}
	if pairs < 10_000 || most < 20 {
		t.Errorf("%d pairs of friends, shifted by up to %v: the search sees too little", pairs, most)
	}
	none := []blocks.Component{{Mean: []float64{0, 0, 0}, Root: make([]float64, 9)}}
	if d := s.Distance(none, none); !math.IsNaN(d) {
		t.Errorf("no direction is %v from itself", d)
	}
}
