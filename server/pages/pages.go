// Package pages serves the server's pages for browsers: complete HTML, sent with a policy that lets
// them load nothing from elsewhere. They work without their script, which redraws a plan as its
// numbers change and looks again at a fit whose slot has ended.
//
// A page shows only what server/service returns to the person who asks: what an analyst must not
// see never reaches this package.
package pages

import (
	"bytes"
	"embed"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/server/api"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// Pages holds the handlers.
type Pages struct {
	Service *service.Service
	Keeper  *auth.Keeper
	Log     *slog.Logger
	// Secure says that browsers reach the server over TLS, whoever terminates it.
	Secure bool
	// Elsewhere is where people can sign in without a token, "" for nowhere.
	Elsewhere string

	compares chan struct{} // taken while two releases are compared, or rows drawn
}

// mostBody is the largest size of a form. A guess: a schema of thousands of columns.
const mostBody = 1 << 20

// comparesAtOnce bounds how many pairs of releases are compared at the same time. A guess.
const comparesAtOnce = 2

//go:embed html
var sources embed.FS

// templates are parsed when a page is first requested, which most runs of the program never do.
var templates = sync.OnceValue(func() *fill.Set { return fill.HTML(sources, "html/*.html", functions) })

// policy lets a page load its style, its script and its pictures from this server only, and lets
// the script send requests to it; no other page can hold it in a frame, and its forms are sent
// nowhere else.
const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// An answer is a page, or a redirection.
type answer struct {
	page   string // of html/
	title  string
	data   any
	status int    // default: 200
	to     string // redirection, in place of a page
	// the problem of a request that was not done
	fault *service.Problem
	form  *form // the form that shows a part of the fault
}

// A visit is a request of a signed-in person.
type visit struct {
	*http.Request
	store.Session
	w http.ResponseWriter
}

// A handler handles a page's request. A nil answer has been written already.
type handler func(p *Pages, v *visit) (*answer, error)

// A route is a page, or the target of a form.
type route struct {
	pattern string
	do      handler
	role    store.Role // the only role allowed; "" for both
	long    bool       // it reads rows for the custodian, for as long as that takes
}

func routes() []route {
	return []route{
		{pattern: "GET /{$}", do: func(*Pages, *visit) (*answer, error) { return &answer{to: "/datasets"}, nil }},
		{pattern: "POST /sign-out", do: signOut},
		{pattern: "GET /datasets", do: datasets},
		{pattern: "GET /datasets/{name}", do: dataset},
		{pattern: "POST /datasets/{name}/grants", do: grant, role: store.Custodian},
		{pattern: "POST /datasets/{name}/withdrawals", do: withdraw, role: store.Custodian},
		{pattern: "POST /datasets/{name}/retire", do: retire, role: store.Custodian},
		{pattern: "POST /datasets/{name}/accept", do: accept, role: store.Custodian, long: true},
		{pattern: "GET /register", do: registration, role: store.Custodian},
		{pattern: "POST /register", do: register, role: store.Custodian, long: true},
		{pattern: "GET /plan", do: plan},
		{pattern: "POST /fits", do: submit, role: store.Analyst},
		{pattern: "GET /fits", do: fits},
		{pattern: "GET /fits/{id}", do: fit},
		{pattern: "POST /fits/{id}/cancel", do: cancel},
		{pattern: "GET /releases", do: releases},
		{pattern: "GET /releases/{id}/report", do: report},
		{pattern: "GET /releases/{id}/download", do: download},
		{pattern: "GET /releases/{id}/signature", do: signature},
		{pattern: "GET /releases/{id}/figures.csv", do: figures},
		{pattern: "GET /releases/{id}/rows.csv", do: syntheticRows},
		{pattern: "GET /compare", do: compare},
		{pattern: "GET /people", do: people, role: store.Custodian},
		{pattern: "POST /people", do: addToken, role: store.Custodian},
		{pattern: "POST /people/{id}/revoke", do: revokeToken, role: store.Custodian},
		{pattern: "GET /log", do: events, role: store.Custodian},
	}
}

// Register adds the pages to a mux.
func (p *Pages) Register(mux *http.ServeMux) {
	p.compares = make(chan struct{}, comparesAtOnce)
	for _, route := range routes() {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, route) })
	}
	mux.HandleFunc("GET /sign-in", p.signIn)
	mux.HandleFunc("POST /sign-in", p.begin)
	mux.HandleFunc("GET /static/{name}", static)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, route{do: func(*Pages, *visit) (*answer, error) { return nil, service.Missing("page") }})
	})
}

// serve identifies the person, and answers.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, route route) {
	session, err := p.session(r)
	if err != nil {
		p.denied(w, r, err)
		return
	}
	api.Name(r, session.Person)
	v := &visit{r, session, w}
	a, err := p.do(v, route)
	if err != nil {
		fault, known := service.ProblemOf(err)
		if !known {
			p.Log.Error("internal error", "route", r.Pattern, "error", err.Error())
		}
		a = &answer{page: "problem.html", title: fault.Title, fault: fault}
	}
	p.write(w, r, &session, a)
}

// do runs a visit's handler, if the visit is allowed.
func (p *Pages) do(v *visit, route route) (*answer, error) {
	if wait := p.Service.Requests.Wait(v.Person.Name); wait > 0 {
		return nil, service.Busy("too many requests", wait)
	}
	if route.role != "" && v.Role != route.role {
		return nil, service.Forbidden(route.role)
	}
	if v.Method == http.MethodPost {
		v.Body = http.MaxBytesReader(v.w, v.Body, mostBody)
		if err := v.ParseForm(); err != nil {
			return nil, service.Malformed(err)
		}
		if !auth.SameSecret(v.Session, v.PostForm.Get("secret")) {
			return nil, foreign()
		}
	}
	if route.long {
		if err := http.NewResponseController(v.w).SetWriteDeadline(time.Time{}); err != nil {
			return nil, err
		}
	}
	return route.do(p, v)
}

// A frame holds what all pages share.
type frame struct {
	Title, Path, Secret string
	Person              *store.Person // nil for nobody
	Fault               *service.Problem
	Said                []service.Fault // faults that no field shows
	Data                any
}

// write writes an answer.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, s *store.Session, a *answer) {
	if a == nil {
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	if a.to != "" {
		http.Redirect(w, r, a.to, http.StatusSeeOther)
		return
	}
	f := frame{Title: a.title, Path: r.URL.Path, Fault: a.fault, Said: saidOf(a.fault, a.form), Data: a.data}
	if s != nil {
		f.Person, f.Secret = &s.Person, s.Secret
	}
	var body bytes.Buffer
	if err := templates().Execute(&body, a.page, f); err != nil {
		p.Log.Error("a page cannot be written", "page", a.page, "error", err.Error())
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	if status := a.status; a.fault != nil && status == 0 {
		a.status = a.fault.Status
		if wait := a.fault.RetryAfter; wait > 0 {
			h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(max(a.status, http.StatusOK))
	w.Write(body.Bytes())
}

// refused returns the page of a form that was not accepted, or the error if the form is not at
// fault.
func refused(a *answer, err error) (*answer, error) {
	fault, known := service.ProblemOf(err)
	if !known || fault.Status < 400 || fault.Status == http.StatusForbidden || fault.Status == http.StatusNotFound {
		return nil, err
	}
	a.fault = fault
	return a, nil
}

// static serves the files that pages load. Their addresses change with the program, so that
// browsers can cache them.
func static(w http.ResponseWriter, r *http.Request) {
	body, err := files.ReadFile("static/" + r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	kinds := map[string]string{"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
	_, kind, _ := strings.Cut(r.PathValue("name"), ".")
	w.Header().Set("Content-Type", kinds[kind])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Write(body)
}
