package program

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

var shapes = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}

// withConstant is a table of four columns of which the second is constant, and a component of the
// other three.
func withConstant() (*Columns, component.Gaussian) {
	c := &Columns{All: 4, Rows: 1000, Units: columns.Units{Center: []float64{10, -3, 0, 1e9}, Scale: []float64{2, 1, 1e-9, 1024},
		Constant: []bool{false, true, false, false}, Unseen: 7}}
	c.Space = component.Space{Columns: []int{0, 2, 3}, Center: []float64{10, 0, 1e9}, Scale: []float64{2, 1e-9, 1024}}
	c.Notes.ConstantColumns = []int{1}
	return c, component.Gaussian{Weight: 1, Mean: []float64{.5, -1, 3}, Cov: mat.NewSymDense(3, []float64{2, .5, -.3, .5, 1, .2, -.3, .2, .7})}
}

// TestRawRoundTrip: what Raw gives, put back into working coordinates, is the component that was
// given, in the shape that was asked for; the constant column has its value and does not vary. It
// holds in the space of the units and in any other with the same columns.
func TestRawRoundTrip(t *testing.T) {
	c, g := withConstant()
	other := component.Space{Columns: c.Space.Columns, Center: []float64{-5, 1e-7, 3e9}, Scale: []float64{1, 1, 1}}
	for _, space := range []component.Space{c.Space, other} {
		for _, shape := range shapes {
			mean, cov, err := c.Raw(space, g, shape)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := model.New(nil, nil, []model.Gaussian{{Mean: mean, Cov: cov}}); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{true: "full", false: "diagonal"}[shape == estimate.Full]; cov.TypeName() != want {
				t.Errorf("%v: a %s covariance, want %s", shape, cov.TypeName(), want)
			}
			if mean[1] != -3 {
				t.Errorf("the constant column is at %v", mean[1])
			}
			for j := range 4 {
				if cov.At(1, j) != 0 || cov.At(j, 1) != 0 {
					t.Errorf("%v: the constant column has covariance %v with column %d", shape, cov.At(1, j), j)
				}
			}
			for i, j := range space.Columns {
				if back := (mean[j] - space.Center[i]) / space.Scale[i]; math.Abs(back-g.Mean[i]) > 1e-6 {
					t.Errorf("%v: mean %v in column %d is %v, want %v", shape, mean[j], j, back, g.Mean[i])
				}
				for k, l := range space.Columns {
					want := g.Cov.At(i, k)
					if shape != estimate.Full && i != k {
						want = 0
					}
					if back := cov.At(j, l) / space.Scale[i] / space.Scale[k]; math.Abs(back-want) > 1e-12 {
						t.Errorf("%v: covariance (%d, %d) is %v, want %v", shape, j, l, back, want)
					}
				}
			}
		}
	}
	if c.Units.Center[0] != 10 || g.Mean[0] != .5 {
		t.Error("Raw changed what it was given")
	}
}

// TestRawSpherical: it is spherical in the table if all columns vary.
func TestRawSpherical(t *testing.T) {
	c := &Columns{All: 2, Units: columns.Units{Center: []float64{1, 2}}}
	space := component.Space{Columns: []int{0, 1}, Center: []float64{1, 2}, Scale: []float64{3, 3}}
	g := component.Gaussian{Mean: []float64{1, -1}, Cov: mat.NewSymDense(2, []float64{.25, 0, 0, .25})}
	mean, cov, err := c.Raw(space, g, estimate.Spherical)
	if err != nil || mean[0] != 4 || mean[1] != -1 {
		t.Fatalf("mean %v, %v", mean, err)
	}
	if cov.TypeName() != "spherical" || cov.At(1, 1) != 9./4 || cov.Dim() != 2 {
		t.Errorf("covariance %#v", cov)
	}
}

// TestRawTooLarge: numbers that a model cannot hold are an error of every shape, for which there is
// an outcome.
func TestRawTooLarge(t *testing.T) {
	c, g := withConstant()
	space := component.Space{Columns: c.Space.Columns, Center: c.Space.Center, Scale: []float64{1, 1e300, 1}}
	for _, shape := range shapes {
		if _, cov, err := c.Raw(space, g, shape); err == nil {
			t.Errorf("%v: %v", shape, cov)
		}
	}
	c.Notes.Flags = []estimate.Flag{flags.New(flags.FewRows, "told before")}
	out := c.Outsize()
	if out.Model != nil || out.NoRelease == nil || out.NoRelease.Reason == "" || out.NoRelease.Advice == "" || len(out.Diagnostics.Flags) != 1 ||
		len(out.Diagnostics.ConstantColumns) != 1 {
		t.Errorf("%+v", out)
	}
}

// TestGrid: the variance of rounding to a declared unit, in working coordinates.
func TestGrid(t *testing.T) {
	space := component.Space{Columns: []int{0, 2, 3}, Scale: []float64{2, .5, 1}}
	for _, c := range []struct{ roundedTo, want []float64 }{
		{nil, []float64{0, 0, 0}},
		{[]float64{6, 100, 0, 1}, []float64{9. / 12, 0, 1. / 12}},
		{[]float64{0, 100, .5}, []float64{0, 1. / 12, 0}},
	} {
		for i, got := range (&Columns{Grids: fit1d.DeclaredGrids(c.roundedTo, 4)}).Grid(space) {
			if math.Abs(got-c.want[i]) > 1e-15 {
				t.Errorf("units %v: grid %v at %d, want %v", c.roundedTo, got, i, c.want[i])
			}
		}
	}
}

// TestConstant: a point, told to be one and how many rows may differ; or a reason, with the notes,
// for values beyond a model's numbers.
func TestConstant(t *testing.T) {
	c := &Columns{All: 2, Rows: 500, Units: columns.Units{Center: []float64{4, -1e100}, Constant: []bool{true, true}, Unseen: 23.4}}
	c.Notes = estimate.Diagnostics{ConstantColumns: []int{0, 1}, Flags: []estimate.Flag{flags.New(flags.FewRows, "told before")}}
	out, err := c.constant()
	if err != nil || out.NoRelease != nil || out.Model == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if err := out.Model.Validate(); err != nil {
		t.Fatal(err)
	}
	m, notes := out.Model, out.Diagnostics
	if len(m.Components) != 1 || m.Components[0].Mean[0] != 4 || m.Components[0].Mean[1] != -1e100 || m.Components[0].Cov.At(0, 0) != 0 || m.Components[0].Cov.At(1, 1) != 0 {
		t.Errorf("%+v", m)
	}
	if len(notes.Components) != 1 || notes.Components[0].EffectiveRows != 500 || len(notes.ConstantColumns) != 2 || len(notes.Flags) != 2 ||
		!strings.Contains(notes.Flags[1].Text, "about 23 rows") {
		t.Errorf("%+v", notes)
	}
	if len(c.Notes.Flags) != 1 || c.Notes.Components != nil {
		t.Errorf("the notes of the columns changed: %+v", c.Notes)
	}
	c.Units.Center[1] = 1e308
	if out, err = c.constant(); err != nil || out.Model != nil || out.NoRelease == nil || out.NoRelease.Advice == "" || len(out.Diagnostics.ConstantColumns) != 2 {
		t.Errorf("%+v, %v", out, err)
	}
}
