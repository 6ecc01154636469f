package service

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/rows"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// A Registration is a custodian's description of a data set.
type Registration struct {
	Name string `json:"name"`
	// Input is as for `gauze fit`; Path is another name for it.
	Input string `json:"input,omitempty"`
	Path  string `json:"path,omitempty"`
	// Schema says which columns can be fitted; Columns, in its place, only names them.
	Schema   source.Schema `json:"schema,omitzero"`
	Columns  []string      `json:"columns,omitempty"`
	Title    string        `json:"title,omitempty"`
	Relation string        `json:"relation,omitempty"` // Default: replace-one.
	// Capacity is a public upper bound on the number of rows, if that number is private. Default:
	// DefaultCapacity.
	Capacity int `json:"capacity,omitempty"`
	// Epsilon and Delta are the total of all analysts. Default: the sum of their grants.
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	// Force allows a total epsilon above 20, or a delta of one over the number of rows or more.
	Force bool `json:"force,omitempty"`
}

// DefaultCapacity is the capacity of data sets whose custodians state none: a constant, so that it
// says nothing of them.
const DefaultCapacity = 100_000

// A Dataset is a data set as it is shown.
type Dataset struct {
	Name     string            `json:"name"`
	Title    string            `json:"title,omitempty"`
	Relation string            `json:"relation"`
	Unit     string            `json:"unit,omitempty"`
	Columns  []source.Column   `json:"columns"`
	By       []source.Grouping `json:"by,omitempty"`
	Rows     *int              `json:"rows"` // nil where it is private
	Capacity int               `json:"capacity"`
	// for the analyst who asks, or of the whole data set for its custodian
	Granted   ledger.Amount   `json:"granted"`
	Spent     ledger.Spending `json:"spent"`
	Remaining ledger.Spending `json:"remaining"`
	// Total is what is left of the data set as a whole, for the analyst who asks.
	Total *ledger.Spending `json:"remaining_in_all,omitempty"`
	// Retired says that it is not fitted any more; its releases stay.
	Retired bool `json:"retired,omitempty"`
	// Kept is for the custodian alone.
	Kept *Kept `json:"custodian,omitempty"`
}

// Kept is what only the custodian of a data set sees of it. It may depend on rows.
type Kept struct {
	Input      string  `json:"input"` // without a password
	Rows       int     `json:"rows"`
	Since      string  `json:"since"`
	Analysts   []Share `json:"analysts"`
	Releases   int     `json:"releases"`
	Fits       int     `json:"fits"`
	Unfinished int     `json:"unfinished"`
	// Reading reports what was just read, at registration or at Accept.
	Reading string `json:"reading,omitempty"`
}

// A Share is an analyst's part of a data set's budget.
type Share struct {
	Analyst   string          `json:"analyst"`
	Granted   ledger.Amount   `json:"granted"`
	Spent     ledger.Spending `json:"spent"`
	Remaining ledger.Spending `json:"remaining"`
}

var validDataset = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Register registers a data set. It reads the input once: for its fingerprint, for the number of
// its rows, and to report mistakes to the custodian now.
func (s *Service) Register(ctx context.Context, p store.Person, r Registration) (*Dataset, error) {
	if p.Role != store.Custodian {
		return nil, Forbidden(store.Custodian)
	}
	d, total, err := s.declared(p, r)
	if err != nil {
		return nil, err
	}
	if _, err := s.Store.Dataset(ctx, d.Name); err == nil {
		return nil, thereAlready(d.Name)
	}
	reading, err := s.read(ctx, &d)
	if err == nil && d.Stated && !r.Force {
		err = total.Reasonable(d.Rows)
	}
	if err != nil {
		return nil, err
	}
	switch err := s.Store.AddDataset(ctx, d, total); {
	case errors.Is(err, store.ErrThere):
		return nil, thereAlready(d.Name)
	case err != nil:
		return nil, sameRows(err)
	}
	return s.shown(ctx, p, d, reading)
}

func thereAlready(name string) *Problem {
	p := wrong("name", "a name that no data set has", name, "choose another; POST /datasets/"+name+"/accept takes a changed input as it is now")
	p.Status, p.Title = http.StatusConflict, http.StatusText(http.StatusConflict)
	return p
}

// declared returns the data set that a custodian declares, before its input is read.
func (s *Service) declared(p store.Person, r Registration) (d store.Dataset, total ledger.Amount, err error) {
	d = store.Dataset{Since: s.Now(), Name: r.Name, Owner: p.Name, Input: r.Input, Schema: r.Schema, Relation: r.Relation, Capacity: r.Capacity, Stated: r.Epsilon != 0 || r.Delta != 0}
	total = ledger.Amount{Epsilon: r.Epsilon, Delta: r.Delta}
	if d.Input == "" {
		d.Input = r.Path
	}
	if d.Relation == "" {
		d.Relation = privacy.ReplaceOne.String()
	}
	if r.Title != "" {
		d.Schema.Title = r.Title
	}
	if len(d.Schema.Columns) == 0 {
		d.Schema.Columns = source.Named(r.Columns).Columns
	}
	d.Schema.Dataset = r.Name
	switch {
	case !validDataset.MatchString(r.Name):
		return d, total, wrong("name", "1 to 100 letters, digits, dots, dashes and underscores", r.Name, "for instance visits-2026")
	case d.Input == "" || d.Input == "-":
		return d, total, wrong("input", "a path in your folder of data, a pattern of paths, or connection:NAME?table=T", d.Input, "who runs the server names folders with --data and connections with --connection")
	case d.Capacity < 0 || d.Capacity > math.MaxInt32: // a table has no more
		return d, total, wrong("capacity", "a positive number of rows, below 2^31", fmt.Sprint(d.Capacity), "leave it out where the number of rows is public")
	}
	if _, err := privacy.ParseRelation(d.Relation); err != nil {
		return d, total, err
	}
	if len(d.Schema.Columns) > 0 { // without, reading the input fails with those that can be named
		if err := d.Schema.Tidy(); err != nil {
			return d, total, err
		}
	}
	return d, total, nil
}

// read reads a data set's input for what the store keeps of it, and returns the report for the
// custodian.
func (s *Service) read(ctx context.Context, d *store.Dataset) (string, error) {
	relation, _ := privacy.ParseRelation(d.Relation)
	got, err := s.Places.Inspect(ctx, s.Store.Ledger().Fingerprint, d, relation)
	if err != nil {
		return "", err
	}
	d.Fingerprint, d.Rows = got.Fingerprint, got.Rows
	if relation == privacy.ReplaceOne {
		d.Capacity = d.Rows
	} else if d.Capacity == 0 {
		d.Capacity = DefaultCapacity
	}
	if d.Rows > d.Capacity {
		return "", wrong("capacity", "as many rows as the input has, or more", fmt.Sprint(d.Capacity), "state a capacity, which is public: fits get their time by it")
	}
	if need := rows.Memory(d.Capacity, d.Schema.Columns); s.Memory > 0 && need > s.Memory {
		return "", wrong("capacity", fmt.Sprintf("a table of at most %d bytes", s.Memory), fmt.Sprint(need), "fit fewer columns, or run the server with more --memory or fewer --workers")
	}
	same, err := s.Store.Same(ctx, *d)
	if err != nil {
		return "", sameRows(err)
	}
	for _, name := range same {
		whose := "your data set " + name
		if name == "" {
			whose = "another data set of the ledger"
		}
		got.Report += "warning: " + whose + " has the same rows: their releases add up\n"
	}
	return got.Report, nil
}

// sameRows rewrites the error that another custodian has the same rows; whose, and under which
// name, is not said.
func sameRows(err error) error {
	if !errors.Is(err, store.ErrSame) {
		return err
	}
	return wrong("input", "rows that no other custodian has registered", "the same rows", "the same people would have a second budget: agree on one data set with whoever has it; who runs the server can find out")
}

// owned returns a data set that the custodian who asks owns.
func (s *Service) owned(ctx context.Context, p store.Person, name string) (store.Dataset, error) {
	if p.Role != store.Custodian {
		return store.Dataset{}, Forbidden(store.Custodian)
	}
	return s.seen(ctx, p, name)
}

// seen returns a data set that the person who asks may see: a custodian their own, an analyst what
// they were granted something of.
func (s *Service) seen(ctx context.Context, p store.Person, name string) (store.Dataset, error) {
	if !validDataset.MatchString(name) { // a database may refuse to look for such a name
		return store.Dataset{}, Missing("data set")
	}
	d, err := s.Store.Dataset(ctx, name)
	may := d.Owner == p.Name
	if err == nil && p.Role != store.Custodian {
		may, err = s.Store.Granted(ctx, name, p.Name)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && !may {
		return d, Missing("data set")
	}
	return d, err
}

// Accept accepts a data set's input as it is now, after a change. Budgets stay: what was spent on
// the rows before counts for those that are still there.
func (s *Service) Accept(ctx context.Context, p store.Person, name string) (*Dataset, error) {
	d, err := s.owned(ctx, p, name)
	if err != nil {
		return nil, err
	}
	if d.Retired {
		return nil, errRetired()
	}
	reading, err := s.read(ctx, &d)
	if err != nil {
		return nil, err
	}
	if err := s.Store.Accept(ctx, d); err != nil {
		return nil, sameRows(retired(err))
	}
	return s.shown(ctx, p, d, reading)
}

// Retire withdraws all that is unspent of a data set, and has it granted and fitted no more. Its
// releases, and what was spent, stay: the same rows get no second budget.
func (s *Service) Retire(ctx context.Context, p store.Person, name string) (*Dataset, error) {
	if _, err := s.owned(ctx, p, name); err != nil {
		return nil, err
	}
	d, err := s.Store.Retire(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, p, d, "")
}

// errRetired returns the answer where a data set would have to be fitted.
func errRetired() error {
	return problem(http.StatusConflict, "dataset", "the data set is retired: it is granted and fitted no more", "its releases stay as they are")
}

// retired rewrites the error that a data set is retired.
func retired(err error) error {
	if errors.Is(err, store.ErrRetired) {
		return errRetired()
	}
	return err
}

// Dataset returns a data set that the person who asks may see.
func (s *Service) Dataset(ctx context.Context, p store.Person, name string) (*Dataset, error) {
	d, err := s.seen(ctx, p, name)
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, p, d, "")
}

// Datasets returns those that the person who asks may see, at most most, whose names come after
// after.
func (s *Service) Datasets(ctx context.Context, p store.Person, after string, most int) ([]*Dataset, error) {
	if after != "" && !validDataset.MatchString(after) {
		return nil, wrong("after", "the name of a data set", after, "take what next says")
	}
	all, err := s.Store.Datasets(ctx, p, after, most)
	out := []*Dataset{}
	for _, d := range all {
		shown, fault := s.shown(ctx, p, d, "")
		if fault != nil {
			return nil, fault
		}
		out = append(out, shown)
	}
	return out, err
}

// shown returns what the person who asks may see of a data set.
func (s *Service) shown(ctx context.Context, p store.Person, d store.Dataset, reading string) (*Dataset, error) {
	out := &Dataset{Name: d.Name, Title: d.Schema.Title, Relation: d.Relation, Unit: d.Schema.Person(), Columns: d.Schema.Columns, By: d.Schema.By, Capacity: d.Capacity, Retired: d.Retired}
	if d.Relation == privacy.ReplaceOne.String() {
		out.Rows = &d.Rows
	}
	whole, err := s.Store.Balance(ctx, d.Name, "")
	if err != nil {
		return nil, err
	}
	if p.Role != store.Custodian {
		own, err := s.Store.Balance(ctx, d.Name, p.Name)
		out.Granted, out.Spent, out.Remaining, out.Total = own.Granted, own.Spent, own.Left, &whole.Left
		return out, err
	}
	out.Granted, out.Spent, out.Remaining = whole.Granted, whole.Spent, whole.Left
	out.Kept = &Kept{Input: withoutPassword(d.Input), Rows: d.Rows, Since: d.Since.Format(time.RFC3339), Releases: whole.Releases, Fits: whole.Fits, Unfinished: whole.Open, Analysts: []Share{}, Reading: reading}
	analysts, err := s.Store.Analysts(ctx, d.Name)
	for _, name := range analysts {
		own, fault := s.Store.Balance(ctx, d.Name, name)
		if fault != nil {
			return nil, fault
		}
		out.Kept.Analysts = append(out.Kept.Analysts, Share{name, own.Granted, own.Spent, own.Left})
	}
	return out, err
}

// withoutPassword returns an input as it is shown.
func withoutPassword(input string) string {
	u, err := url.Parse(input)
	if err != nil || u.User == nil {
		return input
	}
	return u.Redacted()
}
