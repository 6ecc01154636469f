package report

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	texts "text/template"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// The words of the verdict: a heading behind "# ", then one point a line.
//
//go:embed verdict.txt
var verdictSource string

var verdictTemplate = texts.Must(texts.New("verdict").Funcs(said).Parse(verdictSource))

// A verdict is one of the three answers on top of a page: what was learned, what can be trusted,
// what not.
type verdict struct {
	Heading string
	Points  []string
}

// Worst noise of a column's mean, in its standard deviations, up to which figures are called good
// to quote, and rough. Guesses.
const quotable, rough = .05, .25

// looseSpread is the noise of a component's standard deviations from which it is named as loose. A
// guess.
const looseSpread = .15

// judge puts a release into words for who reads no table.
func judge(r *release.Release, t overall.Table, rows []componentRow) (out []verdict) {
	of := struct {
		*release.Release
		Rows           []componentRow
		Largest        componentRow
		Described      float64 // the share of the rows that the components hold
		Known          bool    // the noise of all columns is known
		Mean, SD       float64 // the worst of any column, relative to its sd
		Good, Rough    bool
		Loose, Misfits []string // numbers of components
		Chance         bool     // sampling outweighs noise
		Inferred       bool
	}{Release: r, Rows: rows, Known: true, Chance: true, Inferred: r.Certificate.Schema == release.SchemaInferred}
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
	for _, c := range t.Columns {
		if c.SD.Value == 0 {
			continue
		}
		of.Known = of.Known && !math.IsNaN(c.Mean.Noise)
		of.Mean, of.SD = max(of.Mean, c.Mean.Noise/c.SD.Value), max(of.SD, c.SD.Noise/c.SD.Value)
		of.Chance = of.Chance && c.Mean.Sampling > c.Mean.Noise
	}
	of.Good, of.Rough = max(of.Mean, of.SD/2) <= quotable, max(of.Mean, of.SD/2) <= rough
	var b strings.Builder
	if err := verdictTemplate.Execute(&b, of); err != nil {
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

// nameSDs is how far a component's mean is from the whole's, in the whole's standard deviations,
// where it is said of it; strongSDs where it is said with "very". Guesses.
const nameSDs, strongSDs = .5, 1.5

// called are names that one can say of components, by the one or two columns in which each is
// farthest from the whole: "high age, low bmi". There are none where there is one component.
func called(t overall.Table, parts []part) []string {
	names := make([]string, len(parts))
	if len(parts) < 2 {
		return names
	}
	for i, p := range parts {
		var said []string
		used := -1
		for range 2 {
			best, at := nameSDs, -1
			for j, c := range t.Columns {
				if z := math.Abs(p.mean[j]/c.SD.Value - c.Mean.Value/c.SD.Value); c.SD.Value > 0 && j != used && z >= best {
					best, at = z, j
				}
			}
			if at < 0 {
				break
			}
			word := "high "
			if p.mean[at] < t.Columns[at].Mean.Value {
				word = "low "
			}
			if best >= strongSDs {
				word = "very " + word
			}
			said, used = append(said, word+shorten(columnName(t.Columns[at].Name, at), nameCells)), at
		}
		if names[i] = strings.Join(said, ", "); said == nil {
			names[i] = "about the mean of all"
		}
	}
	return names
}

// listed writes "1, 2 and 3".
func listed(names []string) string {
	if n := len(names); n > 1 {
		return "components " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return "component " + strings.Join(names, "")
}
