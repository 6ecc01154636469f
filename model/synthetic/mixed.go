package synthetic

import (
	"bytes"
	"encoding/csv"
	"slices"

	"github.com/gauze-dp/gauze/model"
)

// A mixedRow writes rows of numbers and categories in the order of the table's columns.
type mixedRow struct {
	values []int      // of the columns of categories, by their numbers
	at     []int      // of every column of the header: of numbers, or -1 less that of categories
	text   [][][]byte // of the values, as CSV has them
	cells  []model.Cell
}

// mixedOf returns nil for a model without categories.
func mixedOf(m *model.Mixture) *mixedRow {
	if len(m.Categories) == 0 {
		return nil
	}
	out := &mixedRow{values: make([]int, len(m.Categories)), cells: m.Cells}
	for _, name := range m.Header() {
		j := slices.Index(m.Columns, name)
		if j < 0 {
			j = -1 - slices.IndexFunc(m.Categories, func(c model.Category) bool { return c.Name == name })
		}
		out.at = append(out.at, j)
	}
	for _, c := range m.Categories {
		var of [][]byte
		for _, v := range c.Values {
			of = append(of, csvCell(v))
		}
		out.text = append(out.text, of)
	}
	return out
}

// csvCell returns a text as a cell of CSV.
func csvCell(text string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write([]string{text, ""}); err != nil {
		panic(err) // a buffer takes all
	}
	w.Flush()
	return bytes.TrimSuffix(b.Bytes(), []byte(",\n"))
}

// append writes a row whose categories are in values.
func (m *mixedRow) append(line []byte, row []float64) []byte {
	for i, j := range m.at {
		if i > 0 {
			line = append(line, ',')
		}
		if j >= 0 {
			line = appendValue(line, row[j], j < len(m.cells) && m.cells[j].Date)
		} else {
			line = append(line, m.text[-1-j][m.values[-1-j]]...)
		}
	}
	return append(line, '\n')
}
