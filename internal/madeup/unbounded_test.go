package madeup

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// unboundeds are some of every arrangement.
var unboundeds = []Unbounded{
	{Columns: 1, Components: 1}, {Columns: 1, Components: 8, Arrangement: Apart}, {Columns: 1, Components: 3, Arrangement: Apart, Weights: []float64{.6, .3, .1}},
	{Columns: 1, Components: 3, Arrangement: Overlapping}, {Columns: 1, Components: 3, Arrangement: Nested},
	{Columns: 2, Components: 3, Arrangement: Apart}, {Columns: 8, Components: 4, Arrangement: Apart},
	{Columns: 2, Components: 2, Arrangement: Crossing}, {Columns: 2, Components: 2, Arrangement: Parallel}, {Columns: 3, Components: 3, Arrangement: Rotated},
}

// sd is a component's standard deviation in a column.
func sd(g model.Gaussian, j int) float64 { return math.Sqrt(g.Cov.At(j, j)) }

// apartIn says how many standard deviations of the wider one two components are apart in the column
// where that is most.
func apartIn(a, b model.Gaussian) float64 {
	far := 0.0
	for j := range a.Mean {
		far = max(far, math.Abs(a.Mean[j]-b.Mean[j])/max(sd(a, j), sd(b, j)))
	}
	return far
}

func TestUnboundedArrangements(t *testing.T) {
	for _, u := range unboundeds {
		scales := []float64{}
		for seed := range uint64(40) {
			m, err := u.Truth(seed)
			if err != nil {
				t.Fatalf("%+v: %v", u, err)
			}
			if len(m.Components) != u.Components || m.Dim() != u.Columns {
				t.Fatalf("%+v: %d components in %d columns", u, len(m.Components), m.Dim())
			}
			for i, g := range m.Components {
				for j := range g.Mean {
					if !(math.Abs(g.Mean[j]) <= 1.001*resolution*sd(g, j)) {
						t.Errorf("%+v seed %d: mean %v is too far out for a standard deviation of %v", u, seed, g.Mean[j], sd(g, j))
					}
				}
				for _, h := range m.Components[:i] {
					if far := apartIn(g, h); u.Arrangement == Apart && far < .999*nearestApart {
						t.Errorf("%+v seed %d: two components are %v standard deviations apart", u, seed, far)
					}
				}
			}
			u.checkTogether(t, m, seed)
			scales = append(scales, sd(m.Components[0], 0))
		}
		slices.Sort(scales)
		if scales[30]/scales[10] < 100 {
			t.Errorf("%+v: half of the scales lie between %v and %v", u, scales[10], scales[30])
		}
	}
}

// checkTogether checks what is fixed about components that are not apart.
func (u Unbounded) checkTogether(t *testing.T, m *model.Mixture, seed uint64) {
	for i, g := range m.Components {
		if i == 0 {
			continue
		}
		h := m.Components[i-1]
		wide, narrow := max(sd(g, 0), sd(h, 0)), min(sd(g, 0), sd(h, 0))
		far := (g.Mean[0] - h.Mean[0]) / math.Hypot(wide, narrow) * math.Sqrt2
		switch u.Arrangement {
		case Overlapping:
			if wide > 3.001*narrow || far < 1.99 || far > 4.01 {
				t.Errorf("%+v seed %d: neighbours of %v and %v are %v apart", u, seed, narrow, wide, far)
			}
		case Nested:
			if far != 0 || wide < 9.99*narrow {
				t.Errorf("%+v seed %d: %v in %v, %v apart", u, seed, narrow, wide, far)
			}
		}
	}
}

// A mixture of a seed is the same for all numbers of rows, and longer tables begin with shorter
// ones.
func TestUnboundedDraw(t *testing.T) {
	for _, u := range unboundeds {
		short, err := u.Draw(5, 50)
		if err != nil {
			t.Fatal(err)
		}
		long, err := u.Draw(5, 100)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if !slices.Equal(short.Rows.RawRowView(i), long.Rows.RawRowView(i)) {
				t.Fatalf("%+v: row %d depends on their number", u, i)
			}
		}
	}
	for name := range printed {
		if _, err := (Unbounded{Printed: name}).Draw(1, 10); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, u := range []Unbounded{{}, {Columns: 1}, {Columns: 1, Components: 2, Weights: []float64{1}}, {Printed: "no"}} {
		if _, err := u.Draw(1, 10); err == nil {
			t.Errorf("%+v: no error", u)
		}
	}
}

// one is a Gaussian in one column.
func one(t *testing.T, parts ...[3]float64) *model.Mixture {
	t.Helper()
	var w []float64
	var gs []model.Gaussian
	for _, p := range parts {
		cov, err := model.NewDiagonal([]float64{p[2] * p[2]})
		if err != nil {
			t.Fatal(err)
		}
		w, gs = append(w, p[0]), append(gs, model.Gaussian{Mean: []float64{p[1]}, Cov: cov})
	}
	m, err := model.New(nil, w, gs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTotalVariation(t *testing.T) {
	phi := func(x float64) float64 { return .5 * math.Erfc(-x/math.Sqrt2) }
	// Two Gaussians of one mean cross where z^2 (1 - 1/r^2) = 2 ln r.
	scaled := func(r float64) float64 {
		z := math.Sqrt(2 * math.Log(r) / (1 - 1/(r*r)))
		return 2 * (phi(z) - phi(z/r))
	}
	for _, c := range []struct {
		name string
		a, b *model.Mixture
		want float64
	}{
		{"equal", one(t, [3]float64{1, 3, 2}), one(t, [3]float64{1, 3, 2}), 0},
		{"shifted", one(t, [3]float64{1, 0, 1}), one(t, [3]float64{1, .5, 1}), 2*phi(.25) - 1},
		{"shifted far out", one(t, [3]float64{1, 1e12, 1e-2}), one(t, [3]float64{1, 1e12 + 1./128, 1e-2}), 2*phi(100./256) - 1},
		{"apart", one(t, [3]float64{1, 0, 1e-9}), one(t, [3]float64{1, 1, 1e-9}), 1},
		{"wider", one(t, [3]float64{1, 7, 1}), one(t, [3]float64{1, 7, 3}), scaled(3)},
		{"very much wider", one(t, [3]float64{1, 7, 1e-6}), one(t, [3]float64{1, 7, 1e6}), 1},
		{"weights", one(t, [3]float64{.5, 0, 1}, [3]float64{.5, 1e9, 1e-3}), one(t, [3]float64{.3, 0, 1}, [3]float64{.7, 1e9, 1e-3}), .2},
		{"an atom", one(t, [3]float64{.8, 0, 1}, [3]float64{.2, 0, 0}), one(t, [3]float64{1, 0, 1}), .2},
	} {
		got, err := TotalVariation(c.a, c.b, 100)
		back, _ := TotalVariation(c.b, c.a, 100)
		if err != nil || math.Abs(got-c.want) > 2e-4 || math.Abs(got-back) > 1e-9 {
			t.Errorf("%s: %v and %v (%v), want %v", c.name, got, back, err, c.want)
		}
	}
}

// EM from the truth is the maximum likelihood estimate for one component, and loses no digits far
// from 0.
func TestReferenceFarOut(t *testing.T) {
	in, err := drawn(one(t, [3]float64{.2, 0, 1}, [3]float64{.2, 1e6, 1e-3}, [3]float64{.2, -1e9, 1e4}, [3]float64{.2, 6, 1}, [3]float64{.2, 1e12, 1e-2}), 1, 5000)
	if err != nil {
		t.Fatal(err)
	}
	m, err := in.Reference(200)
	if err != nil {
		t.Fatal(err)
	}
	const last = 4 // N(1e12, 1e-2), far from all others
	sum, count := 0.0, 0.0
	for i, label := range in.Labels {
		if label == last {
			sum += in.Rows.At(i, 0) - 1e12
			count++
		}
	}
	square := 0.0
	for i, label := range in.Labels {
		if label == last {
			square += math.Pow(in.Rows.At(i, 0)-1e12-sum/count, 2)
		}
	}
	g := m.Components[last]
	// two units in the last place of 1e12
	if d := math.Abs(g.Mean[0] - 1e12 - sum/count); d > 1.3e-4 {
		t.Errorf("the mean is off by %v", d)
	}
	if r := g.Cov.At(0, 0) / (square / count); math.Abs(r-1) > 1e-3 {
		t.Errorf("the variance is %v of that of the rows", r)
	}
	// Of 1000 rows a component, the total variation of a fit is about .03 and above .1 in fewer
	// than 1 of 10^6 tables.
	if tv, err := TotalVariation(in.Truth, m, 0); err != nil || tv > .1 || tv == 0 {
		t.Errorf("total variation %v (%v)", tv, err)
	}
}
