package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// Tokens returns all tokens and their people, without what is stored of their secrets, for a
// custodian.
func (s *Service) Tokens(ctx context.Context, p store.Person) ([]store.Token, error) {
	if p.Role != store.Custodian {
		return nil, Forbidden(store.Custodian)
	}
	all, err := s.Store.Tokens(ctx)
	for i := range all {
		all[i].Hash = ""
	}
	return all, err
}

// AddToken makes a token, for the custodian who asks, for an analyst whom the server does not know
// yet. It returns the token and keeps it nowhere. Whoever has a person's token sees the grants of
// all custodians to that person, so only the operator makes further tokens of a person, and tokens
// of custodians, on the command line.
func (s *Service) AddToken(ctx context.Context, p store.Person, keeper *auth.Keeper, name string, life time.Duration) (string, error) {
	if p.Role != store.Custodian {
		return "", Forbidden(store.Custodian)
	}
	if err := auth.ValidPerson("name", name); err != nil {
		return "", err
	}
	role, err := s.Store.Role(ctx, name)
	if err == nil && role == store.Analyst {
		return "", wrong("name", "a person whom the server does not know yet", name, "whoever runs the server makes further tokens of a person: gauze serve token add")
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	return keeper.Add(ctx, p.Name, store.Person{Name: name, Role: store.Analyst}, life)
}

// RevokeToken ends a token of an analyst, or one of the custodian's own who asks, with the sessions
// that it began.
func (s *Service) RevokeToken(ctx context.Context, p store.Person, id string) error {
	all, err := s.Tokens(ctx, p)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t store.Token) bool { return t.ID == id })
	if i < 0 || all[i].Role != store.Analyst && all[i].Name != p.Name {
		return Missing("token")
	}
	if err = s.Store.Revoke(ctx, p.Name, id); errors.Is(err, store.ErrNotFound) {
		return Missing("token")
	}
	return err
}
