package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// A categoryTable shows one column of categories: the shares of its values among all rows and those
// of each shown component.
type categoryTable struct {
	Name   string
	Values []categoryRow // the most frequent first
	Noise  []string      // of a share of all rows, and of each component's
	Of     string        // the column that it depends on; empty for none
	Rest   string        // text about the values that are not shown; empty for none
}

// A categoryRow is one value.
type categoryRow struct {
	Value string
	Share float64  // of all rows
	Cells []string // the shares of all rows and of each component's
}

// mostValues is the number of values of a column that are shown: the rest is in the release.
const mostValues = 20

// missingValue is the label of a missing cell.
const missingValue = "(missing)"

// categoryTables returns the tables of a release's columns of categories, for the components of
// parts.
func categoryTables(r *release.Release, parts []part) (out []categoryTable) {
	for a := range r.Model.Categories {
		c := &r.Model.Categories[a]
		whole, noise := shareOfCategories(r, c)
		t := categoryTable{Name: columnName(calledCategory(r, c.Name), len(r.Model.Columns)+a), Noise: []string{categoryNoise(noise)}}
		if c.Of != "" {
			t.Of = clean(calledCategory(r, c.Of))
		}
		for _, p := range parts {
			t.Noise = append(t.Noise, categoryNoise(note(r, p.index).CategoryNoise))
		}
		order := make([]int, len(c.Values))
		for v := range order {
			order[v] = v
		}
		slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(whole[w], whole[v]) })
		rest := 0.
		for i, v := range order {
			if i >= mostValues {
				rest += whole[v]
				continue
			}
			row := categoryRow{Value: clean(valueCalled(r.Named(c.Name), c.Values[v])), Share: whole[v], Cells: []string{percent(whole[v])}}
			for _, p := range parts {
				row.Cells = append(row.Cells, percent(c.Probabilities[p.index][v]))
			}
			t.Values = append(t.Values, row)
		}
		if n := len(order) - mostValues; n > 0 {
			t.Rest = fmt.Sprintf("%s with %s of the rows are in the release", words.Plural(n, "other value"), percent(rest))
		}
		out = append(out, t)
	}
	return out
}

// valueCalled returns a value as people read it: yes and no of a column of these, and missing.
func valueCalled(public release.Column, value string) string {
	if at := slices.Index([]string{"0", "1"}, value); at >= 0 && public.Kind == release.KindYesNo {
		value = []string{"no", "yes"}[at]
	}
	return cmp.Or(value, missingValue)
}

// calledCategory returns the label of a column of categories.
func calledCategory(r *release.Release, name string) string {
	for _, c := range r.Columns {
		if c.Name == name {
			return c.Called()
		}
	}
	return name
}

// shareOfCategories returns the shares of the values among all rows, and the noise of each; 0 if it
// is not known.
func shareOfCategories(r *release.Release, c *model.Category) (shares []float64, noise float64) {
	sum := 0.
	for i, w := range r.Model.Weights {
		sum += math.Pow(w*note(r, i).CategoryNoise, 2)
	}
	return c.Share(r.Model.Weights), math.Sqrt(sum)
}

// categoryNoise returns the possible error of a share, as text.
func categoryNoise(noise float64) string {
	if !(noise > 0) {
		return ""
	}
	return "± " + percent(noise)
}

// categoryNumbers holds the shares of one column of categories.
type categoryNumbers struct {
	Name   string               `json:"name"`
	Label  string               `json:"label,omitempty"`
	Shares map[string]estimated `json:"shares"` // by the values; "" is a missing cell
	values []string             // their keys
	called []string             // .. and as people read them
}

// categoriesOf returns the shares of the values among all rows, or those of component i.
func categoriesOf(r *release.Release, i int) (out []categoryNumbers) {
	for a := range r.Model.Categories {
		c := &r.Model.Categories[a]
		shares, noise := shareOfCategories(r, c)
		if i >= 0 {
			shares, noise = c.Probabilities[i], note(r, i).CategoryNoise
		}
		own := categoryNumbers{Name: c.Name, Shares: map[string]estimated{}, values: c.Values}
		if label := calledCategory(r, c.Name); label != c.Name {
			own.Label = label
		}
		for v, value := range c.Values {
			e := estimated{Value: finite(shares[v])}
			if noise > 0 {
				e.Noise = finite(noise)
			}
			own.Shares[value], own.called = e, append(own.called, valueCalled(r.Named(c.Name), value))
		}
		out = append(out, own)
	}
	return out
}
