package gauze

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/source"
)

// An Accuracy answers a custodian's question about a plan: how close the release will come to the
// population that the table is a sample of, counting both noise and sampling error. Widths hold in
// 19 of 20 fits, groups are found in 9 of 10. Both were measured on tables of Gaussian groups.
type Accuracy struct {
	// Mean is half the width of the interval for a column's mean, Best the least that any method
	// can promise, both in the column's standard deviation. SD is the relative half width of the
	// standard deviation.
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	Best float64 `json:"no_method_below"`
	// Columns give the same in a column's own unit, where its spread is known.
	Columns []ColumnAccuracy `json:"columns,omitempty"`
	// SmallestGroup is the smallest share of rows at which a group is found that lies Apart
	// standard deviations from others; 0 if the method looks for none.
	SmallestGroup float64 `json:"smallest_group,omitempty"`
	Apart         float64 `json:"apart,omitempty"`
	// RowsFor holds the rows needed for some numbers of groups of equal size.
	RowsFor []GroupRows `json:"rows_for,omitempty"`
}

// A ColumnAccuracy is the accuracy of one column, in its unit.
type ColumnAccuracy struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// TypicalSD is the stated spread, or a sixth of the column's limits.
	TypicalSD float64 `json:"typical_sd"`
	Stated    bool    `json:"stated"`
	Mean      float64 `json:"mean"`
	Best      float64 `json:"no_method_below"`
}

// GroupRows are the rows needed for a number of groups.
type GroupRows struct {
	Groups int     `json:"groups"`
	Rows   float64 `json:"rows"`
}

// How accurate fits are, in multiples of sqrt(d)/(n mu) beside sampling error, and how many rows a
// group needs, in multiples of d/mu. Chosen on 6,000 made-up tables of 1 to 12 columns and 1 to 5
// groups, at epsilon from .3 to 4; TestAccuracyHolds fits fresh ones.
const (
	normalWidth                    = 1.96 // covers 19 of 20
	fitMean, fitSD                 = 65., 40.
	profileMean, profileSD         = 50., 55.
	profileRows                    = 250. // in sqrt(d)/mu
	groupRows                      = 150.
	groupsApart                    = 4.
	mostGroupMu                    = 1.5 // for a larger mu sampling error decides
	limitsSDs                      = 6.  // width of a column's limits, in its spread
	largestGroup                   = .5
	leastShownGroup                = .01
	accurateColumns, severalGroups = 50, 2 // no more columns were measured; two groups
)

var askedGroups = [...]int{1, 2, 3, 5}

// accuracy returns the measured accuracy of the method, without public facts and with a full
// covariance. Nil if nothing was measured, or the rows are too few.
func (q *question) accuracy(guess estimate.Problem) *Accuracy {
	profile := q.method.Name() == MethodProfile
	if !profile && !q.measuredAccuracy(guess) || guess.Columns > accurateColumns || guess.Rows < 1 {
		return nil
	}
	one := q.method.Name() == "gaussian" || guess.Components == 1 || guess.Components == 0 && guess.MaxComponents == 1
	d, n, mu := float64(guess.Columns), float64(guess.Rows), guess.Mu
	mean, sd, least := fitMean, fitSD, q.rowsFor(guess, 1)
	if profile {
		mean, sd, least = profileMean, profileSD, profileRows*math.Sqrt(d)/mu
	}
	noise := math.Sqrt(d) / (n * mu)
	a := &Accuracy{Mean: math.Hypot(normalWidth/math.Sqrt(n), mean*noise), SD: math.Hypot(normalWidth/math.Sqrt(2*n), sd*noise),
		Best: normalWidth * literal.LowerBoundOf(guess, n).Mean / math.Sqrt(d)}
	if profile {
		a.RowsFor = []GroupRows{{1, estimate.AboutRows(least)}}
	}
	if !profile && !one {
		for _, k := range askedGroups {
			a.RowsFor = append(a.RowsFor, GroupRows{k, estimate.AboutRows(q.rowsFor(guess, k))})
		}
		if share := groupRows * d / (math.Min(mu, mostGroupMu) * n); share <= largestGroup && n >= q.rowsFor(guess, severalGroups) {
			a.SmallestGroup, a.Apart = math.Max(leastShownGroup, math.Ceil(100*share)/100), groupsApart
		}
	}
	if n < least { // the rows needed can be stated, but not the error
		a.Mean, a.SD = 0, 0
		return a
	}
	for _, c := range q.schema().Numbers() { // in their units
		if sd, stated := q.typicalSD(c); sd > 0 {
			a.Columns = append(a.Columns, ColumnAccuracy{Name: c.Name, Unit: c.UnitOfMeasure, TypicalSD: sd, Stated: stated, Mean: a.Mean * sd, Best: a.Best * sd})
		}
	}
	return a
}

// measuredAccuracy reports whether fits of that kind were measured.
func (q *question) measuredAccuracy(p estimate.Problem) bool {
	told := p.Known() != nil || p.Printed || p.Tournament || p.Learner != "" || p.Own != "" || q.Estimator != nil
	return !told && p.Covariance == estimate.Full && slices.Contains([]string{"auto", "general", "gaussian"}, cmp.Or(q.Method, "auto"))
}

// rowsFor returns the number of rows from which on this many groups of equal size are found.
func (q *question) rowsFor(p estimate.Problem, groups int) float64 {
	p.Components, p.MaxComponents, p.Rows = groups, groups, 0
	method, _, err := Methods().Choose(q.Method, p)
	if err != nil {
		return 0
	}
	rows := method.Expect(p).RowsNeeded
	if groups > 1 {
		rows = math.Max(rows, groupRows*float64(groups*p.Columns)/math.Min(p.Mu, mostGroupMu))
	}
	return rows
}

// typicalSD returns the spread that a column is assumed to have, and whether it was stated.
func (q *question) typicalSD(c source.Column) (sd float64, stated bool) {
	if c.Kind == source.Logs { // modelled as its logarithm
		return 0, false
	}
	if sd, stated = q.TypicalSD[c.Name]; stated {
		return sd, true
	}
	if c.AtLeast != nil && c.AtMost != nil {
		return (*c.AtMost - *c.AtLeast) / limitsSDs, false
	}
	return 0, false
}

// checkTypical adds a fault for a spread of an unknown column, and for one that is not positive.
func (r Request) checkTypical(faults *estimate.Faults) {
	for _, name := range slices.Sorted(maps.Keys(r.TypicalSD)) {
		sd := r.TypicalSD[name]
		faults.If(!(sd > 0) || math.IsInf(sd, 0), "typical_sd", "a positive number for "+name, sd, "for instance "+name+"=12, in the column's own unit")
		known := slices.ContainsFunc(r.Columns, func(c source.Column) bool {
			return c.Name == name && !c.Categorical() && c.Kind != source.Logs
		})
		faults.If(!known, "typical_sd", "columns of numbers that are fitted, but for logarithms", name, "name it as the schema does")
	}
}

// firstNumber returns the name of the first column of numbers.
func firstNumber(columns []source.Column) string {
	for _, c := range columns {
		if !c.Categorical() {
			return c.Name
		}
	}
	return ""
}

// exampleSD returns what --typical-sd takes for a column, as a shell is given it: names may contain
// blanks, commas and quotes.
func exampleSD(name string) string {
	text := name + "=12"
	if strings.ContainsAny(name, ",\"\r\n") {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return words.Quoted(text)
}
