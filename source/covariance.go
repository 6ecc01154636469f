package source

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/internal/words"
)

// A Covariance is a publicly known covariance matrix as a file states it. The only check is that it
// holds rows of numbers.
type Covariance struct {
	Names  []string // of its columns, in their order; nil if the file names none
	Matrix [][]float64
}

const covarianceHint = "write one line per column with a number for each, like 4,0.5 and 0.5,9, after a line with the columns' names or without " +
	"one; or [[4,0.5],[0.5,9]]"

func badCovariance(field, wanted, got string) error {
	if field != "" {
		field = ", " + field
	}
	return &Error{Field: "known covariance" + field, Wanted: wanted, Got: got, Hint: covarianceHint}
}

// ReadCovariance reads a covariance matrix, in the columns' own units, from CSV or JSON.
//
// CSV: one line per row of the matrix. A first line that is not of numbers names the columns; then
// each line may begin with its column's name, under a first cell that is empty or a name of its
// own, as tables with names of rows are written elsewhere. JSON: an array of arrays.
func ReadCovariance(file string) (*Covariance, error) {
	data, err := words.ReadFile(file)
	if err != nil {
		return nil, &Error{Field: "known covariance", Wanted: "a readable file", Got: unreadableFile(err), Hint: "check the path"}
	}
	return parseCovariance(data)
}

// parseCovariance reads a covariance matrix as ReadCovariance does.
func parseCovariance(data []byte) (*Covariance, error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return nil, badCovariance("", "rows of numbers", "an empty file")
	case !utf8.Valid(data):
		return nil, badCovariance("", "text in UTF-8", "other bytes")
	case data[0] == '[' || data[0] == '{':
		c := &Covariance{}
		if err := json.Unmarshal(data, &c.Matrix); err != nil {
			return nil, badCovariance("", "an array with an array of numbers for each row", "other JSON")
		}
		return c, nil
	}
	reader := csv.NewReader(bytes.NewReader(data))
	reader.TrimLeadingSpace = true
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil {
		return nil, badCovariance("", "comma-separated numbers", err.Error())
	}
	return covarianceOf(lines)
}

// covarianceOf reads lines of cells; there is at least one.
func covarianceOf(lines [][]string) (*Covariance, error) {
	c := &Covariance{}
	if _, err := parseRow(lines[0]); err != nil {
		for _, name := range lines[0] {
			c.Names = append(c.Names, strings.TrimSpace(name))
		}
		lines = lines[1:]
		if n := len(lines); n > 0 && len(c.Names) == n+1 && len(lines[0]) == n+1 {
			if _, err := parseRow(lines[0][:1]); err != nil {
				if err := c.dropRowNames(lines); err != nil {
					return nil, err
				}
			}
		}
	}
	for i, line := range lines {
		row, err := parseRow(line)
		if err != nil {
			return nil, badCovariance(fmt.Sprintf("row %d", i+1), "numbers", err.Error())
		}
		c.Matrix = append(c.Matrix, row)
	}
	return c, nil
}

// dropRowNames removes the names of rows from the lines and the cell above them from the names.
func (c *Covariance) dropRowNames(lines [][]string) error {
	c.Names = c.Names[1:]
	for i, line := range lines {
		if len(line) == 0 || strings.TrimSpace(line[0]) != c.Names[i] {
			return badCovariance(fmt.Sprintf("row %d", i+1), fmt.Sprintf("the name %q first, as in the header", c.Names[i]), fmt.Sprintf("%q", line[0]))
		}
		lines[i] = line[1:]
	}
	return nil
}

func parseRow(cells []string) ([]float64, error) {
	row := make([]float64, len(cells))
	for i, cell := range cells {
		v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		if err != nil {
			return nil, fmt.Errorf("%q", cell)
		}
		row[i] = v
	}
	return row, nil
}

// For returns the matrix in the order of the fitted columns: as it stands if it names none, and by
// name otherwise. Its names must be those of the columns.
func (c *Covariance) For(columns []string) ([][]float64, error) {
	if c.Names == nil {
		return c.Matrix, nil
	}
	fault := func(got string) error {
		return &Error{Field: "known covariance, names", Wanted: strings.Join(columns, ", ") + ", the columns that are fitted", Got: got,
			Hint: "name each column once, in any order, or leave the line of names out; --columns or --schema fixes what is fitted"}
	}
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(c.Names, name); at[i] < 0 {
			return nil, fault(strings.Join(c.Names, ", "))
		}
	}
	if len(c.Names) != len(columns) {
		return nil, fault(strings.Join(c.Names, ", "))
	}
	out := make([][]float64, len(columns))
	for i, from := range at {
		if len(c.Matrix) != len(columns) || len(c.Matrix[from]) != len(columns) {
			return c.Matrix, nil // whoever uses it reports a wrong shape
		}
		for _, j := range at {
			out[i] = append(out[i], c.Matrix[from][j])
		}
	}
	return out, nil
}
