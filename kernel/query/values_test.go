package query_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// textRow is what a row has in each of four columns: "" for no text.
type textRow [4]string

// countTexts returns the counts of rows.
func countTexts(q query.CategoryValues, rows ...textRow) []map[string]int64 {
	counts := make([]map[string]int64, len(q.Columns))
	for i := range counts {
		counts[i] = map[string]int64{}
	}
	for _, row := range rows {
		q.Count(counts, func(a int) (string, bool) { return row[a], row[a] != "" })
	}
	return counts
}

// textsApart returns the squared distance of counts, and how many cells only one side has, with the
// largest count of one.
func textsApart(x, y []map[string]int64) (square float64, cells int, most int64) {
	for i := range x {
		for text, n := range x[i] {
			square += float64(n-y[i][text]) * float64(n-y[i][text])
			if y[i][text] == 0 {
				cells, most = cells+1, max(most, n)
			}
		}
		for text, n := range y[i] {
			if x[i][text] == 0 {
				square += float64(n) * float64(n)
			}
		}
	}
	return square, cells, most
}

// TestValueNeighbours: no row moves the counts of texts by more than the sensitivity, nor do two
// that replace each other; some do so exactly; and a text of one side alone counts 1, in at most J
// cells.
func TestValueNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "b", "c", "a ", "\x00", "é", "other"}
	for _, columns := range [][]int{{0}, {3, 1}, {2, 0, 1, 3}} {
		q := query.CategoryValues{Columns: columns}
		if err := q.Validate(1); err != nil {
			t.Fatal(err)
		}
		added, replaced := 0., 0.
		row := func() (row textRow) {
			for a := range row {
				row[a] = texts[rng.IntN(len(texts))]
			}
			return row
		}
		for range 5000 {
			var others []textRow
			for range rng.IntN(4) {
				others = append(others, row())
			}
			without := countTexts(q, others...)
			with, instead := countTexts(q, append(others, row())...), countTexts(q, append(others, row())...)
			one, cells, most := textsApart(with, without)
			two, own, more := textsApart(with, instead)
			if added, replaced = math.Max(added, one), math.Max(replaced, two); max(cells, own) > len(columns) || max(most, more) > 1 {
				t.Fatalf("columns %v: %d and %d texts of one side alone, of at most %d and %d rows", columns, cells, own, most, more)
			}
		}
		for r, most := range map[privacy.Relation]float64{privacy.AddRemoveOne: added, privacy.ReplaceOne: replaced} {
			if s := q.Sensitivity(r); math.Abs(math.Sqrt(most)-s) > 1e-12 {
				t.Errorf("columns %v, %v: rows move the counts by %v, and the sensitivity is %v", columns, r, math.Sqrt(most), s)
			}
		}
	}
	for _, columns := range [][]int{nil, {-1}, {1, 1}} {
		if (query.CategoryValues{Columns: columns}).Validate(1) == nil {
			t.Errorf("columns %v are valid", columns)
		}
	}
}
