package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// A Grant is what a custodian allows an analyst or, without one, all analysts together.
type Grant struct {
	Analyst string  `json:"analyst,omitempty"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Force allows a total epsilon above 20, or a delta of one over the number of rows or more.
	Force bool `json:"force,omitempty"`
	// Preview says that nothing is granted; the answer shows the effect.
	Preview bool `json:"preview,omitempty"`
}

// A Withdrawal takes back the unspent part of a grant, of an analyst's or of the total.
type Withdrawal struct {
	Analyst string `json:"analyst,omitempty"`
	// Epsilon and Delta are the amount. Default: all that is unspent.
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	// Preview says that nothing is withdrawn; the answer shows the effect.
	Preview bool `json:"preview,omitempty"`
}

// errPreview undoes a change that was only to be shown.
var errPreview = errors.New("nothing is changed")

// Grant adds to what an analyst may spend of a data set.
func (s *Service) Grant(ctx context.Context, p store.Person, name string, g Grant) (*Dataset, error) {
	d, err := s.owned(ctx, p, name)
	if err != nil {
		return nil, err
	}
	if g.Analyst != "" || !d.Stated {
		if err := s.analyst(ctx, g.Analyst); err != nil {
			return nil, err
		}
	}
	out, err := s.changed(ctx, p, d, g.Analyst, g.Preview, func(accept func(store.Change) error) error {
		return s.Store.Grant(ctx, p.Name, d.Name, g.Analyst, ledger.Amount{Epsilon: g.Epsilon, Delta: g.Delta}, func(c store.Change) error {
			if err := grantable(g, c); err != nil {
				return err
			}
			return accept(c)
		})
	})
	return out, retired(err)
}

// grantable returns an error for a grant after which a total promises next to nothing, or an
// analyst has more than the stated total.
func grantable(g Grant, c store.Change) error {
	if total := c.Whole.Granted; c.Of.Stated && g.Analyst != "" && (c.Own.Granted.Epsilon > total.Epsilon || c.Own.Granted.Delta > total.Delta) {
		return wrong("epsilon, delta", fmt.Sprintf("no more than the total of the data set, epsilon = %.4g and delta = %.4g", total.Epsilon, total.Delta),
			fmt.Sprintf("epsilon = %.4g and delta = %.4g in all for %s", c.Own.Granted.Epsilon, c.Own.Granted.Delta, g.Analyst), "nobody can spend more than the total: grant less, or add to the total first, by a grant without analyst")
	}
	if g.Force {
		return nil
	}
	return c.Whole.Granted.Reasonable(c.Of.Rows)
}

// analyst returns an error unless a known analyst has the name.
func (s *Service) analyst(ctx context.Context, name string) error {
	if err := auth.ValidPerson("analyst", name); err != nil {
		return err
	}
	role, err := s.Store.Role(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return wrong("analyst", "a person whom the server knows", name, "check the name; gauze serve token add --role analyst makes one known, and so does signing in once")
	case err == nil && role != store.Analyst:
		return wrong("analyst", "a person of the role analyst", name+", a "+string(role), "only analysts fit")
	}
	return err
}

// Withdraw takes back the unspent part of an analyst's grant in a data set, or of its total.
func (s *Service) Withdraw(ctx context.Context, p store.Person, name string, w Withdrawal) (*Dataset, error) {
	d, err := s.owned(ctx, p, name)
	if err != nil {
		return nil, err
	}
	analysts, err := s.Store.Analysts(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	if (w.Analyst != "" || !d.Stated) && !slices.Contains(analysts, w.Analyst) {
		return nil, wrong("analyst", "an analyst who was granted something of it", w.Analyst, "GET /datasets/"+d.Name+" lists them")
	}
	out, err := s.changed(ctx, p, d, w.Analyst, w.Preview, func(accept func(store.Change) error) error {
		return s.Store.Withdraw(ctx, p.Name, d.Name, w.Analyst, ledger.Amount{Epsilon: w.Epsilon, Delta: w.Delta}, accept)
	})
	var refused *ledger.RefusedError
	if errors.As(err, &refused) {
		return nil, problem(http.StatusConflict, "budget", refused.Why, "nothing was withdrawn; leave epsilon and delta out for all that is unspent")
	}
	return out, err
}

// changed changes a grant, and returns the data set after it; for a preview, as it would be.
func (s *Service) changed(ctx context.Context, p store.Person, d store.Dataset, analyst string, preview bool, how func(accept func(store.Change) error) error) (*Dataset, error) {
	var after store.Change
	err := how(func(c store.Change) error {
		if after = c; preview {
			return errPreview
		}
		return nil
	})
	if err != nil && !errors.Is(err, errPreview) {
		return nil, err
	}
	out, err := s.shown(ctx, p, d, "")
	if err != nil || !preview {
		return out, err
	}
	out.Granted, out.Spent, out.Remaining = after.Whole.Granted, after.Whole.Spent, after.Whole.Left
	if analyst != "" {
		share := Share{analyst, after.Own.Granted, after.Own.Spent, after.Own.Left}
		if i := slices.IndexFunc(out.Kept.Analysts, func(one Share) bool { return one.Analyst == analyst }); i >= 0 {
			out.Kept.Analysts[i] = share
		} else {
			out.Kept.Analysts = append(out.Kept.Analysts, share)
		}
	}
	return out, nil
}
