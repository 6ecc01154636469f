package partition

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/parts/fit1d"
)

// at is a component of rows about a mean.
func at(rows, mean, sd float64) fit1d.Component {
	return fit1d.Component{Rows: rows, Origin: mean, SD: sd}
}

// clusters are those of components that are no atoms, by their means.
func clusters(cs ...fit1d.Component) []cluster { return cut(cs, make([]bool, len(cs))) }

func close(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// TestCutSideBySide: components far from each other are clusters of all that they reach; nearer
// ones share the line where their densities cross.
func TestCutSideBySide(t *testing.T) {
	far := clusters(at(500, 100, 2), at(1000, 0, 1))
	if len(far) != 2 || far[0].low != -reach || far[0].high != reach || far[1].low != 100-2*reach || far[1].high != 100+2*reach {
		t.Fatalf("far: %+v", far)
	}
	if c := far[1]; c.mass != 500 || c.mean != 100 || c.sd != 2 || c.gain != 0 {
		t.Errorf("far: %+v", c)
	}
	near := clusters(at(1000, 0, 1), at(500, 12, 3))
	if len(near) != 2 || near[0].high > near[1].low+1e-9 || !close(near[0].high, near[1].low, 1e-9) {
		t.Fatalf("near: %+v", near)
	}
	x := near[0].high
	if a, b := near[0].log(x), near[1].log(x); !close(a, b, 1e-6) || x < 0 || x > 12 {
		t.Errorf("the densities at the cut %v are e^%v and e^%v", x, a, b)
	}
	// The lighter one's share of the line is less than with equal weights.
	if lighter := clusters(at(1000, 0, 1), at(50, 12, 3)); len(lighter) != 2 || !(lighter[0].high > x) {
		t.Errorf("a lighter neighbour cuts at %+v, a heavy one at %v", lighter, x)
	}
}

// TestCutNested: a narrow component in a wide one is a cluster inside the other.
func TestCutNested(t *testing.T) {
	for _, mean := range []float64{0, 150, -200} {
		cs := clusters(at(1000, 0, 100), at(1000, mean, 1))
		if len(cs) != 2 {
			t.Fatalf("mean %v: %+v", mean, cs)
		}
		wide, narrow := cs[0], cs[1]
		if wide.sd < narrow.sd {
			wide, narrow = narrow, wide
		}
		if narrow.low != mean-reach || narrow.high != mean+reach || wide.low != -100*reach || wide.high != 100*reach {
			t.Errorf("mean %v: narrow %+v in wide %+v", mean, narrow, wide)
		}
	}
}

// TestCutOverlapping: components that cannot be told apart row by row are one cluster with their
// common moments; so is a chain of them.
func TestCutOverlapping(t *testing.T) {
	cs := clusters(at(1000, 0, 1), at(3000, 2, 1))
	if len(cs) != 1 {
		t.Fatalf("%+v", cs)
	}
	c := cs[0]
	sd := math.Sqrt(1 + .25*.75*4)
	if c.mass != 4000 || !close(c.mean, 1.5, 1e-12) || !close(c.sd, sd, 1e-12) || !close(c.gain, math.Log(sd), 1e-12) || c.low != -reach || c.high != 2+reach {
		t.Errorf("%+v, want sd %v", c, sd)
	}
	if cs := clusters(at(1, 0, 1), at(1, 4, 1), at(1, 2, 1), at(1, 6, 1)); len(cs) != 1 || cs[0].mass != 4 {
		t.Errorf("a chain: %+v", cs)
	}
	if cs := clusters(at(1000, 0, 1), at(1000, .5, 1.5), at(700, 40, 1)); len(cs) != 2 || cs[0].mass != 2000 || cs[1].mass != 700 {
		t.Errorf("two and one: %+v", cs)
	}
}

// TestCutAtoms: components of one value are clusters by themselves, wherever they lie.
func TestCutAtoms(t *testing.T) {
	cs := []fit1d.Component{at(1000, 0, 1), at(400, .25, pointSD(.25)), at(300, .25, 1)}
	out := cut(cs, []bool{false, true, false})
	if len(out) != 2 {
		t.Fatalf("%+v", out)
	}
	for _, c := range out {
		if c.atom != (c.mass == 400) || c.atom && (c.mean != .25 || !close(c.low, .25, 1e-16) || !close(c.high, .25, 1e-16)) {
			t.Errorf("%+v", c)
		}
	}
}

// TestCutIsCentred: far from the origin clusters are those at the origin, moved; in other units,
// too, they are the same.
func TestCutIsCentred(t *testing.T) {
	rng := newRand(t)
	for range 300 {
		var here, far, large, small []fit1d.Component
		for range 1 + rng.IntN(5) {
			c := fit1d.Component{Rows: 100 + 900*rng.Float64(), Offset: .2 * rng.NormFloat64(), SD: 1e-2 * math.Pow(10, rng.Float64())}
			here = append(here, c)
			c.Origin = 1e12
			far = append(far, c)
			c.Origin, c.Offset, c.SD = 0, math.Ldexp(c.Offset, 900), math.Ldexp(c.SD, 900)
			large = append(large, c)
			c.Offset, c.SD = math.Ldexp(c.Offset, -1800), math.Ldexp(c.SD, -1800)
			small = append(small, c)
		}
		want := clusters(here...)
		for name, o := range map[string]struct {
			cs           []cluster
			origin, unit float64
			tolerance    float64
			ofPlace      float64
		}{
			"at 1e12":      {clusters(far...), 1e12, 1, 1e-9, 5e-4},
			"times 2^900":  {clusters(large...), 0, 0x1p900, 1e-9, 1e-9},
			"times 2^-900": {clusters(small...), 0, 0x1p-900, 1e-9, 1e-9},
		} {
			if len(o.cs) != len(want) {
				t.Fatalf("%s: %d clusters, want %d", name, len(o.cs), len(want))
			}
			for i, w := range want {
				g := o.cs[i]
				if !close(g.mass, w.mass, 1e-9*w.mass) || !close(g.sd/o.unit, w.sd, o.tolerance*w.sd) || !close(g.gain, w.gain, 1e-8) {
					t.Errorf("%s: %+v, want %+v", name, g, w)
				}
				for j, v := range []float64{g.low, g.mean, g.high} {
					if !close((v-o.origin)/o.unit, []float64{w.low, w.mean, w.high}[j], o.ofPlace) {
						t.Errorf("%s: %v, want %+v", name, (v-o.origin)/o.unit, w)
					}
				}
			}
		}
	}
}

// TestCutLaws: clusters hold all rows, their means lie in their intervals, and two intervals are
// disjoint but for a narrow cluster in a wide one.
func TestCutLaws(t *testing.T) {
	rng := newRand(t)
	for range 2000 {
		var cs []fit1d.Component
		total := 0.0
		for range 1 + rng.IntN(6) {
			c := at(20+1000*rng.Float64(), 30*rng.NormFloat64(), math.Pow(10, 3*rng.Float64()-1))
			cs, total = append(cs, c), total+c.Rows
		}
		out := clusters(cs...)
		held := 0.0
		for i, a := range out {
			held += a.mass
			if !(a.low <= a.mean && a.mean <= a.high && a.low < a.high) || !(a.sd > 0) || a.gain < -1e-9 {
				t.Errorf("%+v of %+v", a, cs)
			}
			for _, b := range out[:i] {
				if a.low < b.high-1e-9 && b.low < a.high-1e-9 && !a.inside(b) && !b.inside(a) {
					t.Errorf("%+v and %+v overlap: %+v", a, b, cs)
				}
			}
		}
		if !close(held, total, 1e-9*total) {
			t.Errorf("clusters hold %v of %v rows", held, total)
		}
	}
}

// TestOverlap: the rows that two components have in common, against an integral, to 3 % of the
// lighter one's.
func TestOverlap(t *testing.T) {
	rng := newRand(t)
	for range 40 {
		a, b := at(200+800*rng.Float64(), 0, 1), at(200+800*rng.Float64(), 6*rng.Float64(), 1+2*rng.Float64())
		want, step := 0.0, .01
		for x := -40.0; x < 40; x += step {
			want += step * math.Min(density(a, x), density(b, x))
		}
		if got := overlap(a, b); !close(got, want, .03*math.Min(a.Rows, b.Rows)) || got != overlap(b, a) {
			t.Errorf("%+v, %+v: %v, want %v", a, b, got, want)
		}
	}
}

func density(c fit1d.Component, x float64) float64 {
	z := (x - c.Mean()) / c.SD
	return c.Rows / c.SD * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}
