package flags

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestJSON: a flag is an object without what does not apply, comes back as it was, and a flag of an
// earlier version, text alone, is read.
func TestJSON(t *testing.T) {
	for _, c := range []struct {
		flag Flag[string]
		want string
	}{
		{Flag[string]{Code: LeftOut, Columns: []string{"age"}, Share: .25, Noise: .5, Text: "out"}, `{"code":"left-out","columns":["age"],"share":0.25,"noise":0.5,"text":"out"}`},
		{Flag[string]{Code: FewRows, Text: "few"}, `{"code":"few-rows","text":"few"}`},
	} {
		data, err := json.Marshal(c.flag)
		if err != nil || string(data) != c.want {
			t.Errorf("%s, %v; want %s", data, err, c.want)
		}
		var back Flag[string]
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, c.flag) {
			t.Errorf("%+v, %v; want %+v", back, err, c.flag)
		}
	}
	var old []Flag[string]
	if err := json.Unmarshal([]byte(`["few rows"]`), &old); err != nil || !reflect.DeepEqual(old, []Flag[string]{{Code: Uncoded, Text: "few rows"}}) {
		t.Errorf("%+v, %v", old, err)
	}
	for _, bad := range []string{`[3]`, `[{"code": 3}]`, `[{"code":"left-out","columns":"age"}]`} {
		if err := json.Unmarshal([]byte(bad), &old); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// TestCodesAreDocumented: docs/FORMAT.md lists the codes that there are, in their order, and each
// is a constant of this package.
func TestCodesAreDocumented(t *testing.T) {
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	_, section, _ := strings.Cut(read("../../docs/FORMAT.md"), "## Flags\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented, constants []Code
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		documented = append(documented, Code(m[1]))
	}
	for _, m := range regexp.MustCompile(`Code = "([a-z-]+)"`).FindAllStringSubmatch(read("flags.go"), -1) {
		constants = append(constants, Code(m[1]))
	}
	if !reflect.DeepEqual(documented, Codes()) || !reflect.DeepEqual(constants, Codes()) {
		t.Errorf("documented %v,\nconstants %v,\ncodes %v", documented, constants, Codes())
	}
}

// TestNamed: columns that a text speaks of by Ref get their names, quoted where they cannot be
// printed; other numbers, and names that look like a column's number, stay what they are.
func TestNamed(t *testing.T) {
	raised := []Flag[int]{
		New(OutlierGroup, "column %v: far, at %d", Ref{1}, 2).In(1).Of(.1, .01),
		New(Method, "columns %v: odd; over column 1", Ref{0, 1, 2}),
	}
	if raised[0].Text != "column 2: far, at 2" || raised[1].Text != "columns 1, 2, 3: odd; over column 1" {
		t.Errorf("%q", Texts(raised))
	}
	said := Named(raised, []string{"column 3", "b\x1bmi", "2"})
	want := []Flag[string]{{Code: OutlierGroup, Columns: []string{"b\x1bmi"}, Share: .1, Noise: .01, Text: `column "b\x1bmi": far, at 2`},
		{Code: Method, Text: `columns column 3, "b\x1bmi", 2: odd; over column 1`}}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("%+v", said)
	}
}
