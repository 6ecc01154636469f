package unkind

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

// Every setting has constants of which at most one is not as it runs, every number among them is
// halved and doubled, and every mechanism left out once.
func TestSettings(t *testing.T) {
	for _, method := range tunables {
		usual, varied := reflect.ValueOf(method.usual), map[string]int{}
		constants := constantsOf(usual.Type())
		for _, s := range method.settings() {
			own, changed := reflect.ValueOf(s.constants), 0
			for _, c := range constants {
				if !own.FieldByIndex(c.Index).Equal(usual.FieldByIndex(c.Index)) {
					changed++
					varied[c.Name]++
				}
			}
			if changed > 1 || changed == 0 != strings.HasPrefix(s.name, asItRuns) {
				t.Errorf("%s, %s: %d constants are changed", method.method, s.name, changed)
			}
		}
		for _, c := range constants {
			if want := len(factors); varied[c.Name] != want && (c.Type.Kind() != reflect.Bool || varied[c.Name] != 1) {
				t.Errorf("%s: %s is varied %d times", method.method, c.Name, varied[c.Name])
			}
		}
	}
}

// An ablation of a few families ends in a table with a line for each setting, of the same tables.
func TestAblate(t *testing.T) {
	var out bytes.Buffer
	o := enginetest.Options(t)
	o.Stdout, o.Out, o.Only, o.Rows, o.Runs = &out, "", []string{"one/gaussian"}, []int{2000}, 1
	if err := Ablations.Run(context.Background(), o, []string{"gaussian"}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"| as it runs | 3 ", "| as it runs, again | 3 ", "| Shrink = 3 | 3 ", "1.000 ± 0.000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// By hand: ratios 1 and e^2 have the geometric mean e, and a standard error of e.
func TestRelative(t *testing.T) {
	if got := relative([]float64{0, 2}); got != "2.718 ± 2.718" || relative([]float64{1}) != "-" {
		t.Errorf("got %s", got)
	}
	if got := errorOf(map[string]float64{meanError: .1, ratio: math.Exp(-.3), correlationError: .2}); math.Abs(got-.3) > 1e-12 {
		t.Errorf("an error of %g, want .3", got)
	}
	if got := errorOf(map[string]float64{distance: .01, meanError: .1}); got != .01 {
		t.Errorf("an error of %g of a mixture, want its distance", got)
	}
}
