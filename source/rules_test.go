package source

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func number(v float64) *float64 { return &v }

const sentinels = `{"columns": [{"name": "a", "missing": [999, -1, "1e2", "Refused", " n/a "]}, {"name": "b", "at_least": 40, "at_most": 300, "missing": [222]}]}`

// TestMissing: codes and numbers outside the declared limits are missing cells, whether lines have
// quotes or not, and are told apart on the terminal alone.
func TestMissing(t *testing.T) {
	schema, err := parseSchema([]byte(sentinels))
	if err != nil {
		t.Fatal(err)
	}
	if want := []any{999., -1., 100., "Refused", "n/a"}; !reflect.DeepEqual(schema.Columns[0].Missing, want) {
		t.Errorf("codes %v, want %v", schema.Columns[0].Missing, want)
	}
	const text = "a,b\n1,40\n999,300\n999.0,39.999\n+9.99e2,300.1\n-1,-0\n100,222\nrefused ,100\n n/a,100\nNA,999\n998,inf\n,\n"
	for _, in := range []string{text, strings.Replace(text, "1,40", "\"1\",40", 1), strings.Replace(text, "998", "\"998\"", 1)} {
		table, err := opened("stdin", strings.NewReader(in), schema)
		if err != nil {
			t.Fatal(err)
		}
		var rows kept
		if err := table.Read(&rows); err != nil {
			t.Fatal(err)
		}
		if got, want := show(rows), "[1 40] [- 300] bad bad bad bad [- 100] [- 100] bad [998 -] bad"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		want := []ColumnReport{{Name: "a", Numbers: 2, Coded: 6, Missing: 3}, {Name: "b", Numbers: 4, Coded: 1, Outside: 4, NotFinite: 1, Missing: 1}}
		if got := table.Report().Columns; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if said := table.Report().Text(); !strings.Contains(said, `column "b": 1 missing, 1 not finite, 0 not a number, 1 with a code for missing, 4 outside the declared limits`) {
			t.Errorf("report: %s", said)
		}
		if got := fmt.Sprint(table.Report()); got != "[protected]" {
			t.Errorf("the report prints as %s", got)
		}
	}
}

// TestMissingAhead: rows that an inferred schema has looked at keep the rule, as those after them.
func TestMissingAhead(t *testing.T) {
	columns := []Column{{Name: "a", AtMost: number(5), Missing: []any{3., "odd"}}}
	r := rulesOf(columns)
	for _, c := range []struct {
		v    float64
		kind Kind
		keep bool
	}{{1, Number, true}, {5, Number, true}, {-math.MaxFloat64, Number, true}, {3, Number, false}, {5.1, Number, false}, {math.NaN(), Number, false},
		{math.Inf(-1), Number, false}, {1, Missing, false}, {1, NotNumber, false}} {
		if got := r.keep([]float64{c.v}, []Kind{c.kind}); got != c.keep {
			t.Errorf("%v, %v: kept %v", c.v, c.kind, got)
		}
	}
}

func TestMissingMistakes(t *testing.T) {
	for codes, want := range map[string]string{
		`[true]`: "got true", `[null]`: "got <nil>", `[[1]]`: "got [1]", `["inf"]`: "no cell can hold", `["` + strings.Repeat("x", 101) + `"]`: "text of 101 bytes",
		`["a\u0007"]`: "cannot be printed", `999`: "want a value as in the example",
	} {
		_, err := parseSchema([]byte(`{"columns": [{"name": "a", "missing": ` + codes + `}]}`))
		if !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", codes, err, want)
		}
	}
	if err := (&Schema{Columns: []Column{{Name: "a", Missing: []any{math.NaN()}}}}).Tidy(); !isMistake(err) {
		t.Errorf("NaN: %v", err)
	}
	s := &Schema{Columns: []Column{{Name: "a", Missing: []any{999, 999., "999.0"}}}}
	if err := s.Tidy(); err != nil || !reflect.DeepEqual(s.Columns[0].Missing, []any{999.}) {
		t.Errorf("got %v, %v", s.Columns[0].Missing, err)
	}
}
