package source

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestParseColumnKinds: columns with kinds as they are typed, and names that only look so.
func TestParseColumnKinds(t *testing.T) {
	for list, want := range map[string][]Column{
		"age,sex:category(f,m),bmi":              {{Name: "age"}, {Name: "sex", Kind: Categories, Categories: []string{"f", "m"}}, {Name: "bmi"}},
		` age , sex:category( f , m ) ,bmi`:      {{Name: "age"}, {Name: "sex", Kind: Categories, Categories: []string{"f", "m"}}, {Name: "bmi"}},
		`x,"a,b":category("p, q",r)`:             {{Name: "x"}, {Name: "a,b", Kind: Categories, Categories: []string{"p, q", "r"}}},
		`x,a:category("p (old)",r)`:              {{Name: "x"}, {Name: "a", Kind: Categories, Categories: []string{"p (old)", "r"}}},
		"visits:number":                          {{Name: "visits", Kind: Numbers}},
		`"sex:category(f,m)","a:number",bmi (x)`: {{Name: "sex:category(f,m)"}, {Name: "a:number"}, {Name: "bmi (x)"}},
		"a:b,c(d)":                               {{Name: "a:b"}, {Name: "c(d)"}},
	} {
		s, err := ParseColumns(list)
		if err != nil || !reflect.DeepEqual(s.Columns, want) {
			t.Errorf("%s: got %+v, %v, want %+v", list, s, err, want)
		}
	}
	for list, want := range map[string]string{
		"x,sex:category":        "want the values that it can have",
		"x,sex:category()":      "want the values that it can have",
		"x,sex:category(f":      "want names separated by commas",
		"x,sex:category(f,m)y":  "want names separated by commas",
		"x,sex:category(f,,m)":  "want values that are distinct",
		"x,sex:category(f,m,f)": "want values that are distinct",
		"sex:category(f,m)":     "want at least one column of numbers",
		"x,:category(f,m)":      "want names separated by commas",
	} {
		if _, err := ParseColumns(list); !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", list, err, want)
		}
	}
	names := []string{"a", "b:number", "sex:category(f,m)", "c,d", "e"}
	if s, err := ParseColumns(ColumnList(names)); err != nil || !reflect.DeepEqual(s.Names(), names) {
		t.Errorf("%s reads back as %v, %v", ColumnList(names), s, err)
	}
}

func TestCategorySchemaMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`"kind": "count", "categories": "find"`:                    "none beside this kind",
		`"kind": "category", "categories": ["a"], "find": true`:    "both",
		`"kind": "category", "categories": "found"`:                `want an array of values, or "find"`,
		`"kind": "category", "categories": "f,m"`:                  "want an array of values",
		`"kind": "category", "categories": [1, 2]`:                 "want an array of texts",
		`"kind": "category", "categories": []`:                     "want the values that it can have",
		`"kind": "category", "categories": ["a", " a"]`:            "want values that are distinct",
		`"kind": "category", "categories": ["a"], "rounded_to": 1`: "no unit and no limits",
		`"kind": "count", "categories": ["a"]`:                     "none beside this kind",
		`"categories": ["a"]`:                                      "none beside this kind",
	} {
		_, err := parseSchema([]byte(`{"columns": [{"name": "x"}, {"name": "sex", ` + text + `}]}`))
		if !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	many := make([]string, MostCategories+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	if err := (&Schema{Columns: []Column{{Name: "x"}, {Name: "c", Kind: Categories, Categories: many}}}).Tidy(); !isMistake(err) || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("%d values: %v", len(many), err)
	}
}

// TestReadCategories: rows have the numbers and then the numbers of the values; a cell that is
// missing or holds another value has the number after the last, and makes no bad row.
func TestReadCategories(t *testing.T) {
	text := "age,sex,id,grade\n30, f ,a,1\n31,m,b,2.0\n,x,c,02\n33,,d,3\n34,NA,e,99\n35,F,f,1e0\n"
	schema, err := ParseColumns("sex:category(m,f),age,grade:category(1,2)")
	if err != nil {
		t.Fatal(err)
	}
	schema.Columns[2].Missing = []any{99.}
	schema.Unit = "id"
	table, err := opened("stdin", strings.NewReader(text), schema)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(table.Columns(), table.Schema().Names()); got != "[age] [sex age grade]" {
		t.Errorf("the columns are %s", got)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	if got, want := show(rows), "[30 1 0] [31 0 1] [- 2 1] [33 2 2] [34 2 2] [35 2 0]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r := table.Report()
	if r.BadRows != 1 || !reflect.DeepEqual(r.Categories, []CategoryReport{{"sex", 2, 2, 2}, {"grade", 4, 1, 1}}) {
		t.Errorf("%d bad rows, %+v", r.BadRows, r.Categories)
	}
	if words := r.Text(); !strings.Contains(words, `column "sex": 2 missing, 2 with no value of those declared, which count as missing`) {
		t.Errorf("the report is %s", words)
	}
}

// TestCategoriesNotFound: a column that is not there, or holds none of its values, is a mistake; a
// row without a person has no value.
func TestCategoriesNotFound(t *testing.T) {
	read := func(columns string, any bool) (kept, error) {
		schema, err := ParseColumns(columns)
		if err != nil {
			t.Fatal(err)
		}
		schema.Unit = "id"
		table, err := opened("stdin", strings.NewReader("age,sex,id\n30,f,1\n31,m,\n"), schema)
		if err != nil {
			return nil, err
		}
		if any {
			table.TakeAnyCells()
		}
		var rows kept
		err = table.Read(&rows)
		return rows, err
	}
	if _, err := read("age,ward:category(a,b)", false); !isMistake(err) || !strings.Contains(err.Error(), `declared columns "ward"`) {
		t.Errorf("no such column: %v", err)
	}
	if _, err := read("age,sex:category(F,M)", false); !isMistake(err) || !strings.Contains(err.Error(), "case counts") {
		t.Errorf("none of its values: %v", err)
	}
	rows, err := read("age,sex:category(F,M)", true)
	if got, want := show(rows), "[30 2] bad"; err != nil || got != want {
		t.Errorf("none of its values, of a table that was looked at: got %s, %v, want %s", got, err, want)
	}
}

// TestFindCategories: where values are to be found, codes stand for the cells' own texts, a missing
// cell has none, and what is no text of a category is OtherValue; the schema reads back.
func TestFindCategories(t *testing.T) {
	schema, err := ParseColumns("x,ward:category(find),sex:category(f)")
	if err != nil {
		t.Fatal(err)
	}
	schema.Columns[1].Missing, schema.Unit = []any{"none"}, NoUnit
	file, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := parseSchema(file); err != nil || !reflect.DeepEqual(back, schema) {
		t.Errorf("%s reads back as %+v, %v", file, back, err)
	}
	if short, err := parseSchema([]byte(`{"columns": [{"name": "x"}, {"name": "ward", "kind": "category", "categories": "find"}]}`)); err != nil || !short.Columns[1].Find {
		t.Errorf("%+v, %v", short, err)
	}
	text := "x,ward,sex\n1, b ,f\n2,a,m\n3,b,f\n4,,f\n5,NONE,f\n6," + strings.Repeat("w", 300) + ",f\n7,(other),f\n"
	table, err := opened("stdin", strings.NewReader(text), schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	var codes []float64
	for _, row := range rows {
		codes = append(codes, row[1])
	}
	if want := []float64{0, 1, 0, -1, -1, 2, 2}; !slices.Equal(codes, want) {
		t.Errorf("the codes are %v, want %v", codes, want)
	}
	if got, want := table.Texts(), [][]string{{"b", "a", OtherValue}, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("they stand for %q, want %q", got, want)
	}
}

// TestOtherValue: where it is declared, it takes every text that is none of the others.
func TestOtherValue(t *testing.T) {
	schema := &Schema{Unit: NoUnit, Columns: []Column{{Name: "x"}, {Name: "ward", Kind: Categories, Categories: []string{"a", OtherValue, "b"}}}}
	table, err := opened("stdin", strings.NewReader("x,ward\n1,b\n2,c\n3,\n4,(other)\n"), schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{2, 1, 3, 1} {
		if got := rows[i][1]; got != want {
			t.Errorf("row %d has the code %v, want %v", i, got, want)
		}
	}
	if table.Texts() != nil {
		t.Error("declared values have texts")
	}
}
