package kernel

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A FoundValue is one released text of a column of categories.
type FoundValue struct {
	Column int // the number of the column in query.CategoryValues.Columns
	Text   string
	Count  float64 // noisy
}

// FindValues releases the texts whose noisy counts pass the threshold: by column, the largest count
// first. A rarer text is never released.
//
// Theorem. Let J be the number of columns, S = sqrt(2J) (replace-one) or sqrt J, sigma = S/mu, s
// the slack that the step's delta buys, and T = 2 + ceil(sigma q), P(Z >= q) <= s/J. Releasing the
// texts whose noisy count reaches T is mu-GDP up to total variation s.
//
// Proof: stability_proof.md, steps 1 to 3 and 6.
//
// Source: [KSSU19] Sections A.2, A.4 and B.11 of the restatement.
func FindValues(a *core.SubBudget, step string, q query.CategoryValues, mu float64) (found []FoundValue, sigma float64, err error) {
	if q, err = core.Checked(a, q); err != nil {
		return nil, 0, err
	}
	s := a.Session()
	for _, column := range q.Columns {
		if !slices.Contains(s.Texts(), column) {
			return nil, 0, fmt.Errorf("kernel: step %q: want columns of categories that have texts, %v, got %d", step, s.Texts(), column)
		}
	}
	sensitivity := core.Grouped(a, q.Sensitivity(s.Relation()))
	if sigma, err = core.Sigma(step, sensitivity, mu); err != nil {
		return nil, 0, err
	}
	line := core.Measurement{Sensitivity: sensitivity, Noise: sigma, Mu: mu}
	values, err := core.Line(a, step, q, line, true, func(d *core.Draw) ([]float64, []int64) {
		threshold := privacy.Threshold(core.Group(a), sigma, d.LogSlack()-math.Log(core.Group(a)*float64(q.Histograms())))
		return flatValues(passing(d.Context(), engine.Values(d.Context(), d.Rows(), q), threshold, func() int64 { return d.Gaussian(sigma) })), nil
	})
	return unflatValues(values), sigma, err
}

// passing returns the texts whose noisy count reaches the threshold. It draws the noise in the
// order of columns and texts, and their order follows from noisy counts alone, so that the order of
// rows does not matter. If the context ends it stops early, and what it returns must be discarded.
func passing(ctx context.Context, counts []map[string]int64, threshold float64, draw func() int64) (found []FoundValue) {
	for column, of := range counts {
		first := len(found)
		for _, text := range slices.Sorted(maps.Keys(of)) {
			if ctx.Err() != nil {
				return nil
			}
			if noisy := float64(of[text] + draw()); noisy >= threshold {
				found = append(found, FoundValue{column, text, noisy})
			}
		}
		slices.SortStableFunc(found[first:], func(x, y FoundValue) int { return cmp.Compare(y.Count, x.Count) })
	}
	return found
}

// flatValues writes texts as column, count, number of bytes, bytes; unflatValues reads them back.
func flatValues(found []FoundValue) (values []float64) {
	for _, f := range found {
		values = append(values, float64(f.Column), f.Count, float64(len(f.Text)))
		for i := range len(f.Text) {
			values = append(values, float64(f.Text[i]))
		}
	}
	return values
}

// unflatValues reads what flatValues has written.
func unflatValues(values []float64) (found []FoundValue) {
	for len(values) >= 3 {
		own := FoundValue{Column: int(values[0]), Count: values[1]}
		text := make([]byte, int(values[2]))
		for i := range text {
			text[i] = byte(values[3+i])
		}
		own.Text = string(text)
		found, values = append(found, own), values[3+len(text):]
	}
	return found
}

// Recode returns a sub-budget of the same table whose texts are codes: in column a the number of a
// row's text among values[a], the number after the last for any other text, and the next one for
// none. A column whose values are nil keeps what it has. It has a's budget, and measurements cost
// the same. Recode takes one pass over the codes, costs nothing and releases nothing.
//
// Theorem. Measurements of the table and of the recoded one together satisfy the same guarantee as
// if all were of the table, provided that values are public or released.
//
// Proof. A row of the new table has the numbers of the old row, and its code in a column is a
// function of that row's text and of values, which is the same for both neighbours given what was
// released: neither other rows nor their order matter. So the tables made of neighbours differ in
// that one row, by replacing it or by its presence, or not at all. Each measurement of the new
// table satisfies the theorem of its own kind, and the filter holds their sum.
func Recode(a *core.SubBudget, values [][]string) (recoded *core.SubBudget, err error) {
	if c := a.Session().Categories(); len(values) != c {
		return nil, fmt.Errorf("kernel: Recode: want values, or nil, for %d columns of categories, got %d", c, len(values))
	}
	for column, of := range values {
		if of != nil && !slices.Contains(a.Session().Texts(), column) {
			return nil, fmt.Errorf("kernel: Recode: want no values for column %d, which has codes, got some", column)
		}
	}
	err = core.Secretly(a, func(d *core.Draw) error {
		t := d.Rows().Recoded(d.Context(), values)
		if err := d.Filled(t); err != nil {
			return err
		}
		recoded = core.Instead(a, t, d.Relation(), 0)
		return nil
	})
	return recoded, err
}
