// Package ask is what plans and fits are asked over HTTP, and what that asks of the front door: a
// request, and what it costs, from public facts alone. It reads no input.
package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// An Ask has the names of the flags of `gauze fit`. All of it is public.
type Ask struct {
	Dataset string `json:"dataset,omitempty"`
	// Rows and Dim are of plans without a data set; Rows is a guess where the number is private.
	Rows int `json:"rows,omitempty"`
	Dim  int `json:"dim,omitempty"`
	// Columns are some of the data set's; none for all.
	Columns []string `json:"columns,omitempty"`
	// By are some of the columns by which the data set's schema makes groups; none for all, and
	// "none" alone for one model.
	By            []string    `json:"by,omitempty"`
	Title         string      `json:"title,omitempty"`
	Epsilon       float64     `json:"epsilon,omitempty"`
	Delta         float64     `json:"delta,omitempty"`
	Rho           float64     `json:"rho,omitempty"`
	Relation      string      `json:"relation,omitempty"` // Default: the data set's, or replace-one.
	Components    Count       `json:"components,omitempty"`
	MaxComponents int         `json:"max_components,omitempty"`
	Method        string      `json:"method,omitempty"` // "profile" for table one.
	Covariance    string      `json:"covariance,omitempty"`
	Constants     string      `json:"constants,omitempty"`
	Learner       string      `json:"learner,omitempty"`
	Trim          float64     `json:"trim,omitempty"`
	MeanWithin    *float64    `json:"mean_within,omitempty"`
	Eigenvalues   *[2]float64 `json:"eigenvalues_within,omitempty"`
	Moments       int         `json:"moments,omitempty"`
	MomentBound   float64     `json:"moment_bound,omitempty"`
	LeastWeight   float64     `json:"least_weight,omitempty"`
}

// A Count is a number of components, 0 for "auto".
type Count int

// UnmarshalJSON takes a whole number, or "auto".
func (c *Count) UnmarshalJSON(text []byte) error {
	n := 0
	if !bytes.Equal(text, []byte(`"`+catalog.Auto+`"`)) {
		if err := json.Unmarshal(text, &n); err != nil || n < 1 {
			return &privacy.FieldError{Field: "components", Wanted: "a positive number or auto", Got: fmt.Sprintf("%.40s", text), Mend: "auto chooses up to max_components"}
		}
	}
	*c = Count(n)
	return nil
}

// longestTitle is that of a release, in bytes. A guess.
const longestTitle = 200

// mostComponents is how many can be asked for: slots of more are too long for others to wait. A
// guess.
const mostComponents = 200

// Request is what is asked of the front door, about a data set or, for nil, about columns and rows
// that are only spoken of; and the schema to open the data set's input with.
func (a Ask) Request(d *store.Dataset) (r gauze.Request, schema *source.Schema, err error) {
	if schema, err = a.schema(d); err != nil {
		return r, nil, err
	}
	relation := a.Relation
	if relation == "" {
		if relation = privacy.ReplaceOne.String(); d != nil {
			relation = d.Relation
		}
	}
	if d != nil && relation != d.Relation {
		return r, nil, fault("relation", d.Relation+", the data set's", relation, "leave it out")
	}
	if r.Relation, err = privacy.ParseRelation(relation); err != nil {
		return r, nil, err
	}
	shape, known := estimate.Full, true
	if a.Covariance != "" {
		shape, known = estimate.ShapeOf(a.Covariance)
	}
	switch {
	case !known:
		return r, nil, fault("covariance", "full, diagonal or spherical", a.Covariance, "full is the default; diagonal and spherical need fewer rows")
	case a.Constants != "" && a.Constants != release.ConstantsPrinted && a.Constants != "practical":
		return r, nil, fault("constants", "practical or printed", a.Constants, "practical is the default")
	case a.Rho != 0 && (a.Epsilon != 0 || a.Delta != 0):
		return r, nil, fault("rho", "epsilon and delta, or rho", "both", "leave one of the two out")
	case max(int(a.Components), a.MaxComponents) > mostComponents:
		return r, nil, fault("components", fmt.Sprintf("at most %d", mostComponents), fmt.Sprint(max(int(a.Components), a.MaxComponents)), "ask for fewer, or leave max_components out")
	case len(a.Title) > longestTitle:
		return r, nil, fault("title", fmt.Sprintf("at most %d bytes", longestTitle), fmt.Sprint(len(a.Title)), "make it shorter")
	}
	r.Budget = privacy.Budget{Epsilon: a.Epsilon, Delta: a.Delta, Rho: a.Rho}
	r.Method, r.Components, r.MaxComponents, r.Covariance = a.Method, int(a.Components), a.MaxComponents, shape
	r.Printed, r.Learner, r.Trim = a.Constants == release.ConstantsPrinted, a.Learner, a.Trim
	r.Facts = a.facts()
	r.Columns, r.Title, r.Dataset = schema.Columns, schema.Title, schema.Dataset
	return r, schema, r.Validate()
}

func fault(field, wanted, got, mend string) error {
	return &privacy.FieldError{Field: field, Wanted: wanted, Got: fmt.Sprintf("%.80q", got), Mend: mend}
}

func (a Ask) facts() (f estimate.Facts) {
	if f.KnowsMean = a.MeanWithin != nil; f.KnowsMean {
		f.MeanWithin = *a.MeanWithin
	}
	if a.Eigenvalues != nil {
		f.Eigenvalues = *a.Eigenvalues
	}
	f.Moments, f.MomentBound, f.LeastWeight = a.Moments, a.MomentBound, a.LeastWeight
	return f
}

// mostDim bounds plans of columns that are only spoken of, and mostSpokenOf their rows. Guesses:
// what a plan takes grows with them.
const (
	mostDim      = 200
	mostSpokenOf = 1_000_000_000
)

// schema is that of the columns and groups that are asked for.
func (a Ask) schema(d *store.Dataset) (*source.Schema, error) {
	if d == nil {
		switch names := a.Columns; {
		case a.Rows < 0 || a.Rows > mostSpokenOf:
			return nil, fault("rows", fmt.Sprintf("a number of at most %d", mostSpokenOf), fmt.Sprint(a.Rows), "for instance 20000")
		case a.Dim < 0 || max(a.Dim, len(names)) > mostDim:
			return nil, fault("dim", fmt.Sprintf("at most %d columns", mostDim), fmt.Sprint(max(a.Dim, len(names))), "name a data set, or fewer columns")
		case a.By != nil:
			return nil, fault("by", "nothing where there is no data set", fmt.Sprint(a.By), "name the data set")
		case len(names) > 0:
			s := source.Named(names)
			return s, s.Tidy()
		case a.Dim > 0:
			return source.Named(model.DefaultColumns(a.Dim)), nil
		}
		return nil, fault("dataset", "a data set, or columns, or dim", "", "for instance \"rows\": 20000, \"dim\": 4")
	}
	if a.Rows != 0 && d.Relation == privacy.ReplaceOne.String() && a.Rows != d.Rows || a.Dim != 0 {
		return nil, fault("rows", "none beside a data set whose number of rows is public, and no dim", fmt.Sprint(a.Rows), "leave them out")
	}
	// Whether rows are persons was settled when the data set was registered: no fit looks again,
	// for what it found would depend on rows.
	s := &source.Schema{Title: d.Schema.Title, Dataset: d.Name, Unit: cmp.Or(d.Schema.Unit, source.NoUnit), Columns: slices.Clone(d.Schema.Columns), CSV: d.Schema.CSV}
	if a.Title != "" {
		s.Title = a.Title
	}
	if a.Columns != nil {
		s.Columns = nil
		for _, name := range a.Columns {
			i := slices.IndexFunc(d.Schema.Columns, func(c source.Column) bool { return c.Name == name })
			if i < 0 {
				return nil, fault("columns", "columns of the data set's schema", name, "the data set lists them")
			}
			s.Columns = append(s.Columns, d.Schema.Columns[i])
		}
	}
	a = a.Stated(d)
	if slices.Equal(a.By, []string{source.NoGroups}) {
		a.By = nil
	}
	for _, name := range a.By {
		i := slices.IndexFunc(d.Schema.By, func(g source.Grouping) bool { return g.Name == name })
		if i < 0 {
			return nil, fault("by", "columns whose categories the data set's schema declares", name, "the data set lists them")
		}
		s.By = append(s.By, d.Schema.By[i])
	}
	if Groups(s) > mostGroups {
		return nil, fault("by", fmt.Sprintf("columns that make at most %d groups", mostGroups), strings.Join(a.By, ", "), "name fewer of them, or \"none\" for one model")
	}
	return s, s.Tidy()
}

// Stated returns the same ask, with the groups that it leaves to the data set's schema.
func (a Ask) Stated(d *store.Dataset) Ask {
	if a.By == nil {
		for _, g := range d.Schema.By {
			a.By = append(a.By, g.Name)
		}
	}
	return a
}

// mostGroups is how many groups can be asked for: each takes memory, and a plan's part of the slot.
// A guess.
const mostGroups = 10_000

// Groups is how many groups the schema makes, 0 for none, and above mostGroups no more than that it
// is above.
func Groups(s *source.Schema) int {
	if len(s.By) == 0 {
		return 0
	}
	n := 1
	for _, g := range s.By {
		if n *= max(1, len(g.Categories)); n > mostGroups {
			return n // before it overflows
		}
	}
	return n
}

// Plan states what a fit would do, and, with a data set, what it would reserve.
func (a Ask) Plan(d *store.Dataset) (*gauze.Statement, ledger.Cost, error) {
	r, schema, err := a.Request(d)
	if err != nil {
		return nil, ledger.Cost{}, err
	}
	rows, whole := a.Rows, r
	if d != nil && d.Relation == privacy.ReplaceOne.String() {
		rows = d.Rows
	} else if d != nil && rows == 0 {
		rows = d.Capacity
	}
	grouped := Groups(schema) > 0
	if grouped {
		if d != nil && whole.Relation == privacy.ReplaceOne && whole.Budget.Delta*float64(rows) >= 1 {
			return nil, ledger.Cost{}, fault("delta", "less than one over the number of rows", fmt.Sprint(whole.Budget.Delta), "it would allow a whole row to be published; ask for a far smaller one")
		}
		r.Budget = privacy.BudgetPerGroup(r.Relation, r.Budget)
		r.Relation = privacy.AddRemoveOne
	}
	s, err := gauze.Plan(r, rows)
	if err != nil {
		return nil, ledger.Cost{}, err
	}
	if grouped {
		s.Notes = append(s.Notes, "with groups this is the plan of each: its size is private, its part of the budget as shown, and the rows are taken for its own")
	}
	return s, whole.Cost(s.Plan, s.Total, grouped), nil
}

// Slow is how many times as slow as others a method is, of those that the plan can be for: black
// boxes run learners on many blocks. How long what papers print takes follows most of all from the
// rows, so that its slots must be far longer. Guesses, above twice what was seen of 20,000 and
// 100,000 rows.
func Slow(method string) int {
	switch {
	case method == gauze.MethodProfile:
		return 1
	case !slices.Contains(catalog.Methods().Names(), method):
		return 64
	case method == "black-box":
		return 8
	}
	return 1
}

// Kept is what is kept of a fit's request: what was asked, and what was reserved for it.
type Kept struct {
	Ask
	Cost ledger.Cost `json:"reserved"`
}

// Shown is what is shown of what was kept: what was asked.
func Shown(kept json.RawMessage) json.RawMessage {
	var k Kept
	if err := json.Unmarshal(kept, &k); err != nil {
		return nil // never: it was written by Marshal
	}
	text, err := json.Marshal(k.Ask)
	if err != nil {
		return nil
	}
	return text
}
