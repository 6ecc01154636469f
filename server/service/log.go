package service

import (
	"context"
	"strings"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/store"
)

// Events returns entries of the ledger about a custodian's data sets, or noted by the custodian: at
// most most of those before before, the newest first. Of all others only the kind and time are
// shown, so that the list has no gaps.
func (s *Service) Events(ctx context.Context, p store.Person, before int64, most int) ([]ledger.Event, error) {
	if p.Role != store.Custodian {
		return nil, Forbidden(store.Custodian)
	}
	all, err := s.Store.Ledger().Events(ctx, before, most)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i, e := range all {
		name, _, _ := strings.Cut(e.Account, "/")
		if e.Note != nil {
			name, _, _ = strings.Cut(e.Note.On, "/")
		}
		mine, known := own[name]
		if !known {
			_, fault := s.owned(ctx, p, name)
			mine = fault == nil
			own[name] = mine
		}
		if !mine && (e.Note == nil || e.Note.Who != p.Name) {
			all[i] = ledger.Event{Seq: e.Seq, Time: e.Time, Kind: "other"}
		}
	}
	return all, nil
}
