package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/store"
)

// ErrDenied says that the credentials identify nobody, but not what is wrong with them.
var ErrDenied = errors.New("server: wanted a token that is known, has not expired and was not revoked")

// ErrMany says that a token was tried too often with a wrong secret, and that it takes a while
// until the next try is checked.
var ErrMany = errors.New("server: too many wrong secrets of one token")

// How often wrong secrets of one token are checked: so many per second, and so many at once.
// Guesses.
const (
	wrongPerSecond = 1
	wrongAtOnce    = 10
)

// The parameters of argon2id: 19 MiB and two passes, the least that OWASP advises.
const (
	passes    = 2
	memory    = 19 << 10
	threads   = 1
	hashBytes = 32
	saltBytes = 16
)

// hashesAtOnce bounds the memory of hashing. A guess.
const hashesAtOnce = 4

// secretBytes is the length of a token's secret, and of a session's; idBytes that of a token's
// name.
const (
	secretBytes = 32
	idBytes     = 8
)

// mark begins every token, so that tools that look for secrets in files find it.
const mark = "gauze"

// A Keeper identifies people.
type Keeper struct {
	store   *store.Store
	now     func() time.Time
	key     []byte        // of the digests of tokens that were found right
	hashing chan struct{} // taken while hashing
	wrong   *Limit        // of secrets of a token
	// Other, if set, returns the person of a token that this server has not made.
	Other func(ctx context.Context, token string) (store.Person, error)
	mu    sync.Mutex
	right map[string]string // of each token's id, the digest of the token
}

// New returns a keeper of the people in the store.
func New(s *store.Store, now func() time.Time) *Keeper {
	return &Keeper{store: s, now: now, key: drawn(secretBytes), hashing: make(chan struct{}, hashesAtOnce), right: map[string]string{},
		wrong: &Limit{PerSecond: wrongPerSecond, Burst: wrongAtOnce, Now: now}}
}

// drawn returns random bytes.
func drawn(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: the program ends if it cannot
	return b
}

func hashOf(secret string, salt []byte) []byte {
	return argon2.IDKey([]byte(secret), salt, passes, memory, threads, hashBytes)
}

var validPerson = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// ValidPerson returns an error if a name is not allowed.
func ValidPerson(field, name string) error {
	if !validPerson.MatchString(name) {
		return &privacy.FieldError{Field: field, Wanted: "a name of 1 to 64 letters, digits, dots, dashes, underscores, plus and at signs", Got: fmt.Sprintf("%.80q", name), Fix: "for instance kim or kim@example.org"}
	}
	return nil
}

// Add makes a token for a person, who becomes known by it, and returns it. Only its hash is stored.
// It lasts for life, or for ever if life is 0.
func (k *Keeper) Add(ctx context.Context, who string, p store.Person, life time.Duration) (string, error) {
	if err := ValidPerson("name", p.Name); err != nil {
		return "", err
	}
	if p.Role != store.Custodian && p.Role != store.Analyst {
		return "", &privacy.FieldError{Field: "role", Wanted: "custodian or analyst", Got: fmt.Sprintf("%.80q", string(p.Role)), Fix: "a custodian registers data sets and grants budgets, an analyst fits"}
	}
	if life < 0 {
		return "", &privacy.FieldError{Field: "expires", Wanted: "a positive time, or 0 for never", Got: life.String(), Fix: "for instance 2160h"}
	}
	salt, secret := drawn(saltBytes), base64.RawURLEncoding.EncodeToString(drawn(secretBytes))
	token := store.Token{ID: hex.EncodeToString(drawn(idBytes)), Person: p, Hash: hex.EncodeToString(salt) + ":" + hex.EncodeToString(hashOf(secret, salt))}
	if life > 0 {
		token.Expires = k.now().Add(life)
	}
	err := k.store.AddToken(ctx, who, token)
	if errors.Is(err, store.ErrThere) {
		return "", &privacy.FieldError{Field: "role", Wanted: "the role that this person has", Got: string(p.Role), Fix: "a person has one role: choose another name for the other"}
	}
	return strings.Join([]string{mark, token.ID, secret}, "_"), err
}

// Token returns the stored token for the one shown; only its person, if another provider vouches
// for it. It fails with ErrDenied.
func (k *Keeper) Token(ctx context.Context, token string) (kept store.Token, err error) {
	parts := strings.SplitN(token, "_", 3)
	if k.Other != nil && parts[0] != mark {
		if kept.Person, err = k.Other(ctx, token); err == nil {
			err = k.known(ctx, kept.Person)
		}
		return kept, err
	}
	if len(parts) != 3 || parts[0] != mark || len(parts[1]) != 2*idBytes || len(token) > 200 {
		return kept, ErrDenied
	}
	id, secret := parts[1], parts[2]
	kept, err = k.store.Token(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return kept, ErrDenied
	}
	if err != nil {
		return kept, err
	}
	if !kept.Revoked.IsZero() || !kept.Expires.IsZero() && k.now().After(kept.Expires) {
		return kept, ErrDenied
	}
	return kept, k.check(id, secret, kept.Hash)
}

// known makes a person known whom another provider vouches for. It returns ErrDenied if the name
// has the other role.
func (k *Keeper) known(ctx context.Context, p store.Person) error {
	err := k.store.Known(ctx, p)
	if errors.Is(err, store.ErrThere) {
		return ErrDenied
	}
	return err
}

// check returns ErrDenied, or ErrMany, unless the secret has this hash.
func (k *Keeper) check(id, secret, hash string) error {
	mac := hmac.New(sha256.New, k.key)
	fmt.Fprintf(mac, "%s %s %s", id, hash, secret)
	digest := string(mac.Sum(nil))
	k.mu.Lock()
	known := k.right[id]
	k.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(known), []byte(digest)) == 1 {
		return nil
	}
	if !k.wrong.Left(id) {
		return ErrMany
	}
	k.hashing <- struct{}{}
	defer func() { <-k.hashing }()
	salted, wanted, _ := strings.Cut(hash, ":")
	salt, err := hex.DecodeString(salted)
	if err != nil || subtle.ConstantTimeCompare([]byte(hex.EncodeToString(hashOf(secret, salt))), []byte(wanted)) != 1 {
		k.wrong.Wait(id)
		return ErrDenied
	}
	k.mu.Lock()
	k.right[id] = digest
	k.mu.Unlock()
	return nil
}
