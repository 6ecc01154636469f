package pages

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// The cookies: of a session, and of the sign-in form, which has no session yet whose secret it
// could carry.
const (
	sessionCookie = "gauze-session"
	signInCookie  = "gauze-sign-in"
)

// named returns a cookie's name: over TLS one that no other host, and no page without TLS, can have
// set.
func (p *Pages) named(name string) string {
	if p.Secure {
		return "__Host-" + name
	}
	return name
}

// set sets a cookie, or removes it if value is "".
func (p *Pages) set(w http.ResponseWriter, name, value string) {
	c := &http.Cookie{Name: p.named(name), Value: value, Path: "/", HttpOnly: true, Secure: p.Secure, SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// Begin gives a browser the cookie of a session that was begun.
func (p *Pages) Begin(w http.ResponseWriter, cookie string) { p.set(w, sessionCookie, cookie) }

// session returns the session of a request's cookie. It fails with auth.ErrDenied.
func (p *Pages) session(r *http.Request) (store.Session, error) {
	c, err := r.Cookie(p.named(sessionCookie))
	if err != nil {
		return store.Session{}, auth.ErrDenied
	}
	return p.Keeper.Session(r.Context(), c.Value)
}

// denied redirects an unknown person to the sign-in page, and from there back to the requested
// page.
func (p *Pages) denied(w http.ResponseWriter, r *http.Request, err error) {
	if !errors.Is(err, auth.ErrDenied) {
		fault, _ := service.ProblemOf(err)
		p.Log.Error("internal error", "route", r.Pattern, "error", err.Error())
		p.write(w, r, nil, &answer{page: "problem.html", title: fault.Title, fault: fault})
		return
	}
	to := "/sign-in"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		to += "?" + url.Values{"next": {r.URL.RequestURI()}}.Encode()
	}
	p.write(w, r, nil, &answer{to: to})
}

// signing is the content of the sign-in page.
type signing struct{ Secret, Next, Elsewhere string }

// local returns where to go after signing in, a path on this server, whatever was requested.
func local(next string) string {
	// browsers drop tabs and line ends from addresses, and read a backslash as a slash
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) || strings.ContainsFunc(next, unicode.IsControl) {
		return "/datasets"
	}
	return next
}

func (p *Pages) signIn(w http.ResponseWriter, r *http.Request) {
	next := local(r.FormValue("next"))
	if _, err := p.session(r); err == nil {
		p.write(w, r, nil, &answer{to: next})
		return
	}
	p.ask(w, r, next, nil)
}

// ask shows the form to sign in, with a secret of its own.
func (p *Pages) ask(w http.ResponseWriter, r *http.Request, next string, fault *service.Problem) {
	secret := rand.Text()
	p.set(w, signInCookie, secret)
	p.write(w, r, nil, &answer{page: "sign-in.html", title: "Sign in", data: signing{secret, next, p.Elsewhere}, fault: fault})
}

// begin begins a session with a token.
func (p *Pages) begin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	err := r.ParseForm()
	if err != nil {
		err = service.Malformed(err)
	}
	next := local(r.PostForm.Get("next"))
	if err == nil {
		c, missing := r.Cookie(p.named(signInCookie))
		if missing != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(r.PostForm.Get("secret"))) != 1 {
			err = foreign()
		}
	}
	var cookie string
	if err == nil {
		cookie, _, err = p.Keeper.Begin(r.Context(), strings.TrimSpace(r.PostForm.Get("token")))
	}
	if err != nil {
		fault, known := service.ProblemOf(err)
		if !known {
			p.Log.Error("internal error", "route", r.Pattern, "error", err.Error())
		}
		if errors.Is(err, auth.ErrDenied) {
			fault.Detail, fault.Fault = "", service.Fault{Field: "token", Wanted: "a token that is known, has not expired and was not revoked", Got: "another", Hint: "a custodian's gauze serve token add makes one"}
		}
		p.ask(w, r, next, fault)
		return
	}
	p.set(w, signInCookie, "")
	p.Begin(w, cookie)
	p.write(w, r, nil, &answer{to: next})
}

// signOut ends the session.
func signOut(p *Pages, v *visit) (*answer, error) {
	c, err := v.Cookie(p.named(sessionCookie))
	if err == nil {
		err = p.Keeper.End(v.Context(), c.Value)
	}
	p.set(v.w, sessionCookie, "")
	return &answer{to: "/sign-in"}, err
}

// foreign returns the problem of a form that is not from a page of this session.
func foreign() *service.Problem {
	return &service.Problem{Type: "urn:gauze:form", Title: http.StatusText(http.StatusForbidden), Status: http.StatusForbidden,
		Detail: "the form is not from a page that you have open here, or it is too old", Fault: service.Fault{Hint: "open the page again, and send the form from there"}}
}
