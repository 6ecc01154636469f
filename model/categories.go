package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
)

// A Category is a column of categories beside the numbers of a mixture. Given the component of a
// row, and the row's value in the column Of if there is one, its value is independent of all
// columns but those that depend on it.
type Category struct {
	Name   string
	Values []string // m distinct values; "" is a missing cell
	// Probabilities are those of the values in each of the k components, k x m.
	Probabilities [][]float64
	// Of names the column of categories on which the value depends within a component; "" for none.
	// No column depends on itself by way of others.
	Of string
	// Given are the probabilities of the values given each value of that column, k x its m x m; nil
	// where Of is empty. Averaged over that column's values they are Probabilities, but for
	// rounding.
	Given [][][]float64
}

// Share returns the probability of every value in the mixture with these weights.
func (c *Category) Share(weights []float64) []float64 {
	out, total := make([]float64, len(c.Values)), floats.Sum(weights)
	for i, p := range c.Probabilities {
		floats.AddScaled(out, weights[i]/total, p)
	}
	return out
}

// Header returns the names of all columns: in Order where that is set, else those of numbers and
// then those of categories.
func (m *Mixture) Header() []string {
	if m.Order != nil {
		return m.Order
	}
	header := slices.Clone(m.Columns)
	for _, c := range m.Categories {
		header = append(header, c.Name)
	}
	return header
}

// checkCategories returns an error if the columns of categories or their order are invalid.
func (m *Mixture) checkCategories() error {
	for a, c := range m.Categories {
		field := "categories." + c.Name
		taken := func(o Category) bool { return o.Name == c.Name }
		if c.Name == "" || slices.Contains(m.Columns, c.Name) || slices.ContainsFunc(m.Categories[:a], taken) {
			return fieldError("categories", "a name of its own for each column", strconv.Quote(c.Name), "rename one")
		}
		if len(c.Values) == 0 {
			return fieldError(field+".values", "at least one value", "none", "list what a cell can hold")
		}
		for i, v := range c.Values {
			if slices.Contains(c.Values[:i], v) {
				return fieldError(fmt.Sprintf("%s.values[%d]", field, i), "every value once", strconv.Quote(v)+" twice", "take one out")
			}
		}
		if len(c.Probabilities) != len(m.Components) {
			return fieldError(field+".probabilities", countOf(len(m.Components), "row")+", one for each component", countOf(len(c.Probabilities), "row"), "give one row for each component")
		}
		for i, p := range c.Probabilities {
			if err := checkProbabilities(fmt.Sprintf("%s.probabilities[%d]", field, i), p, len(c.Values)); err != nil {
				return err
			}
		}
		if err := m.checkGiven(field, &c); err != nil {
			return err
		}
	}
	if len(drawingOrder(m.Categories)) < len(m.Categories) {
		return fieldError("categories", "no column that depends on itself", "a circle of fields \"of\"", "leave one of them out")
	}
	if m.Order != nil && !slices.Equal(slices.Sorted(slices.Values(m.Order)), slices.Sorted(slices.Values((&Mixture{Columns: m.Columns, Categories: m.Categories}).Header()))) {
		return fieldError("order", "every column once", quoted(m.Order), "leave it out")
	}
	return nil
}

func checkProbabilities(field string, p []float64, n int) error {
	if len(p) != n {
		return fieldError(field, countOf(n, "number")+", one for each value", countOf(len(p), "number"), "give one probability for each value")
	}
	for i, v := range p {
		if !dense.Finite(v) || v < 0 {
			return fieldError(fmt.Sprintf("%s[%d]", field, i), "a finite number >= 0", v, "give the share of the component's rows")
		}
	}
	if sum := floats.Sum(p); !(math.Abs(sum-1) <= weightTolerance) {
		return fieldError(field, "a sum of 1 (within 1e-6)", fmt.Sprintf("a sum of %v", sum), "divide every probability by the sum")
	}
	return nil
}

// categoryFields are the columns of categories as a model's JSON has them: an object by name, in
// order.
type categoryFields []Category

type categoryObject struct {
	Values        []string     `json:"values"`
	Probabilities [][]number   `json:"probabilities"`
	Of            string       `json:"of,omitempty"`
	Given         [][][]number `json:"given,omitempty"`
}

// MarshalJSON writes the object.
func (c categoryFields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encode := func(v any) error { // as encoding/json, without escapes for HTML
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		err := e.Encode(v)
		out.Truncate(len(bytes.TrimRight(out.Bytes(), "\n")))
		return err
	}
	out.WriteByte('{')
	for i, column := range c {
		if i > 0 {
			out.WriteByte(',')
		}
		o := categoryObject{Values: column.Values, Of: column.Of}
		for _, of := range column.Given {
			var rows [][]number
			for _, p := range of {
				rows = append(rows, asNumbers(p))
			}
			o.Given = append(o.Given, rows)
		}
		for _, p := range column.Probabilities {
			o.Probabilities = append(o.Probabilities, asNumbers(p))
		}
		if err := encode(column.Name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encode(o); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// UnmarshalJSON reads the object in the order in which it is written.
func (c *categoryFields) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return fieldError("categories", "an object by the names of columns", describe(data), "")
	}
	var out categoryFields
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		column := Category{Name: fmt.Sprint(name)}
		fields := map[string]json.RawMessage{}
		if decoder.Decode(&fields) != nil {
			return fieldError("categories."+column.Name, `an object {"values": [..], "probabilities": [[..], ..]}`, "something else", "")
		}
		for field, into := range map[string]any{"values": &column.Values, "probabilities": &column.Probabilities, "of": &column.Of, "given": &column.Given} {
			raw, ok := fields[field]
			if !ok && (field == "of" || field == "given") {
				continue
			}
			if !ok || bytes.Contains(raw, []byte("null")) && (field == "probabilities" || field == "given") || json.Unmarshal(raw, into) != nil {
				wanted := "an array of texts"
				switch field {
				case "probabilities":
					wanted = "an array of numbers for each component"
				case "of":
					wanted = "the name of a column"
				case "given":
					wanted = "for each component an array of numbers for each value of the column that it depends on"
				}
				return fieldError("categories."+column.Name+"."+field, wanted, describe(raw), "")
			}
		}
		for i, p := range column.Probabilities { // as for weights: rounding is left alone
			if sum := floats.Sum(p); checkProbabilities("", p, len(column.Values)) == nil && math.Abs(sum-1) > float64(len(p))*machineEps {
				column.Probabilities[i] = slices.Clone(p)
				floats.Scale(1/sum, column.Probabilities[i])
			}
		}
		out = append(out, column)
	}
	*c = out
	return nil
}

// onlyOf returns the columns of categories of the components index.
func onlyOf(columns []Category, index []int) (out []Category) {
	for _, c := range columns {
		if c.Probabilities = taken(c.Probabilities, index); c.Given != nil {
			c.Given = taken(c.Given, index)
		}
		out = append(out, c)
	}
	return out
}

// cumulated returns the sums of probabilities up to each value, by column and component.
func cumulated(columns []Category) (out [][][]float64) {
	for _, c := range columns {
		var of [][]float64
		for _, p := range c.Probabilities {
			of = append(of, floats.CumSum(make([]float64, len(p)), p))
		}
		out = append(out, of)
	}
	return out
}

// logarithms returns the logarithms of probabilities, by column and component.
func logarithms(columns []Category) (out [][][]float64) {
	for _, c := range columns {
		var of [][]float64
		for _, p := range c.Probabilities {
			row := make([]float64, len(p))
			for i, v := range p {
				row[i] = math.Log(v)
			}
			of = append(of, row)
		}
		out = append(out, of)
	}
	return out
}

// A CategoryDistance is the total variation between two models' shares of the values of a column.
type CategoryDistance struct {
	Column string   `json:"column"`
	TV     Distance `json:"tv"`
}

// categoriesApart compares the columns of categories that a and b share: component i of a with j
// of b, or all of both for -1.
func categoriesApart(a, b *Mixture, i, j int) (out []CategoryDistance) {
	of := func(m *Mixture, c *Category, i int) []float64 {
		if i < 0 {
			return c.Share(m.Weights)
		}
		return c.Probabilities[i]
	}
	for x := range a.Categories {
		c := &a.Categories[x]
		y := slices.IndexFunc(b.Categories, func(o Category) bool { return o.Name == c.Name })
		if y < 0 {
			continue
		}
		other, sum := &b.Categories[y], 0.
		p, q := of(a, c, i), of(b, other, j)
		for v, value := range c.Values {
			at := slices.Index(other.Values, value)
			if at < 0 {
				sum += p[v]
				continue
			}
			sum += math.Abs(p[v] - q[at])
		}
		for v, value := range other.Values {
			if !slices.Contains(c.Values, value) {
				sum += q[v]
			}
		}
		out = append(out, CategoryDistance{c.Name, Distance(sum / 2)})
	}
	return out
}
