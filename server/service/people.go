package service

import (
	"context"

	"github.com/gauze-dp/gauze/server/store"
)

// People are all tokens and whose they are, without what is kept of their secrets, for a custodian.
func (s *Service) People(ctx context.Context, p store.Person) ([]store.Token, error) {
	if p.Role != store.Custodian {
		return nil, Forbidden(store.Custodian)
	}
	all, err := s.Store.Tokens(ctx)
	for i := range all {
		all[i].Hash = ""
	}
	return all, err
}
