package service

import (
	"context"
	"io"
	"strings"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
	"github.com/gauze-dp/gauze/server/store"
)

// Release returns the text of a release that the person who asks may see.
func (s *Service) Release(ctx context.Context, p store.Person, id string) (string, error) {
	f, err := s.fit(ctx, p, id)
	if err != nil || s.view(p, f).Release == "" {
		return "", orMissing(err)
	}
	return s.Store.Release(ctx, id)
}

// Signature returns the server's signature of a release that the person who asks may see.
func (s *Service) Signature(ctx context.Context, p store.Person, id string) (string, error) {
	f, err := s.fit(ctx, p, id)
	if err != nil || s.view(p, f).Release == "" || f.Outcome.Signature == "" {
		return "", orMissing(err)
	}
	return f.Outcome.Signature, nil
}

func orMissing(err error) error {
	if p, ok := ProblemOf(err); err != nil && (!ok || p.Status != 404) {
		return err
	}
	return Missing("release")
}

// Report writes the page of a release, or of a fit that ended without one. It leads back to that
// address; to none for "".
func (s *Service) Report(ctx context.Context, p store.Person, id, back string, w io.Writer) error {
	f, err := s.fit(ctx, p, id)
	if err != nil {
		return orMissing(err)
	}
	switch s.view(p, f).State {
	case store.NoRelease:
		why := report.NoRelease{Reason: f.Outcome.Reason, Advice: f.Outcome.Advice}
		if f.Outcome.Certificate != nil {
			why.Certificate = *f.Outcome.Certificate
		}
		return report.HTMLNoRelease(w, why, report.Options{Back: back})
	case store.Released:
	default:
		return Missing("release")
	}
	body, err := s.Store.Release(ctx, id)
	if err != nil {
		return err
	}
	r, err := release.Read(strings.NewReader(body))
	if err != nil {
		return err
	}
	return report.HTML(w, r, report.Options{File: f.Dataset + "-" + id[:8] + ".json", Back: back})
}
