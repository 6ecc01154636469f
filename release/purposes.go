package release

import (
	"math"
	"slices"
	"strings"
)

// A Purpose is what measurements of a plan are for, how often the rows are asked for it, and for
// which share of the budget.
type Purpose struct {
	Text  string
	Count int
	Share float64
}

// purposes says in words for people what the steps of methods are for, by their names: "PREFIX:"
// stands for all that begin so, and for all of a method of that name; "METHOD: NAME" comes first,
// where methods use one name for two things.
var purposes = []struct {
	text  string
	steps []string
}{
	{"each column by itself: cells, quantiles, values of many rows", []string{"profile:", "rest"}},
	{"how many rows there are, and which cells they lack", []string{"count", "rows with cells", "missing cells", "pairs", "cells"}},
	{"centres and units of the columns", []string{"units:", "center", "varied", "scale", "weak scale", "octaves", "spread", "place", "recorded units"}},
	{"where groups lie: gaps and histograms of the column", []string{"univariate: gaps", "places", "closer looks"}},
	{"where groups are far apart: boxes between gaps of columns", []string{"gaps", "gaps in boxes", "histograms", "trees in boxes", "trees of counts", "boxes", "boxes within boxes"}},
	{"where there are gaps between groups: trees of counts, by level", []string{"apart:"}},
	{"where groups overlap: one tree of counts", []string{"global moments", "tree of counts"}},
	{"in many columns: groups in a few directions", []string{"parts of a projection"}},
	{"where one group is seen: mean and covariance of all rows", []string{"one:"}},
	{"whether groups are bell-shaped, or two: counts along lines", []string{"shapes of components", "directions of groups", "lines in components", "general: columns", "separated: columns"}},
	{"how columns vary together: directions of pairs of rows", []string{"directions"}},
	{"where directions show nothing: moments, column by column", []string{"column radii", "column moments", "columns", "far columns"}},
	{"how far out rows lie, and how many far from all others", []string{"far", "beyond", "tail"}},
	{"the mean and covariance that are released", []string{"moments"}},
	{"whether estimates of secret blocks of rows agree", []string{"agreement of blocks"}},
	{"rounds of EM, each with better groups", []string{"EM rounds"}},
	{"whether several groups explain the rows better than one", []string{"contest"}},
	{"the groups that are released", []string{"last round", "shapes", "looks"}},
	{"rows outside of every group", []string{"rows outside"}},
	{"moments of the columns, which the groups keep to", []string{"means of columns", "overall moments"}},
	{"categories: their values, and how often they occur together", []string{"categories", "category pairs", "category tree", "category values"}},
}

// purposeOf returns what a step of a method is for. The steps of an algorithm as printed keep the
// names that its paper suggests.
func purposeOf(method, step string) string {
	if strings.Contains(method, ":") {
		return step
	}
	prefix, _, _ := strings.Cut(step, ": ")
	step = strings.TrimPrefix(strings.TrimPrefix(step, "partial "), "round ")
	for _, name := range []string{prefix + ":", method + ":", method + ": " + step, step} {
		for _, p := range purposes {
			if slices.Contains(p.steps, name) {
				return p.text
			}
		}
	}
	return step
}

// Purposes returns the steps of a method's plan, each with its name as the text, by what they are
// for: those of one purpose are one, where the first of them comes. Counts add up, and shares up to
// 1, since steps of a plan may be alternatives.
func Purposes(method string, steps []Purpose) (out []Purpose) {
	at := map[string]int{}
	for _, s := range steps {
		s.Text = purposeOf(method, s.Text)
		i, known := at[s.Text]
		if !known {
			at[s.Text] = len(out)
			out = append(out, s)
			continue
		}
		out[i].Count += s.Count
		out[i].Share = math.Min(1, out[i].Share+s.Share)
	}
	return out
}
