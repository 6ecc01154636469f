package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// NumbersFormat names the version of [JSON]'s format.
const NumbersFormat = "gauze/report/v1"

// numbers is a report as JSON: of one model, of columns by themselves, or of groups.
type numbers struct {
	Format   string            `json:"format"`
	Identity *release.Identity `json:"identity,omitempty"`
	*modelNumbers
	Profile []profileNumbers `json:"profile,omitempty"`
	Groups  []groupNumbers   `json:"groups,omitempty"`
}

type groupNumbers struct {
	By map[string]string `json:"by"`
	*modelNumbers
	Profile   []profileNumbers `json:"profile,omitempty"`
	NoRelease *release.Reason  `json:"no_release,omitempty"`
}

type modelNumbers struct {
	Table      tableNumbers       `json:"table"`
	Components []componentNumbers `json:"components"`
	Flags      []release.Flag     `json:"flags,omitempty"`
	Core       *release.Core      `json:"core,omitempty"`
	Number     *release.Number    `json:"number,omitempty"`
}

// componentNumbers describes one component's rows.
type componentNumbers struct {
	Number     int       `json:"component"` // from 1 on, as in tables and pictures
	Background bool      `json:"background"`
	Weight     estimated `json:"weight"`
	tableNumbers
	Misfit float64        `json:"misfit,omitempty"`
	Flags  []release.Flag `json:"flags,omitempty"`
}

type tableNumbers struct {
	Rows         *float64        `json:"rows,omitempty"` // n, or noisy; left out if unknown
	Columns      []columnNumbers `json:"columns"`
	Correlations [][]estimated   `json:"correlations"`
	// For the columns of categories.
	Categories []categoryNumbers `json:"categories,omitempty"`
}

type columnNumbers struct {
	Name          string               `json:"name"`
	Label         string               `json:"label,omitempty"`
	UnitOfMeasure string               `json:"unit_of_measure,omitempty"`
	Mean          estimated            `json:"mean"`
	SD            estimated            `json:"sd"`
	Quantiles     map[string]estimated `json:"quantiles"` // by the part of the rows below
}

// An estimated is a number with the standard deviations of the noise and of sampling, each left out
// if it is not known.
type estimated struct {
	Value    *float64 `json:"value,omitempty"`
	Noise    *float64 `json:"noise,omitempty"`
	Sampling *float64 `json:"sampling,omitempty"`
}

// writtenDigits is smaller than the digits of a float64, so that all machines write the same.
const writtenDigits = 12

// finite returns x to writtenDigits significant digits, or nil for what JSON cannot say.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', writtenDigits, 64), 64) // a number that was formatted parses
	return &x
}

func numberOf(a overall.Amount) estimated {
	return estimated{finite(a.Value), finite(a.Noise), finite(a.Sampling)}
}

func tableOf(r *release.Release, t overall.Table) tableNumbers {
	out := tableNumbers{Rows: finite(t.Rows)}
	for j, c := range t.Columns {
		public := r.Column(j)
		column := columnNumbers{Name: r.Model.Columns[j], Label: public.Label, UnitOfMeasure: public.UnitOfMeasure, Mean: numberOf(c.Mean), SD: numberOf(c.SD), Quantiles: map[string]estimated{}}
		for i, q := range c.Quantiles {
			column.Quantiles[levelName(i)] = numberOf(q)
		}
		out.Columns = append(out.Columns, column)
	}
	for _, line := range t.Correlations {
		var row []estimated
		for _, a := range line {
			row = append(row, numberOf(a))
		}
		out.Correlations = append(out.Correlations, row)
	}
	return out
}

// levelName returns the part of the rows below quantile i, as text.
func levelName(i int) string { return strconv.FormatFloat(overall.Levels[i], 'f', -1, 64) }

// numbersOf returns the numbers of a release with one valid model.
func numbersOf(r *release.Release) *modelNumbers {
	out := &modelNumbers{Table: tableOf(r, overall.Of(r)), Flags: r.Diagnostics.Flags, Core: r.Diagnostics.Core, Number: r.Diagnostics.Number}
	out.Table.Categories = categoriesOf(r, -1)
	for i, c := range overall.Components(r) {
		n := note(r, i)
		out.Components = append(out.Components, componentNumbers{Number: i + 1, Background: c.Background, Weight: numberOf(c.Weight), tableNumbers: tableOf(r, c.Table),
			Misfit: n.Misfit, Flags: n.Flags})
		out.Components[i].Categories = categoriesOf(r, i)
	}
	return out
}

// modelOf returns the numbers of a release's model, nil if it has a profile instead.
func modelOf(r *release.Release) (*modelNumbers, error) {
	if isProfile(r) {
		return nil, nil
	}
	if err := check(r); err != nil {
		return nil, err
	}
	return numbersOf(r), nil
}

// collect checks r as HTML does.
func collect(r *release.Release) (*numbers, error) {
	if r == nil || r.Groups == nil {
		model, err := modelOf(r)
		if err != nil {
			return nil, err
		}
		return &numbers{Format: NumbersFormat, Identity: r.Identity, modelNumbers: model, Profile: columnsOf(r)}, nil
	}
	out := &numbers{Format: NumbersFormat, Identity: r.Identity}
	for i := range r.Groups {
		g := groupNumbers{By: r.Groups[i].By, NoRelease: r.Groups[i].NoRelease}
		if g.NoRelease == nil {
			own := r.Of(i)
			var err error
			if g.modelNumbers, err = modelOf(own); err != nil {
				return nil, err
			}
			g.Profile = columnsOf(own)
		}
		out.Groups = append(out.Groups, g)
	}
	return out, nil
}

// JSON writes the numbers of a report for programs: mean, standard deviation, quantiles and
// correlations of the columns, of the table as a whole and of each component, with the standard
// deviations of the noise and of sampling; weights, rows and flags; and the profile of the columns,
// where there is one. It fails as HTML does.
func JSON(w io.Writer, r *release.Release) error {
	n, err := collect(r)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(n); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// CSV writes the same numbers, one per line, except for flags, notes, histograms and the reasons of
// groups without a model: the group; the part, which is "table", "component", "background" or
// "profile"; the component's number; the quantity; its columns; value, noise and sampling, empty
// where unknown.
func CSV(w io.Writer, r *release.Release) error {
	n, err := collect(r)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	lines := [][]string{{"group", "part", "component", "statistic", "column", "other_column", "value", "noise", "sampling"}}
	if n.modelNumbers != nil {
		lines = n.lines(lines, "")
	}
	for i := range n.Profile {
		lines = n.Profile[i].lines(lines, "")
	}
	for i, g := range n.Groups {
		name := r.Groups[i].Name(r.Certificate.By)
		if g.modelNumbers != nil {
			lines = g.lines(lines, name)
		}
		for j := range g.Profile {
			lines = g.Profile[j].lines(lines, name)
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// lines appends the numbers of a model.
func (m *modelNumbers) lines(to [][]string, group string) [][]string {
	to = m.Table.lines(to, group, "table", "")
	for _, c := range m.Components {
		part, number := "component", strconv.Itoa(c.Number)
		if c.Background {
			part = "background"
		}
		to = append(to, c.Weight.line(group, part, number, "weight", "", ""))
		to = c.tableNumbers.lines(to, group, part, number)
	}
	return to
}

// lines appends the numbers of a table; each correlation once.
func (t tableNumbers) lines(to [][]string, group, part, component string) [][]string {
	add := func(f estimated, statistic, column, other string) {
		to = append(to, f.line(group, part, component, statistic, column, other))
	}
	if t.Rows != nil {
		add(estimated{Value: t.Rows}, "rows", "", "")
	}
	for _, c := range t.Columns {
		add(c.Mean, "mean", c.Name, "")
		add(c.SD, "sd", c.Name, "")
		for i := range overall.Levels {
			add(c.Quantiles[levelName(i)], "quantile "+levelName(i), c.Name, "")
		}
	}
	for i, row := range t.Correlations {
		for j := i + 1; j < len(row); j++ {
			add(row[j], "correlation", t.Columns[i].Name, t.Columns[j].Name)
		}
	}
	for _, c := range t.Categories {
		for i, v := range c.values {
			add(c.Shares[v], "share of "+c.called[i], c.Name, "")
		}
	}
	return to
}

func (f estimated) line(group, part, component, statistic, column, other string) []string {
	line := []string{group, part, component, statistic, column, other}
	for _, x := range []*float64{f.Value, f.Noise, f.Sampling} {
		text := ""
		if x != nil {
			text = strconv.FormatFloat(*x, 'g', -1, 64)
		}
		line = append(line, text)
	}
	return line
}
