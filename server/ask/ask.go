// Package ask converts requests for plans and fits over HTTP into requests to the front door, and
// computes what they cost, from public facts alone. It reads no input.
package ask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// An Ask is a request over HTTP. All of it is public.
type Ask gauze.Settings

// longestTitle is the longest title of a release, in bytes. A guess.
const longestTitle = 200

// mostComponents is the largest number of components of a request: slots of more are too long for
// others to wait. A guess.
const mostComponents = 200

// Request returns the request to the front door, about a data set or, if d is nil, about
// hypothetical columns and rows; and the schema to open the data set's input with.
func (a Ask) Request(d *store.Dataset) (r gauze.Request, schema *source.Schema, err error) {
	if schema, err = a.schema(d); err != nil {
		return r, nil, err
	}
	switch most := max(int(a.Components), a.MaxComponents); {
	case d != nil && a.Relation != "" && a.Relation != d.Relation:
		return r, nil, fault("relation", d.Relation+", the data set's", a.Relation, "leave it out")
	case most > mostComponents:
		return r, nil, fault("components", fmt.Sprintf("at most %d", mostComponents), fmt.Sprint(most), "ask for fewer, or leave max_components out")
	case len(a.Title) > longestTitle:
		return r, nil, fault("title", fmt.Sprintf("at most %d bytes", longestTitle), fmt.Sprint(len(a.Title)), "make it shorter")
	case d != nil:
		a.Relation = d.Relation
	}
	if r, err = gauze.Settings(a).Request(); err != nil {
		return r, nil, err
	}
	r.Columns, r.Title, r.Dataset = schema.Columns, schema.Title, schema.Dataset
	return r, schema, r.Validate()
}

func fault(field, wanted, got, fix string) error {
	return &privacy.FieldError{Field: field, Wanted: wanted, Got: fmt.Sprintf("%.80q", got), Fix: fix}
}

// mostDim bounds plans of hypothetical columns, and mostSpokenOf their rows. Guesses: the time of a
// plan grows with them.
const (
	mostDim      = 200
	mostSpokenOf = 1_000_000_000
)

// schema returns a schema of the requested columns and groups.
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
	// Whether rows are persons was settled when the data set was registered: no fit checks again,
	// for the result would depend on rows.
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

// Stated returns the same request with the groups that it leaves to the data set's schema filled
// in.
func (a Ask) Stated(d *store.Dataset) Ask {
	if a.By == nil {
		for _, g := range d.Schema.By {
			a.By = append(a.By, g.Name)
		}
	}
	return a
}

// mostGroups is the largest number of groups of a request: each takes memory, and a part of the
// slot. A guess.
const mostGroups = 10_000

// Groups returns the number of groups that the schema defines, 0 for none. Above mostGroups it may
// return any number above mostGroups.
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

// Plan returns what a fit would do and, with a data set, what it would reserve.
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
		if err := r.ValidateGroups(); err != nil { // a fit would fail, and its cost stay spent
			return nil, ledger.Cost{}, err
		}
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
		s.Notes = append(s.Notes, "this is the plan of each group, with its part of the budget; the number of rows is taken as the size of a group, which is private")
	}
	return s, whole.Cost(s.Plan, s.Total, grouped), nil
}

// Slow returns how many times as slow as others a method is, among those that the plan can be for:
// black boxes run learners on many blocks. The time of methods that papers print depends mostly on
// the rows, so their slots must be far longer. Guesses, above twice what was seen with 20,000 and
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

// Kept is the stored part of a fit's request: the request, and the cost reserved for it.
type Kept struct {
	Ask
	Cost ledger.Cost `json:"reserved"`
}

// Request returns the part of it that is shown: the request.
func Request(kept json.RawMessage) json.RawMessage {
	var k Kept
	if err := json.Unmarshal(kept, &k); err != nil {
		return nil // cannot fail: Marshal wrote it
	}
	text, err := json.Marshal(k.Ask)
	if err != nil {
		return nil
	}
	return text
}
