package knowncov

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func ints(s string) (out []int) {
	for _, x := range strings.Split(s, ",") {
		v, _ := strconv.Atoi(x)
		out = append(out, v)
	}
	return
}

func TestMeasureTmp(t *testing.T) {
	if os.Getenv("KC_D") == "" {
		t.Skip()
	}
	runs, _ := strconv.Atoi(os.Getenv("KC_RUNS"))
	apart, _ := strconv.ParseFloat(os.Getenv("KC_APART"), 64)
	for _, d := range ints(os.Getenv("KC_D")) {
		for _, k := range ints(os.Getenv("KC_K")) {
			for _, per := range ints(os.Getenv("KC_N")) {
				n := per * k
				var tvs []float64
				good, none, wrongk := 0, 0, 0
				start := time.Now()
				for r := range runs {
					rng := rand.New(rand.NewPCG(uint64(1000*r+d), uint64(k)))
					in := draw(t, rng, d, k, apart, 1)
					rows := estimatetest.Draw(t, in.truth, n, rng)
					c := trial{rows: rows, known: in.known, eps: 1, relation: privacy.ReplaceOne, components: k, noise: kerneltest.Options{Fresh: true}}
					if os.Getenv("KC_AUTO") != "" {
						c.components = 0
					}
					f := c.fit(t)
					if f.Model == nil {
						none++
						tvs = append(tvs, 1)
						if os.Getenv("KC_V") != "" {
							fmt.Println(f.NoRelease, f.Refused)
						}
						continue
					}
					if f.Model.K() != k {
						wrongk++
					}
					tv, _ := estimatetest.TV(t, in.truth, f.Model, 20000, rng)
					tvs = append(tvs, tv)
					if tv < .15 {
						good++
					}
				}
				slices.Sort(tvs)
				fmt.Printf("d=%d k=%d n=%d apart=%g: median %.3f worst %.3f success %d/%d none %d wrong k %d  %.2fs per run\n", d, k, n, apart, tvs[len(tvs)/2], tvs[len(tvs)-1], good, runs, none, wrongk, time.Since(start).Seconds()/float64(runs))
			}
		}
	}
}
