package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// told keeps whose every row is.
type told []string

func (s *told) Append(row []float64, person string, group int) {
	*s = append(*s, fmt.Sprintf("%v %s %d", row, person, group))
}

const visits = "patient_id,sex,weight,ward,height\n a1,f,1,x,10\nb2,m,2,y,20\na1, f ,3,y,30\n,f,4,x,40\nNA,m,5,x,50\nb2,q,6,x,60\n"

func groupings() []Grouping {
	return []Grouping{{"sex", []string{"f", "m"}}, {"ward", []string{"x", "y"}}}
}

// Persons and groups are read beside the values, whether columns are declared or inferred; a row
// without a person is a bad one.
func TestRoles(t *testing.T) {
	want := "[1 10] a1 0|[2 20] b2 3|[3 30] a1 1|[NaN NaN]  0|[NaN NaN]  2|[6 60] b2 -1"
	for _, s := range []*Schema{
		{Unit: "patient_id", By: groupings(), Infer: true},
		{Unit: " patient_id ", By: groupings(), Columns: []Column{{Name: "weight"}, {Name: "height"}}},
	} {
		table, err := opened("stdin", strings.NewReader(visits), s)
		if err != nil {
			t.Fatal(err)
		}
		var got told
		if err := table.Read(&got); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		if r := table.Report(); r.NoPerson != 2 || r.NoGroup != 1 || r.Repeats != nil || r.Inferred != (len(s.Columns) == 0) || len(r.LeftOut) > 0 {
			t.Errorf("report %+v", r.Text())
		}
		if s := table.Schema(); s.Unit != "patient_id" || len(s.By) != 2 || len(s.Columns) != 2 {
			t.Errorf("schema %+v", s)
		}
	}
	if groups := (&Schema{By: groupings()}).Groups(); fmt.Sprint(groups) != "[[f x] [f y] [m x] [m y]]" {
		t.Errorf("groups %v", groups)
	}
	if groups := (&Schema{}).Groups(); len(groups) != 1 || groups[0] != nil {
		t.Errorf("groups %v", groups)
	}
}

func TestRoleMistakes(t *testing.T) {
	for name, s := range map[string]*Schema{
		`got "patient"`:                        {Unit: "patient"},
		"a column of its own":                  {Unit: "weight", Columns: []Column{{Name: "weight"}}},
		`by "sex": want its categories`:        {By: []Grouping{{"sex", nil}}},
		"words that are distinct":              {By: []Grouping{{"sex", []string{"f", " f"}}}},
		"not empty, without commas":            {By: []Grouping{{"sex", []string{""}}}},
		`schema, by: want a column of its own`: {Unit: "sex", By: []Grouping{{"sex", []string{"f"}}}},
		`none that is called "gender"`:         {By: []Grouping{{"gender", []string{"f"}}}},
	} {
		_, err := opened("stdin", strings.NewReader(visits), s)
		var mistake *Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), strings.TrimPrefix(name, "got ")) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := opened("stdin", strings.NewReader("a1,f,1\nb2,m,2\n"), &Schema{Unit: "patient_id"})
	if err == nil || strings.Contains(err.Error(), "a1") {
		t.Errorf("a row of data shows: %v", err)
	}
}

// All of a schema file's facts.
func TestSchemaFile(t *testing.T) {
	s, err := parseSchema([]byte(`{"title": "T", "dataset": "D", "unit": "p", "by": [{"name": "sex", "categories": ["f", "m"]}],
		"columns": [{"name": "age", "label": "Age", "unit_of_measure": "years", "at_least": 0}]}`))
	if err != nil || s.Title != "T" || s.Dataset != "D" || s.Unit != "p" || len(s.By) != 1 || s.Columns[0].Label != "Age" || s.Columns[0].UnitOfMeasure != "years" {
		t.Errorf("got %+v, %v", s, err)
	}
}
