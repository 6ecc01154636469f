package kssu19

import (
	"testing"

	"github.com/gauze-dp/gauze/kernel/kerneltest"
)

// Components that were not told apart are not released as one, at means 20 sds apart, where the
// printed slack at epsilon 10^7 asks for more: their number says it where it is given, and a known
// sigma_max where it is not. With neither, the one component says in its conditions what it is. At
// 80 sds both are found.
func TestMergedComponentsAreNotReleased(t *testing.T) {
	told := Printed()
	told.SigmaMin, told.SigmaMax, told.LeastWeight = .7, 1.4, .25
	for _, c := range []struct {
		name     string
		c        Constants
		k, sep   int
		released int
	}{{"number given", Printed(), 2, 14, 0}, {"sigma given", told, 0, 14, 0}, {"both, and apart", told, 2, 57, 2}, {"neither", Printed(), 0, 14, 1}} {
		x := trial{rows: blobs(4, 4000, corners(2, 3, float64(c.sep), 0), 1), d: 3, k: c.k, eps: 1e7, noise: kerneltest.Options{Seed: 1}}
		p := x.problem()
		p.MaxComponents = 2
		e := NewPaper(c.c)
		plan, err := e.Plan(p)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		f := x.follow(t, e, plan, p)
		if k := 0; f.Model != nil {
			k = len(f.Model.Components)
			if t.Logf("%s: %d components", c.name, k); k != c.released {
				t.Errorf("%s: %d components released, want %d", c.name, k, c.released)
			}
		} else if c.released > 0 {
			t.Errorf("%s: %+v", c.name, f.NoRelease)
		}
	}
}
