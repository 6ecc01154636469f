package report

import (
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// A verdict is one of the three answers on top of a page: what was learned, what can be trusted,
// what not. In verdict.txt a heading stands behind "# ", then one point a line.
type verdict struct {
	Heading string
	Points  []string
}

// Worst noise of a column's mean, in its standard deviations, up to which figures are called good
// to quote, and rough. Guesses.
const quotable, rough = .05, .25

// looseSpread is the noise of a component's standard deviations from which on its spread is
// reported as loose. A guess.
const looseSpread = .15

// judge describes a release in words, for readers who skip the tables.
func judge(r *release.Release, t overall.Table, rows []componentRow) (out []verdict) {
	of := struct {
		*release.Release
		Rows      []componentRow
		Largest   componentRow
		Described float64 // the share of the rows that the components hold
		overall.Worst
		Good, Rough    bool
		Loose, Misfits []string // numbers of components
		Inferred       bool
	}{Release: r, Rows: rows, Worst: t.Worst(), Inferred: r.Certificate.Schema == release.SchemaInferred}
	for _, c := range rows {
		of.Described += c.Weight
		if c.Weight > of.Largest.Weight {
			of.Largest = c
		}
		if c.EffectiveNoise/2 > looseSpread {
			of.Loose = append(of.Loose, strconv.Itoa(c.Number))
		}
		if c.Misfit > looseSpread {
			of.Misfits = append(of.Misfits, strconv.Itoa(c.Number))
		}
	}
	of.Good, of.Rough = max(of.Mean, of.SD/2) <= quotable, max(of.Mean, of.SD/2) <= rough
	var b strings.Builder
	if err := says().Execute(&b, "verdict.txt", of); err != nil {
		panic(err) // a strings.Builder never fails, and what the template names is there
	}
	for _, section := range strings.Split("\n"+b.String(), "\n# ")[1:] {
		lines := strings.Split(section, "\n")
		v := verdict{Heading: lines[0]}
		for _, line := range lines[1:] {
			if line = strings.TrimSpace(line); line != "" {
				v.Points = append(v.Points, clean(line))
			}
		}
		out = append(out, v)
	}
	return out
}

// listed returns "1, 2 and 3".
func listed(names []string) string {
	if n := len(names); n > 1 {
		return "components " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return "component " + strings.Join(names, "")
}
