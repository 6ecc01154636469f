package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/source"
)

// A Dataset is a data set that a custodian registered.
type Dataset struct {
	Name  string    `json:"-"`
	Owner string    `json:"-"` // the custodian whose it is
	Since time.Time `json:"-"`

	// Input is the place of its rows: for the custodian only, as Fingerprint is.
	Input       string `json:"input"`
	Fingerprint string `json:"fingerprint,omitempty"` // keyed, of all its bytes; "" if there are no files
	// Rows is the number at registration. It is public under replace-one, and for the custodian
	// only otherwise.
	Rows     int           `json:"rows"`
	Schema   source.Schema `json:"schema"`
	Relation string        `json:"relation"`
	// Capacity is public: the number of rows under replace-one, otherwise the custodian's upper
	// bound, from which the time of fits is computed.
	Capacity int `json:"capacity"`
	// Stated says that the data set's total was granted by itself. Otherwise it is the sum of the
	// analysts' grants.
	Stated bool `json:"stated"`
	// Retired says that nobody is granted anything of it any more, and that it is not fitted. It
	// stays known, so that its rows get no second budget.
	Retired bool `json:"retired,omitempty"`
}

// accountOf returns the account of an analyst's grant in a data set. No name has a slash in it.
func accountOf(dataset, analyst string) string { return dataset + "/" + analyst }

// AddDataset stores a data set, with its total if one is stated. It fails with ErrThere if there is
// one of the name, and with ErrSame if another custodian has one of the same rows.
func (s *Store) AddDataset(ctx context.Context, d Dataset, total ledger.Amount) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		n, err := s.exec(ctx, t, "INSERT INTO gauze_datasets (name, owner, body, since) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING", d.Name, d.Owner, string(body), millis(s.now()))
		if err == nil && n == 0 {
			return ErrThere
		}
		if err == nil {
			_, err = s.same(ctx, t, d)
		}
		if err == nil && d.Stated {
			_, err = t.Grant(d.Name, total)
		}
		if err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: d.Owner, What: "dataset register", On: d.Name})
	})
}

// same returns the names of the owner's other data sets that have, or once had, the same rows, by
// the fingerprints that are kept of registrations and in the ledger; "" stands for a data set
// without an owner here, from a fit that a command counted in the same ledger. It fails with
// ErrSame if another custodian has such a data set: the same people would get a second budget.
func (s *Store) same(ctx context.Context, q ledger.Querier, d Dataset) (own []string, err error) {
	if d.Fingerprint == "" {
		return nil, nil
	}
	known, err := s.ledger.KnownIn(ctx, q, d.Name, "", d.Fingerprint)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range known {
		name, _, _ = strings.Cut(name, "/")
		names[name] = true
	}
	all, err := list(ctx, s, q, scanDataset, datasetColumns+"WHERE name <> ?", d.Name)
	if err != nil {
		return nil, err
	}
	for _, other := range all {
		if !names[other.Name] && other.Fingerprint != d.Fingerprint {
			continue
		}
		if other.Owner != d.Owner {
			return nil, ErrSame
		}
		delete(names, other.Name)
		own = append(own, other.Name)
	}
	delete(names, d.Name)
	if len(names) > 0 {
		own = append(own, "")
	}
	return own, nil
}

// Same returns the owner's other data sets that have, or had, the same rows; see same.
func (s *Store) Same(ctx context.Context, d Dataset) ([]string, error) { return s.same(ctx, s.db, d) }

// Accept replaces what is stored of a data set's input by what it is now. It fails with ErrRetired
// if the data set was retired, however lately, and with ErrSame as AddDataset does.
func (s *Store) Accept(ctx context.Context, d Dataset) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		if err := s.unretired(ctx, t, d.Name); err != nil {
			return err
		}
		if _, err := s.same(ctx, t, d); err != nil {
			return err
		}
		if err := s.put(ctx, t, d); err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: d.Owner, What: "dataset accept as it is now", On: d.Name})
	})
}

// Retire withdraws all that is unspent of a data set, keeps that it is retired, and returns it.
// What was spent, and the releases, stay as they are.
func (s *Store) Retire(ctx context.Context, name string) (d Dataset, err error) {
	err = s.ledger.Write(ctx, func(t *ledger.Tx) error {
		if d, err = s.dataset(ctx, t, name); err != nil {
			return err
		}
		analysts, err := s.analysts(ctx, t, name)
		if err != nil {
			return err
		}
		accounts := []string{name}
		for _, analyst := range analysts {
			accounts = append(accounts, accountOf(name, analyst))
		}
		for _, account := range accounts {
			if _, _, err := t.Withdraw(account, ledger.Amount{}); err != nil && !errors.As(err, new(*ledger.RefusedError)) {
				return err // a refusal says that there is nothing left
			}
		}
		d.Retired = true
		if err := s.put(ctx, t, d); err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: d.Owner, What: "dataset retire", On: name})
	})
	return d, err
}

// put replaces the stored body of a data set, within a transaction that has read it.
func (s *Store) put(ctx context.Context, t *ledger.Tx, d Dataset) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, t, "UPDATE gauze_datasets SET body = ? WHERE name = ?", string(body), d.Name)
	return err
}

const datasetColumns = "SELECT name, owner, body, since FROM gauze_datasets "

func scanDataset(row scanner) (d Dataset, err error) {
	var body string
	var since int64
	if err = row.Scan(&d.Name, &d.Owner, &body, &since); err != nil {
		return d, err
	}
	d.Since = moment(since)
	return d, json.Unmarshal([]byte(body), &d)
}

// Dataset returns the data set of that name.
func (s *Store) Dataset(ctx context.Context, name string) (Dataset, error) {
	return s.dataset(ctx, s.db, name)
}

func (s *Store) dataset(ctx context.Context, q ledger.Querier, name string) (Dataset, error) {
	d, err := scanDataset(q.QueryRowContext(ctx, s.bind(datasetColumns+"WHERE name = ?"), name))
	return d, found(err)
}

// unretired returns ErrRetired for a data set that is, within a transaction: what was read of it
// before the transaction began may be out of date.
func (s *Store) unretired(ctx context.Context, t *ledger.Tx, name string) error {
	d, err := s.dataset(ctx, t, name)
	if err == nil && d.Retired {
		return ErrRetired
	}
	return err
}

// Datasets returns those that a custodian owns, or of which an analyst was granted something: at
// most most, whose names come after after.
func (s *Store) Datasets(ctx context.Context, p Person, after string, most int) ([]Dataset, error) {
	if p.Role == Custodian {
		return list(ctx, s, s.db, scanDataset, datasetColumns+"WHERE owner = ? AND name > ? ORDER BY name LIMIT ?", p.Name, after, most)
	}
	return list(ctx, s, s.db, scanDataset, datasetColumns+"WHERE name IN (SELECT dataset FROM gauze_granted WHERE analyst = ?) AND name > ? ORDER BY name LIMIT ?", p.Name, after, most)
}

// Granted reports whether an analyst was granted something of a data set.
func (s *Store) Granted(ctx context.Context, dataset, analyst string) (bool, error) {
	n := 0
	err := s.db.QueryRowContext(ctx, s.bind("SELECT COUNT(*) FROM gauze_granted WHERE dataset = ? AND analyst = ?"), dataset, analyst).Scan(&n)
	return n > 0, err
}

// Analysts returns the analysts with a grant in a data set, by name.
func (s *Store) Analysts(ctx context.Context, dataset string) ([]string, error) {
	return s.analysts(ctx, s.db, dataset)
}

func (s *Store) analysts(ctx context.Context, q ledger.Querier, dataset string) ([]string, error) {
	scan := func(row scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	}
	return list(ctx, s, q, scan, "SELECT analyst FROM gauze_granted WHERE dataset = ? ORDER BY analyst", dataset)
}

// A Change holds a data set and its accounts after a grant or a withdrawal: the data set's, and the
// analyst's, zero if the change is of the total alone.
type Change struct {
	Of         Dataset
	Whole, Own ledger.Balance
}

// Grant adds to what an analyst may spend of a data set, or to the data set's total if analyst is
// "". If no total was stated, the total grows with the grants. accept receives the accounts as they
// would be; if it fails, Grant does, with nothing granted. It fails with ErrRetired if the data set
// was retired, however lately.
func (s *Store) Grant(ctx context.Context, who, name, analyst string, more ledger.Amount, accept func(Change) error) error {
	return s.change(ctx, who, "grant", name, analyst, accept, func(t *ledger.Tx, c *Change) (err error) {
		if c.Of.Retired {
			return ErrRetired
		}
		if analyst == "" || !c.Of.Stated {
			if c.Whole, err = t.Grant(name, more); err != nil {
				return err
			}
		}
		if analyst == "" {
			return nil
		}
		if c.Own, err = t.Grant(accountOf(name, analyst), more); err == nil {
			_, err = s.exec(ctx, t, "INSERT INTO gauze_granted (dataset, analyst) VALUES (?, ?) ON CONFLICT (dataset, analyst) DO NOTHING", name, analyst)
		}
		return err
	})
}

// Withdraw takes back what an analyst has not spent, or the unspent part of the data set's total if
// analyst is "": less, or all of it if less is zero. If no total was stated, it shrinks by as much,
// as far as that is unspent.
func (s *Store) Withdraw(ctx context.Context, who, name, analyst string, less ledger.Amount, accept func(Change) error) error {
	return s.change(ctx, who, "withdraw", name, analyst, accept, func(t *ledger.Tx, c *Change) (err error) {
		if analyst == "" {
			_, c.Whole, err = t.Withdraw(name, less)
			return err
		}
		if less, c.Own, err = t.Withdraw(accountOf(name, analyst), less); err != nil || c.Of.Stated {
			return err
		}
		whole := c.Whole
		_, c.Whole, err = t.Withdraw(name, less)
		if errors.As(err, new(*ledger.RefusedError)) { // a part is kept of what all have spent
			if _, c.Whole, err = t.Withdraw(name, ledger.Amount{}); errors.As(err, new(*ledger.RefusedError)) {
				c.Whole, err = whole, nil
			}
		}
		return err
	})
}

// change changes a grant, in one transaction with all that it reads and a note of who did it.
func (s *Store) change(ctx context.Context, who, what, name, analyst string, accept func(Change) error, how func(*ledger.Tx, *Change) error) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		var c Change
		var err error
		if c.Of, err = s.dataset(ctx, t, name); err != nil {
			return err
		}
		if c.Whole, err = t.Balance(name); err != nil {
			return err
		}
		if err := how(t, &c); err != nil {
			return err
		}
		if err := accept(c); err != nil {
			return err
		}
		return t.Note(ledger.Note{Who: who, What: what, On: accountOf(name, analyst)})
	})
}

// Balance returns the account of an analyst's grant in a data set, or the data set's own if analyst
// is "". Without a grant all of it is zero.
func (s *Store) Balance(ctx context.Context, dataset, analyst string) (ledger.Balance, error) {
	name := dataset
	if analyst != "" {
		name = accountOf(dataset, analyst)
	}
	all, err := s.ledger.Balances(ctx, name)
	if errors.As(err, new(*privacy.FieldError)) { // nothing was granted yet
		return ledger.Balance{Name: name}, nil
	}
	if err != nil {
		return ledger.Balance{}, err
	}
	return all[0], nil
}
