package source

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/words"
)

func TestParseCovariance(t *testing.T) {
	columns := []string{"age", "bmi"}
	want := [][]float64{{4, .5}, {.5, 9}}
	for name, text := range map[string]string{
		"numbers":               "4,0.5\n0.5,9\n",
		"blanks":                " 4 , 0.5\r\n\r\n5e-1, 9",
		"a header":              "age,bmi\n4,.5\n.5,9\n",
		"another order":         "bmi,age\n9,.5\n.5,4\n",
		"names of rows":         ",age,bmi\nage,4,.5\nbmi,.5,9\n",
		"names of rows, quoted": `"","age","bmi"` + "\n" + `"age",4,0.5` + "\n" + `"bmi",0.5,9`,
		"a named corner":        "column,bmi,age\nbmi,9,.5\nage,.5,4\n",
		"JSON":                  "[[4, 0.5], [0.5, 9]]",
		"a byte order mark":     "\ufeffage,bmi\n4,.5\n.5,9\n",
	} {
		data, err := words.ReadAll(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parseCovariance(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := c.For(columns); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

// Whatever is wrong is told with a way to fix it; what only its user can see, the shape of the
// matrix, is left to it.
func TestCovarianceFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, part string }{
		"empty":                    {" \n", "an empty file"},
		"a word":                   {"4,.5\nx,9\n", `row 2: want numbers, got "x"`},
		"a hole":                   {"age,bmi\n4,\n.5,9\n", `row 1: want numbers, got ""`},
		"a quote":                  {"4,\".5\n.5,9", "comma-separated numbers"},
		"an object":                {`{"columns": []}`, "an array with an array"},
		"broken JSON":              {`[[1, 2], [3`, "an array with an array"},
		"words in JSON":            {`[["a"]]`, "an array with an array"},
		"other bytes":              {"\xff\xfe4", "other bytes"},
		"names of rows that lie":   {",age,bmi\nbmi,4,.5\nage,.5,9\n", `the name "age" first`},
		"names of other columns":   {"age,height\n4,.5\n.5,9\n", "age, bmi, the columns that are fitted, got age, height"},
		"names of more columns":    {"age,bmi,height\n4,.5,0\n.5,9,0\n0,0,1\n", "got age, bmi, height"},
		"a column missing":         {"age\n4\n", "got age"},
		"names without a matrix":   {"age,height\n", "the columns that are fitted"},
		"a column that is doubled": {"age,age\n4,.5\n.5,9\n", "got age, age"},
	} {
		parsed, err := parseCovariance([]byte(c.text))
		if err == nil {
			_, err = parsed.For([]string{"age", "bmi"})
		}
		var fault *Error
		if !errors.As(err, &fault) || fault.Hint == "" || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: got %v, want %q", name, err, c.part)
		}
	}
	for _, text := range []string{"1,2\n3\n", "age,bmi\n1,2\n", "[[1], [2, 3]]", "[]"} {
		c, err := parseCovariance([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if _, err := c.For([]string{"age", "bmi"}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCovarianceRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known.csv")
	var fault *Error
	if _, err := ReadCovariance(file); !errors.As(err, &fault) || !strings.Contains(err.Error(), "a readable file") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(file, []byte("2.5"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := ReadCovariance(file); err != nil || !reflect.DeepEqual(c.Matrix, [][]float64{{2.5}}) {
		t.Errorf("got %v, %v", c, err)
	}
}
