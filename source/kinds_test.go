package source

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestKinds: words of yes-no columns are 1 and 0, codes for missing come first, all else is as it
// was; counts are whole from 0 on.
func TestKinds(t *testing.T) {
	schema, err := parseSchema([]byte(`{"columns": [{"name": "a", "kind": "yes-no", "missing": ["f"]}, {"name": "b", "kind": "count"}, {"name": "c", "kind": "number"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if c := schema.Columns[1]; c.RoundedTo != 1 || c.AtLeast == nil || *c.AtLeast != 0 || c.AtMost != nil {
		t.Errorf("a count: %+v", c)
	}
	if data, err := json.Marshal(schema.Columns[0]); err != nil || string(data) != `{"name":"a","rounded_to":1,"at_least":0,"at_most":1,"kind":"yes-no","missing":["f"]}` {
		t.Errorf("%s, %v", data, err)
	}
	if err := schema.Tidy(); err != nil {
		t.Errorf("tidied again: %v", err)
	}
	schema.Unreadable = UnreadableMissing
	for _, quoted := range []string{"yes", `"yes"`} {
		table, err := opened("stdin", strings.NewReader("a,b,c\n"+quoted+",3,-1\nNo,0,2\nTRUE,1,1\n false ,1,1\n1,-1,1\n0,1,1\nf,1,1\nmaybe,1,1\n2,1,1\nNA,1,yes\nja,1,1\nNein,1,1\nSÍ,1,1\n"), schema)
		if err != nil {
			t.Fatal(err)
		}
		var rows kept
		if err := table.Read(&rows); err != nil {
			t.Fatal(err)
		}
		if got, want := show(rows), "[1 3 -1] [0 0 2] [1 1 1] [0 1 1] [1 - 1] [0 1 1] [- 1 1] [- 1 1] [- 1 1] [- 1 -] [1 1 1] [0 1 1] [1 1 1]"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestCountedAnswers: a column of yes and no whose values are counted is read as one of categories;
// not where no number would be left, and with no other values.
func TestCountedAnswers(t *testing.T) {
	schema, err := parseSchema([]byte(`{"columns": [{"name": "a", "kind": "yes-no", "missing": ["f", 1]}, {"name": "x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	schema.Columns = schema.Counted()
	table, err := opened("stdin", strings.NewReader("a,x\nyes,3\nNo,0\nTRUE,1\n 0 ,1\n1,1\nf,1\n,1\nmaybe,1\n2,1\n"), schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	if got, want := show(rows), "[3 1] [0 0] [1 1] [1 0] [1 2] [1 2] [1 2] [1 2] [1 2]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if alone := (&Schema{Columns: []Column{{Name: "a", Kind: YesNo}}}).Counted(); alone[0].Categorical() {
		t.Error("no number is left")
	}
	if _, err := parseSchema([]byte(`{"columns": [{"name": "a", "kind": "yes-no", "categories": ["n", "y"]}, {"name": "x"}]}`)); !isMistake(err) {
		t.Errorf("values of its own: %v", err)
	}
}

func TestKindMistakes(t *testing.T) {
	for kind, want := range map[string]string{
		`"category"`: "--columns 'a:category(a,b)'", `"log", "at_most": 0`: "at_least below at_most", `"int"`: `"number", "count", "yes-no", "date", "log" or "category"`, `3`: "want a value as in the example",
		`"yes-no", "at_most": 2`: "no unit and no limits but 1, 0 and 1", `"count", "at_most": -1`: "swap the two",
	} {
		_, err := parseSchema([]byte(`{"columns": [{"name": "a", "kind": ` + kind + `}]}`))
		if !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", kind, err, want)
		}
	}
}

// TestLogs: columns of logarithms are mapped after codes and limits, and 0 is the least value where
// none is declared.
func TestLogs(t *testing.T) {
	schema, err := parseSchema([]byte(`{"columns": [{"name": "a", "kind": "log", "missing": [999]}, {"name": "b", "kind": "log", "at_most": 100, "rounded_to": 1}, {"name": "c"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	table, err := opened("stdin", strings.NewReader("a,b,c\n0,0,0\n9,100,9\n-1,101,1\n999,50,\nNA,0,1\n"), schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	b := schema.Columns[1].Log()
	want := fmt.Sprintf("[0 %v 0] [%v %v 9] [- - 1] [- 0 -] [- %v 1]", b.To(0), math.Log(10), b.To(100), b.To(0))
	if got := show(rows); got != want || schema.Columns[0].AtLeast == nil || *schema.Columns[0].AtLeast != 0 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s, err := ParseColumns("income:log,age"); err != nil || s.Columns[0].Kind != Logs || !s.Columns[0].Log().Maps() || s.Columns[1].Log().Maps() {
		t.Errorf("%+v, %v", s, err)
	}
}
