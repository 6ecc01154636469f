package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/store"
)

// A Config names an issuer, and the roles of its users.
type Config struct {
	Issuer string // its URL; "" for none
	Client string // the server's name there
	Secret string // file with the server's secret there; "" for a public client
	// Address is the URL that browsers reach the server by.
	Address string
	Claim   string // the claim with the role, a word or a list of words. Required.
	// Custodians and Analysts are the values of the claim that give the role.
	Custodians, Analysts []string
}

// A Provider lets people sign in where they have an account already, by OpenID Connect: on pages,
// by the authorization code flow with PKCE, and on the JSON interface with an ID token as the
// bearer token.
//
// A person's name is the e-mail address that the issuer has verified. It has an at sign, so it
// differs from all names without one. The role follows from a claim, by lists of values in the
// configuration; a person in neither list is denied.
type Provider struct {
	config Config
	verify *oidc.IDTokenVerifier
	oauth  oauth2.Config
}

// NewProvider asks the issuer for its endpoints.
func NewProvider(ctx context.Context, c Config, now func() time.Time) (*Provider, error) {
	fault := func(field, wanted, got string) error {
		return &privacy.FieldError{Field: field, Wanted: wanted, Got: got, Fix: "docs/SERVER.md has an example"}
	}
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil || u.Scheme != "https" && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost":
		return nil, fault("oidc-issuer", "a URL with https", c.Issuer)
	case c.Client == "" || c.Claim == "" || c.Address == "":
		return nil, fault("oidc-client", "a client, a claim and the server's address beside an issuer", "not all of them")
	case len(c.Custodians)+len(c.Analysts) == 0:
		return nil, fault("oidc-analysts", "values of the claim that make somebody a custodian or an analyst", "none")
	}
	secret := ""
	if c.Secret != "" {
		text, err := os.ReadFile(c.Secret)
		if err != nil {
			return nil, fault("oidc-secret", "a file that can be read", err.Error())
		}
		secret = strings.TrimSpace(string(text))
	}
	found, err := oidc.NewProvider(ctx, c.Issuer)
	if err != nil {
		return nil, fault("oidc-issuer", "an issuer that answers", err.Error())
	}
	return &Provider{config: c, verify: found.Verifier(&oidc.Config{ClientID: c.Client, Now: now}),
		oauth: oauth2.Config{ClientID: c.Client, ClientSecret: secret, Endpoint: found.Endpoint(),
			RedirectURL: strings.TrimSuffix(c.Address, "/") + callback, Scopes: []string{oidc.ScopeOpenID, "email", "profile"}}}, nil
}

// Person returns whose ID token it is. It fails with ErrDenied, whatever is wrong with the token.
func (p *Provider) Person(ctx context.Context, token, nonce string) (store.Person, error) {
	checked, err := p.verify.Verify(ctx, token)
	if err != nil || nonce != "" && checked.Nonce != nonce {
		return store.Person{}, ErrDenied
	}
	// a map: struct fields would accept claims whose names differ in case
	all, name, verified := map[string]json.RawMessage{}, "", false
	if checked.Claims(&all) != nil || json.Unmarshal(all["email"], &name) != nil || json.Unmarshal(all["email_verified"], &verified) != nil {
		return store.Person{}, ErrDenied
	}
	name = strings.ToLower(name)
	if !verified || !strings.Contains(name, "@") || ValidPerson("email", name) != nil {
		return store.Person{}, ErrDenied
	}
	has := wordsOf(all[p.config.Claim])
	among := func(list []string) bool {
		return slices.ContainsFunc(has, func(word string) bool { return slices.Contains(list, word) })
	}
	switch {
	case among(p.config.Custodians):
		return store.Person{Name: name, Role: store.Custodian}, nil
	case among(p.config.Analysts):
		return store.Person{Name: name, Role: store.Analyst}, nil
	}
	return store.Person{}, ErrDenied
}

// wordsOf returns the values of a claim.
func wordsOf(raw json.RawMessage) (words []string) {
	if json.Unmarshal(raw, &words) != nil {
		word := ""
		if json.Unmarshal(raw, &word) == nil {
			words = []string{word}
		}
	}
	return words
}

// The paths where browsers sign in, and to which they return.
const (
	SignInStart = "/sign-in/oidc"
	callback    = "/sign-in/oidc/callback"
)

// attempt is the cookie of a sign-in in progress: the answer has to come back to the same browser.
const attempt = "gauze-oidc"

// attemptLife is the longest time of a sign-in, in seconds. A guess.
const attemptLife = 600

// Register adds the sign-in paths to a mux. begin begins the session of a person; secure says that
// browsers reach the server by TLS.
func (p *Provider) Register(mux *http.ServeMux, secure bool, begin func(http.ResponseWriter, *http.Request, store.Person) error) {
	mux.HandleFunc("GET "+SignInStart, func(w http.ResponseWriter, r *http.Request) {
		state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
		http.SetCookie(w, &http.Cookie{Name: attempt, Value: strings.Join([]string{state, nonce, verifier}, "."), Path: SignInStart, MaxAge: attemptLife,
			HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, p.oauth.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)), http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+callback, func(w http.ResponseWriter, r *http.Request) {
		person, err := p.back(r)
		http.SetCookie(w, &http.Cookie{Name: attempt, Path: SignInStart, MaxAge: -1, HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode})
		if err == nil {
			err = begin(w, r, person)
		}
		if err != nil {
			http.Error(w, "You could not be signed in: the issuer does not say who you are, or that you may be here. Try again, or ask who runs this server.", http.StatusForbidden)
			return
		}
		// a page and not a redirection: browsers send a strict cookie only from a page of this
		// server
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Signed in</title><meta http-equiv="refresh" content="0; url=/"><a href="/">Go on</a></html>`)
	})
}

// back returns the person who comes back from the issuer.
func (p *Provider) back(r *http.Request) (store.Person, error) {
	cookie, err := r.Cookie(attempt)
	if err != nil {
		return store.Person{}, ErrDenied
	}
	parts := strings.Split(cookie.Value, ".")
	if len(parts) != 3 || slices.Contains(parts, "") || r.URL.Query().Get("state") != parts[0] {
		return store.Person{}, ErrDenied
	}
	got, err := p.oauth.Exchange(r.Context(), r.URL.Query().Get("code"), oauth2.VerifierOption(parts[2]))
	if err != nil {
		return store.Person{}, ErrDenied
	}
	token, _ := got.Extra("id_token").(string)
	return p.Person(r.Context(), token, parts[1])
}
