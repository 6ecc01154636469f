package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/people"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var valuePlan = kernel.Plan{Method: "test", Steps: []kernel.Step{
	{Name: "values", Query: query.KindCategoryValues, Share: .5, Most: 1, Slack: 1},
	{Name: "categories", Query: query.KindCategoryCounts, Share: .5, Most: 1},
}}

// A textTable has rows of one number, a column of texts, one of codes (0 or 1) and one of texts.
type textTable [][3]string

// table returns the rows as a table; texts get their codes in a random order, some of them twice.
func (rows textTable) table(rng *rand.Rand, r privacy.Relation) *kernel.Table {
	var texts [3][]string
	for _, a := range []int{0, 2} {
		for _, row := range rows {
			if row[a] != "" && (!slices.Contains(texts[a], row[a]) || rng.IntN(50) == 0) {
				texts[a] = append(texts[a], row[a])
			}
		}
		texts[a] = append(texts[a], "of nobody")
		rng.Shuffle(len(texts[a]), func(i, j int) { texts[a][i], texts[a][j] = texts[a][j], texts[a][i] })
	}
	b := kernel.NewMixedBuilder(1, 3, nil)
	for i, row := range rows {
		own := []float64{float64(i), -1, 0, -1}
		if row[1] == "1" {
			own[2] = 1
		}
		for _, a := range []int{0, 2} {
			for code, text := range texts[a] {
				if text == row[a] && (own[1+a] < 0 || rng.IntN(2) == 0) {
					own[1+a] = float64(code)
				}
			}
		}
		b.Append(own)
	}
	b.NameCodes([][]string{texts[0], nil, texts[2]})
	return b.Protect(r)
}

// someTexts returns n rows: texts of the first column get rarer, and the last has one text or none.
func someTexts(n int) (rows textTable) {
	for i := range n {
		row := [3]string{fmt.Sprint("t", int(math.Log2(float64(1+i)))), fmt.Sprint(i % 2), []string{"", "only"}[i%2]}
		rows = append(rows, row)
	}
	return rows
}

// find asks the table's texts.
func find(t *testing.T, table *kernel.Table, delta float64, o kerneltest.Options) ([]kernel.FoundValue, kernel.Measurement, *kernel.Session) {
	t.Helper()
	s := kerneltest.Open(t, table, valuePlan, kernel.Terms{Relation: table.Relation(), Budget: privacy.Budget{Epsilon: 2, Delta: delta}}, o)
	found, sigma, err := kernel.FindValues(s.SubBudget(), "values", query.CategoryValues{Columns: []int{0, 2}}, .7*s.Mu())
	if err != nil {
		t.Fatal(err)
	}
	m := s.Measurements()[0]
	if m.Noise != sigma || m.Query != query.KindCategoryValues || m.Sensitivity/sigma > m.Mu*(1+1e-15) || !(m.Delta > 0) {
		t.Errorf("recorded %+v, sigma %v", m, sigma)
	}
	return found, m, s
}

// TestFindValuesTwin: without noise the texts from count T on are released, T = 2 + sigma PhiInv(1
// - s/2), with their counts, the most frequent first.
func TestFindValuesTwin(t *testing.T) {
	rows := someTexts(4000)
	for r, factor := range map[privacy.Relation]float64{privacy.ReplaceOne: 2, privacy.AddRemoveOne: 1} {
		found, m, _ := find(t, rows.table(rand.New(rand.NewPCG(1, 1)), r), 1e-3, kerneltest.Options{Exact: true})
		q := query.CategoryValues{Columns: []int{0, 2}}
		threshold := 2 + m.Noise*math.Sqrt2*math.Erfcinv(2*m.Delta/(1+math.Exp(2))/float64(q.Histograms()))
		if math.Abs(m.Sensitivity-math.Sqrt(2*factor)) > 1e-12 {
			t.Errorf("%v: sensitivity %v", r, m.Sensitivity)
		}
		counts := map[kernel.FoundValue]float64{}
		for _, row := range rows {
			for column, text := range []string{row[0], row[2]} {
				if text != "" {
					counts[kernel.FoundValue{Column: column, Text: text}]++
				}
			}
		}
		for i, f := range found {
			of := kernel.FoundValue{Column: f.Column, Text: f.Text}
			if f.Count != counts[of] || f.Count < threshold {
				t.Errorf("%v: %+v is released, of %v rows and from %v on", r, f, counts[of], threshold)
			}
			if i > 0 && found[i-1].Column == f.Column && found[i-1].Count < f.Count || i > 0 && found[i-1].Column > f.Column {
				t.Errorf("%v: the order is %v", r, found)
			}
			delete(counts, of)
		}
		for of, n := range counts {
			if n > threshold+1.001 {
				t.Errorf("%v: %+v of %v rows is not released, from %v on", r, of, n, threshold)
			}
		}
		if len(found) < 3 || len(counts) < 3 {
			t.Errorf("%v: %d texts are released, and %d are not", r, len(found), len(counts))
		}
	}
}

// TestFindValuesOrder: neither the order of rows nor what codes texts have matters to what is
// released, or to the counts of the recoded table.
func TestFindValuesOrder(t *testing.T) {
	rows := someTexts(3000)
	type outcome struct {
		Found  []kernel.FoundValue
		Counts []float64
	}
	var first outcome
	for run := range 6 {
		rng := rand.New(rand.NewPCG(uint64(run), 1))
		shuffled := slices.Clone(rows)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		found, _, s := find(t, shuffled.table(rng, privacy.ReplaceOne), 1e-3, kerneltest.Options{Seed: 7})
		if _, err := s.SubBudget().Categories("categories", query.CategoryCounts{Values: []int{9, 2, 9}}, .05); err == nil {
			t.Fatal("codes that depend on other rows are counted")
		}
		values := make([][]string, 3)
		for _, f := range found {
			values[2*f.Column] = append(values[2*f.Column], f.Text)
		}
		a, err := kernel.Recode(s.SubBudget(), values)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := a.Categories("categories", query.CategoryCounts{Values: []int{len(values[0]) + 2, 2, len(values[2]) + 2}}, .05)
		if err != nil {
			t.Fatal(err)
		}
		if own := (outcome{found, counts.Values}); run == 0 {
			first = own
		} else if !reflect.DeepEqual(own, first) {
			t.Fatalf("run %d: released %v, and first %v", run, own, first)
		}
	}
}

// TestRecode: a row's code is the number of its text, the next number for another text, and the one
// after it for none; columns of codes keep theirs; numbers stay.
func TestRecode(t *testing.T) {
	rows := textTable{{"b", "1", "x"}, {"a", "0", ""}, {"c", "1", "x"}, {"", "0", "y"}, {"b", "0", "x"}}
	_, _, s := find(t, rows.table(rand.New(rand.NewPCG(3, 1)), privacy.AddRemoveOne), 1e-3, kerneltest.Options{Exact: true})
	a, err := kernel.Recode(s.SubBudget(), [][]string{{"a", "b"}, nil, {}})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := a.Categories("categories", query.CategoryCounts{Values: []int{4, 2, 2}}, .05)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 2, 1, 1, 3, 2, 4, 1} {
		if math.Abs(counts.Values[i]-want) > 1e-3 {
			t.Errorf("cell %d: %v rows, want %v of %v", i, counts.Values[i], want, counts.Values)
		}
	}
	for _, values := range [][][]string{{{"a"}}, {nil, {"1"}, nil}} {
		if _, err := kernel.Recode(s.SubBudget(), values); err == nil {
			t.Errorf("%v recode a table of three columns, of which the second has codes", values)
		}
	}
	for _, columns := range [][]int{{1}, {5}, nil} {
		if _, _, err := kernel.FindValues(s.SubBudget(), "values", query.CategoryValues{Columns: columns}, .01); err == nil {
			t.Errorf("texts of the columns %v are found", columns)
		}
	}
}

// TestFindValuesOfPersons: of a person with many rows one row counts, with its text.
func TestFindValuesOfPersons(t *testing.T) {
	b := people.NewMixedBuilder(1, 1)
	for person := range 400 {
		for i := range 1 + person%7 {
			b.Append(fmt.Sprint(person), 0, []float64{1, float64(person % 2), float64(i)}[:2])
		}
	}
	b.NameCodes([][]string{{"even", "odd"}})
	plan := valuePlan
	s := kerneltest.Open(t, b.Protect(privacy.AddRemoveOne, 1, nil)[0], plan, terms, kerneltest.Options{Exact: true})
	found, _, err := kernel.FindValues(s.SubBudget(), "values", query.CategoryValues{Columns: []int{0}}, .7*s.Mu())
	if want := []kernel.FoundValue{{Text: "even", Count: 200}, {Text: "odd", Count: 200}}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%v: found %v, want %v", err, found, want)
	}
}

// TestFindValuesAudit attacks the release of texts with real noise: a text that one row has is
// released no more often than its part of delta allows, and the noisy count of another text tells a
// row no better than its mu.
func TestFindValuesAudit(t *testing.T) {
	const runs = 3000
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		own, above := [2]int{}, [2]int{}
		var m kernel.Measurement
		for side := range 2 {
			rows := someTexts(0)
			for range 400 {
				rows = append(rows, [3]string{"many", "0", "one"})
			}
			if last := [3]string{"many", "0", "one"}; side == 1 {
				rows = append(rows, [3]string{"secret", "0", "hidden"})
			} else if r == privacy.ReplaceOne {
				rows = append(rows, last)
			}
			table := rows.table(rand.New(rand.NewPCG(1, 1)), r)
			for range runs {
				var found []kernel.FoundValue
				found, m, _ = find(t, table, .5, kerneltest.Options{Fresh: true})
				for _, f := range found {
					if f.Text == "secret" || f.Text == "hidden" {
						own[side]++
					}
					if f.Text == "many" && f.Count > 400 {
						above[side]++
					}
				}
			}
		}
		// At most s of the runs show one: with 4 standard deviations to spare.
		if s := m.Delta / (1 + math.Exp(2)); own[0] > 0 || float64(own[1]) > runs*s+4*math.Sqrt(runs*s)+1 {
			t.Errorf("%v: a text of one row is released in %d of %d runs, at most %.3g are allowed", r, own[1], runs, s)
		}
		most := math.Erf(m.Mu / 2 / math.Sqrt2) // total variation of mu-GDP
		if d := math.Abs(float64(above[0]-above[1])) / runs; d > most+4/math.Sqrt(2*runs) {
			t.Errorf("%v: counts tell neighbours apart by %v, %v is allowed", r, d, most)
		}
	}
}
