package auth

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server/store"
)

// A session ends with the token that it was begun with, or after Life.
func TestSessionEndsWithItsToken(t *testing.T) {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := func() time.Time { return clock }
	place := filepath.Join(t.TempDir(), "gauze.db")
	s, err := store.Open(t.Context(), place, place+".key", now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k := New(s, now)
	for _, c := range []struct{ life, lasts time.Duration }{{0, Life}, {time.Hour, time.Hour}, {48 * time.Hour, Life}} {
		token, err := k.Add(t.Context(), "test", store.Person{Name: "lee", Role: store.Analyst}, c.life)
		if err != nil {
			t.Fatal(err)
		}
		cookie, _, err := k.Begin(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		begun := clock
		clock = begun.Add(c.lasts - time.Second)
		if _, err := k.Session(t.Context(), cookie); err != nil {
			t.Errorf("a token of %v: a second before %v: %v", c.life, c.lasts, err)
		}
		clock = begun.Add(c.lasts + time.Second)
		if _, err := k.Session(t.Context(), cookie); !errors.Is(err, ErrDenied) {
			t.Errorf("a token of %v: a second after %v: %v", c.life, c.lasts, err)
		}
	}
}
