package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A browser keeps the cookie of a session and the secret of its forms.
type browser struct {
	f              *field
	cookie, secret string
	flags          string // of the cookie
}

const sessionCookie = "gauze-session"

// stranger returns the browser of a person who has not signed in.
func (f *field) stranger() *browser { return &browser{f: f} }

var secretOf = regexp.MustCompile(`name="secret" value="([^"]+)"`)

func secretIn(page []byte) string {
	if found := secretOf.FindSubmatch(page); found != nil {
		return string(found[1])
	}
	return ""
}

// browser returns the browser of a person who has signed in.
func (f *field) browser(ctx context.Context, who string) (*browser, error) {
	b := f.stranger()
	if a := b.signIn(ctx, f.tokens[who], "", ""); a.status != 303 {
		return nil, fmt.Errorf("%s cannot sign in: %d %w", who, a.status, a.err)
	}
	b.secret = secretIn(b.get(ctx, "/datasets").body)
	return b, nil
}

// signIn opens the page to sign in on, and sends its form.
func (b *browser) signIn(ctx context.Context, token, next, fixed string) answer {
	page := b.get(ctx, "/sign-in")
	sent := url.Values{"token": {token}, "next": {next}, "secret": {secretIn(page.body)}}
	cookies := []string{"gauze-sign-in=" + cookieIn(page, "gauze-sign-in").Value}
	if fixed != "" {
		cookies = append(cookies, sessionCookie+"="+fixed)
	}
	a := b.f.ask(ctx, "POST", "/sign-in", sent.Encode(), "Content-Type", formType, "Cookie", strings.Join(cookies, "; "))
	c := cookieIn(a, sessionCookie)
	b.cookie = c.Value
	b.flags = fmt.Sprintf("HttpOnly %v, SameSite %v, Secure %v, Path %s", c.HttpOnly, c.SameSite == http.SameSiteStrictMode, c.Secure, c.Path)
	return a
}

func cookieIn(a answer, name string) *http.Cookie {
	all := (&http.Response{Header: a.header}).Cookies()
	if i := slices.IndexFunc(all, func(c *http.Cookie) bool { return c.Name == name }); i >= 0 {
		return all[i]
	}
	return &http.Cookie{}
}

const formType = "application/x-www-form-urlencoded"

// get opens a page; redirections are not followed.
func (b *browser) get(ctx context.Context, path string) answer {
	return b.f.ask(ctx, "GET", path, "", "Cookie", sessionCookie+"="+b.cookie)
}

// post sends a form with its secret.
func (b *browser) post(ctx context.Context, path string, values url.Values) answer {
	sent := url.Values{"secret": {b.secret}}
	for name, value := range values {
		sent[name] = value
	}
	return b.f.ask(ctx, "POST", path, sent.Encode(), "Content-Type", formType, "Cookie", sessionCookie+"="+b.cookie)
}

// ask sends a request without a token.
func (f *field) ask(ctx context.Context, method, path, body string, headers ...string) answer {
	return f.send(ctx, "", method, path, body, headers...)
}
