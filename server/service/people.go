package service

import (
	"context"

	"github.com/gauze-dp/gauze/server/store"
)

// People returns all tokens and their people, without what is stored of their secrets, for a
// custodian.
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
