package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"github.com/gauze-dp/gauze/server/store"
)

// Life is the duration of a browser's session. A guess: a working day.
const Life = 12 * time.Hour

// Begin begins a session with a token, and returns the content of its cookie, of which only a
// digest is stored. It fails with ErrDenied.
func (k *Keeper) Begin(ctx context.Context, token string) (cookie string, s store.Session, err error) {
	kept, err := k.Token(ctx, token)
	if err != nil {
		return "", s, err
	}
	return k.begin(ctx, kept)
}

// BeginFor begins a session for a person whom another provider vouches for.
func (k *Keeper) BeginFor(ctx context.Context, p store.Person) (cookie string, err error) {
	if err := k.known(ctx, p); err != nil {
		return "", err
	}
	cookie, _, err = k.begin(ctx, store.Token{Person: p})
	return cookie, err
}

func (k *Keeper) begin(ctx context.Context, t store.Token) (cookie string, s store.Session, err error) {
	cookie = base64.RawURLEncoding.EncodeToString(drawn(secretBytes))
	s = store.Session{Hash: digestOf(cookie), Person: t.Person, Secret: base64.RawURLEncoding.EncodeToString(drawn(secretBytes)), Token: t.ID, Expires: k.now().Add(Life)}
	return cookie, s, k.store.AddSession(ctx, s)
}

// digestOf needs no salt and no slow hash: the cookie has 256 random bits.
func digestOf(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

// Session returns the session of a cookie. It fails with ErrDenied.
func (k *Keeper) Session(ctx context.Context, cookie string) (store.Session, error) {
	s, err := k.store.Session(ctx, digestOf(cookie))
	if errors.Is(err, store.ErrNotFound) {
		err = ErrDenied
	}
	return s, err
}

// SameSecret reports whether a form carries its session's secret.
func SameSecret(s store.Session, form string) bool {
	return subtle.ConstantTimeCompare([]byte(s.Secret), []byte(form)) == 1
}

// End ends the session of a cookie.
func (k *Keeper) End(ctx context.Context, cookie string) error {
	return k.store.EndSession(ctx, digestOf(cookie))
}
