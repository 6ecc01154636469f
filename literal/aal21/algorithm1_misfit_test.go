package aal21

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// What the released bins say of a mixture: little of the rows' own, also where a third of the rows
// has no value, and much of others, at most their total variation and a half of it at least.
// Rows and noise are random: noise and sampling make .01 here, and five times that is wanted.
func TestApart(t *testing.T) {
	rng := newRand(t)
	for i := range 6 {
		rel := relations[i%2]
		truth := lineOf(t, [3]float64{.5, 0, 1}, [3]float64{.5, 12 * float64(1+i), 1 + rng.Float64()})
		rows := sample(t, rng, truth, 6000)
		if i >= 4 {
			for j := range 2000 {
				rows[j][0] = math.NaN()
			}
		}
		c := trial{rows: rows, d: 1, k: 2, eps: 10, relation: rel, noise: kerneltest.Options{Seed: rng.Uint64()}}
		r, mu2 := c.alone(t, Practical())
		l, err := axisAligned{Practical()}.Decode(c.sample(r, mu2))
		if err != nil {
			t.Fatal(err)
		}
		list := l.(decoded)
		if far, cells := list.apart(truth, r.rows); far > .05 || cells < 2 {
			t.Errorf("the truth is %v away on %d bins", far, cells)
		}
		if far, _ := list.apart(truth, 0); math.IsNaN(far) {
			t.Error("of a count of no rows the distance is NaN")
		}
		second := truth.Components[1].Mean[0]
		for name, other := range map[string][][3]float64{"one missing": {{1, 0, 1}}, "uneven": {{.9, 0, 1}, {.1, second, 1}}, "elsewhere": {{.5, 0, 1}, {.5, second + 8, 1}},
			"wide": {{.5, 0, 8}, {.5, second, 8}}} {
			wrong := lineOf(t, other...)
			tv := variation(t, truth, wrong)
			if far, _ := list.apart(wrong, r.rows); far > tv+.05 || far < tv/2 {
				t.Errorf("%s, case %d: %v away, total variation %v", name, i, far, tv)
			}
		}
	}
}

// A release says what was measured of its distance from the rows: that it is small; that the model
// is not to be used, where one component is asked of rows of two; that nothing was, where delta is
// 0 and no bins were released.
func TestReleaseTellsItsDistance(t *testing.T) {
	rng := newRand(t)
	constants := Practical()
	constants.MostGaussians, constants.MostMixtures = 1500, 60000
	for _, x := range []struct {
		parts [][3]float64
		k     int
		pure  bool
		want  string
	}{
		{[][3]float64{{.5, -8, 1}, {.5, 8, 1}}, 2, false, "beyond noise"},
		{[][3]float64{{.5, -8, 1}, {.5, 8, 1}}, 1, false, "do not use this model"},
		{[][3]float64{{1, 0, 1}}, 1, true, "nothing that was measured says"},
	} {
		rows := sample(t, rng, lineOf(t, x.parts...), 4000)
		var f estimatetest.Fit
		if x.pure {
			f = estimatetest.RunChecked(t, New(constants), estimatetest.Case{Rows: rows, Columns: 1, Relation: privacy.ReplaceOne, Components: 1, Epsilon: 2, Facts: within(3, .5, 2)})
		} else {
			f = trial{rows: rows, d: 1, k: x.k, eps: 20, relation: privacy.ReplaceOne, noise: kerneltest.Options{Seed: rng.Uint64()}}.fit(t, New(constants))
		}
		if f.Model == nil {
			t.Errorf("%v: %v %v", x.parts, f.Refused, f.NoRelease)
			continue
		}
		if told := strings.Join(flags.Texts(f.Diagnostics.Flags), "\n"); !strings.Contains(told, x.want) {
			t.Errorf("%d of %v: no %q in\n%s", x.k, x.parts, x.want, told)
		}
	}
}
