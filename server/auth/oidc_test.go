package auth

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server/store"
)

// An issuer signs what it is asked to.
type issuer struct {
	t     *testing.T
	key   *rsa.PrivateKey
	web   *httptest.Server
	token string // that the next exchange of a code gives
	nonce string // that the last visitor came with
}

func started(t *testing.T) *issuer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, x any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(x)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": i.web.URL, "authorization_endpoint": i.web.URL + "/auth", "token_endpoint": i.web.URL + "/token", "jwks_uri": i.web.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		e := base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes())
		answer(w, map[string]any{"keys": []any{map[string]string{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": e}}})
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		i.nonce = r.URL.Query().Get("nonce")
		back := r.URL.Query().Get("redirect_uri") + "?" + url.Values{"code": {"x"}, "state": {r.URL.Query().Get("state")}}.Encode()
		i.token = i.signed(map[string]any{"nonce": i.nonce})
		http.Redirect(w, r, back, http.StatusSeeOther)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code_verifier") == "" {
			t.Error("an exchange without PKCE")
		}
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": i.token})
	})
	i.web = httptest.NewServer(mux)
	t.Cleanup(i.web.Close)
	return i
}

// signed is an ID token, with other claims in the place of the usual ones.
func (i *issuer) signed(other map[string]any) string {
	claims := map[string]any{"iss": i.web.URL, "aud": "gauze", "sub": "1", "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
		"email": "Lee@example.org", "email_verified": true, "groups": []string{"staff", "statistics"}}
	for name, x := range other {
		claims[name] = x
	}
	part := func(x any) string {
		text, err := json.Marshal(x)
		if err != nil {
			i.t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": "RS256", "kid": "one"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (i *issuer) provider(address string) *Provider {
	p, err := NewProvider(i.t.Context(), Config{Issuer: i.web.URL, Client: "gauze", Address: address, Claim: "groups", Custodians: []string{"owners"}, Analysts: []string{"statistics"}}, time.Now)
	if err != nil {
		i.t.Fatal(err)
	}
	return p
}

// Who an ID token makes somebody, and every way in which one is not taken.
func TestPerson(t *testing.T) {
	i, ctx := started(t), context.Background()
	p := i.provider("https://gauze.example.org")
	lee := store.Person{Name: "lee@example.org", Role: store.Analyst}
	if got, err := p.Person(ctx, i.signed(nil), ""); err != nil || got != lee {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := p.Person(ctx, i.signed(map[string]any{"groups": "owners"}), ""); err != nil || got.Role != store.Custodian {
		t.Errorf("%v, %v", got, err)
	}
	for what, other := range map[string]map[string]any{
		"another issuer": {"iss": "https://other.example.org"}, "another server": {"aud": "other"}, "expired": {"exp": time.Now().Add(-time.Hour).Unix()},
		"not verified": {"email_verified": false}, "no address": {"email": "kim"}, "no name": {"email": "a/b@example.org"}, "a claim of another name": {"email": nil, "Email": "kim@example.org"}, "no role": {"groups": []string{"staff"}}, "no claim": {"groups": nil},
	} {
		if got, err := p.Person(ctx, i.signed(other), ""); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	token := i.signed(nil)
	for what, text := range map[string]string{"nothing": "", "no token": "x.y.z", "another signature": token[:len(token)-8] + "AAAAAAAA"} {
		if _, err := p.Person(ctx, text, ""); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := p.Person(ctx, i.signed(map[string]any{"nonce": "another"}), "ours"); !errors.Is(err, ErrDenied) {
		t.Error("a token of another visit is taken")
	}
}

// A browser goes to the issuer and comes back signed in; who comes back without having gone is not.
func TestSignIn(t *testing.T) {
	i := started(t)
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	var in []store.Person
	i.provider(web.URL).Register(mux, false, func(_ http.ResponseWriter, _ *http.Request, p store.Person) error {
		in = append(in, p)
		return nil
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	r, err := browser.Get(web.URL + SignInStart)
	if err != nil || r.StatusCode != 200 || len(in) != 1 || in[0].Name != "lee@example.org" {
		t.Fatalf("%v, %v, %v", r, err, in)
	}
	r.Body.Close()
	for path, cookie := range map[string]string{callback: "", callback + "?code=x&state=": "..", callback + "?code=x&state=y": "x.y.z",
		callback + "?code=x&state=z": "z..z" /* no nonce to hold a token of another visit against */} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.AddCookie(&http.Cookie{Name: attempt, Value: cookie})
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusForbidden || len(in) != 1 {
			t.Errorf("%s: %d, %v", path, r.StatusCode, in)
		}
	}
}

// A configuration that could not do, or that would show tokens to a network, is refused.
func TestConfig(t *testing.T) {
	for _, c := range []Config{{Issuer: "http://example.org", Client: "a", Claim: "b", Address: "c", Analysts: []string{"d"}}, {Issuer: "https://example.org"},
		{Issuer: "https://example.org", Client: "a", Claim: "b", Address: "c"}} {
		if _, err := NewProvider(t.Context(), c, time.Now); err == nil {
			t.Error(fmt.Sprint(c) + " is taken")
		}
	}
}
