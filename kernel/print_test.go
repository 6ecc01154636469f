package kernel_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/query"
)

const secret = 31415926.5

// TestNothingPrints: no verb, encoder or walk by reflection gets from a table, builder, session or
// sub-budget to a row.
func TestNothingPrints(t *testing.T) {
	b := kernel.NewBuilder(2)
	b.Append([]float64{secret, secret})
	table := kerneltest.Table([][]float64{{secret, secret}, {secret, secret}}, 2, terms.Relation)
	s := kerneltest.Open(t, table, plan, terms, kerneltest.Options{})
	if _, err := s.SubBudget().Sum("step", step, .1*s.Mu()); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"builder": b, "*builder": *b, "table": table, "*table": *table, "session": s, "sub-budget": s.SubBudget(),
		"*sub-budget": *s.SubBudget(), "nested": struct{ T, S any }{table, s}, "slice": []*kernel.Table{table}}
	for name, v := range values {
		var printed []string
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%f", "%g", "%e", "%t"} {
			printed = append(printed, fmt.Sprintf(verb, v))
		}
		j, _ := json.Marshal(v)
		var g bytes.Buffer
		_ = gob.NewEncoder(&g).Encode(v)
		printed = append(printed, fmt.Sprint(v), string(j), g.String(), fmt.Errorf("%w", fmt.Errorf("%v", v)).Error())
		for _, p := range printed {
			if strings.Contains(p, "314159") || strings.Contains(p, "3.14159") || strings.Contains(p, "17df5e7") {
				t.Errorf("%s prints %s", name, p)
			}
		}
		if name == "table" || name == "session" || name == "sub-budget" || name == "builder" {
			if printed[0] != "[protected]" || printed[2] != "[protected]" || string(j) != `"[protected]"` {
				t.Errorf("%s prints %q, %q and %s", name, printed[0], printed[2], j)
			}
		}
	}
	for _, v := range []any{table, s, s.SubBudget()} {
		if path := walk(reflect.ValueOf(v), map[uintptr]bool{}); path != "" {
			t.Errorf("%T leads to a row by %s", v, path)
		}
	}
	if walk(reflect.ValueOf(b), map[uintptr]bool{}) == "" {
		t.Error("the walk does not even find the rows of an open builder")
	}
}

// walk looks for the secret below v, as a debug printer would.
func walk(v reflect.Value, seen map[uintptr]bool) string {
	switch v.Kind() {
	case reflect.Float64:
		if v.Float() == secret {
			return "!"
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
			return ""
		}
		if v.Kind() == reflect.Pointer {
			seen[v.Pointer()] = true
		}
		return walk(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if p := walk(v.Field(i), seen); p != "" {
				return "." + v.Type().Field(i).Name + p
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if p := walk(v.Index(i), seen); p != "" {
				return "[]" + p
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if p := walk(v.MapIndex(k), seen); p != "" {
				return "{}" + p
			}
		}
	}
	return ""
}

// TestErrorsDoNotDependOnRows: the same program on tables as different as can be gives the same
// error texts, none of which holds a value of a row.
func TestErrorsDoNotDependOnRows(t *testing.T) {
	run := func(rows [][]float64) (texts []string) {
		s := kerneltest.Open(t, kerneltest.Table(rows, 2, terms.Relation), plan, terms, kerneltest.Options{})
		a := s.SubBudget()
		note := func(err error) {
			texts = append(texts, fmt.Sprint(err))
		}
		for _, mu := range []float64{0, -1, math.NaN(), 1e-300, .1 * s.Mu(), 5 * s.Mu()} {
			for _, name := range []string{"count", "step", "keys", "keys without slack", "pairs", "?"} {
				_, err := a.Sum(name, query.Count{}, mu)
				note(err)
				_, err = a.Sum(name, query.ClippedMoments{}, mu)
				note(err)
				_, err = a.Sum(name, step, mu)
				note(err)
				_, _, err = kernel.StabilityHistogram(a, name, keys, mu)
				note(err)
				_, err = kernel.SumPairs(a, name, octaves(1), mu)
				note(err)
			}
		}
		return append(texts, fmt.Sprint(s.Loss(), s.Measurements()))
	}
	tables := [][][]float64{nil, {{secret, -secret}}, {{math.NaN(), math.Inf(1)}, {1e308, -1e308}, {5e-324, 0}}, {{1, math.NaN()}, {1, 2}}, someRows(100, 2)}
	want := run(tables[0])
	for _, rows := range tables[1:] {
		if got := run(rows); !reflect.DeepEqual(got, want) {
			t.Errorf("what a program is told depends on the rows:\n%q\n%q", got, want)
		}
	}
}
