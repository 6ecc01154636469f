package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// checkGiven reports what is wrong with the column that c depends on, and with the probabilities
// given its values.
func (m *Mixture) checkGiven(field string, c *Category) error {
	if c.Of == "" && c.Given == nil {
		return nil
	}
	at := slices.IndexFunc(m.Categories, func(o Category) bool { return o.Name == c.Of && o.Name != c.Name })
	if at < 0 {
		return fieldError(field+".of", "another column of categories", strconv.Quote(c.Of), "leave it out")
	}
	if len(c.Given) != len(m.Components) {
		return fieldError(field+".given", countOf(len(m.Components), "table")+", one for each component", countOf(len(c.Given), "table"), "give one for each component")
	}
	for i, of := range c.Given {
		if n := len(m.Categories[at].Values); len(of) != n {
			return fieldError(fmt.Sprintf("%s.given[%d]", field, i), countOf(n, "row")+", one for each value of "+strconv.Quote(c.Of), countOf(len(of), "row"), "give one row for each value")
		}
		for v, p := range of {
			if err := checkProbabilities(fmt.Sprintf("%s.given[%d][%d]", field, i, v), p, len(c.Values)); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawingOrder returns the columns by their numbers, each after the one that it depends on; those
// in a circle are left out.
func drawingOrder(columns []Category) (order []int) {
	for range columns {
		for a, c := range columns {
			after := c.Of == "" || slices.ContainsFunc(order, func(b int) bool { return columns[b].Name == c.Of })
			if after && !slices.Contains(order, a) {
				order = append(order, a)
			}
		}
	}
	return order
}

// parents returns the number of the column that each depends on, -1 for none.
func parents(columns []Category) (out []int) {
	for _, c := range columns {
		at := -1
		if c.Of != "" {
			at = slices.IndexFunc(columns, func(o Category) bool { return o.Name == c.Of })
		}
		out = append(out, at)
	}
	return out
}

// Categories draws the values of the columns of categories for a row of a component, and writes
// their numbers to dst.
func (s *Sampler) Categories(dst []int, component int, rng *rand.Rand) {
	for _, a := range s.order {
		upTo := s.values[a][component]
		if p := s.parents[a]; p >= 0 {
			upTo = s.given[a][component][dst[p]]
		}
		u := rng.Float64() * upTo[len(upTo)-1]
		i := 0
		for i < len(upTo)-1 && upTo[i] <= u {
			i++
		}
		dst[a] = i
	}
}

// ofGiven applies f, cumulated or logarithms, to the probabilities given other columns' values.
func ofGiven(columns []Category, f func([]Category) [][][]float64) (out [][][][]float64) {
	for _, c := range columns {
		var tables [][][]float64
		for _, of := range c.Given {
			tables = append(tables, f([]Category{{Probabilities: of}})[0])
		}
		out = append(out, tables)
	}
	return out
}
