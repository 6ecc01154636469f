// Package api serves JSON over HTTP: each handler reads a request, calls server/service, and writes
// its answer.
package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// Base is the path that all endpoints are below.
const Base = "/api/v1"

// An API holds the handlers.
type API struct {
	Service *service.Service
	Keeper  *auth.Keeper
	Log     *slog.Logger
	// SigningKeys are the public keys of the server's release signatures, one per line, the newest
	// first; nil if it signs none.
	SigningKeys []byte
}

// mostBody is the largest size of a request's body. A guess: a schema of thousands of columns.
const mostBody = 1 << 20

// A handler does what a person requests, and returns the status and the value to write as JSON.
type handler func(a *API, r *http.Request, p store.Person) (int, any, error)

// A writer does the same and writes the answer itself.
type writer func(a *API, w http.ResponseWriter, r *http.Request, p store.Person) error

// A route is an endpoint.
type route struct {
	method, path string // behind Base
	do           handler
	// long says that it reads rows for the custodian, for as long as that takes
	long bool
	// write, in place of do, writes an answer that is not JSON of this package
	write writer
}

// routes returns all endpoints that need a token. A test compares openapi.json with them.
func routes() []route {
	return []route{
		{method: "GET", path: "/datasets", do: datasets},
		{method: "POST", path: "/datasets", do: posted(store.Custodian, register), long: true},
		{method: "GET", path: "/datasets/{name}", do: one("name", (*service.Service).Dataset)},
		{method: "POST", path: "/datasets/{name}/grants", do: posted(store.Custodian, grant)},
		{method: "POST", path: "/datasets/{name}/withdrawals", do: posted(store.Custodian, withdraw)},
		{method: "POST", path: "/datasets/{name}/accept", do: one("name", (*service.Service).Accept), long: true},
		{method: "POST", path: "/datasets/{name}/retire", do: one("name", (*service.Service).Retire)},
		{method: "POST", path: "/plans", do: posted("", plan)},
		{method: "POST", path: "/fits", do: posted(store.Analyst, submit)},
		{method: "GET", path: "/fits", do: fits},
		{method: "GET", path: "/fits/{id}", do: one("id", (*service.Service).Fit)},
		{method: "DELETE", path: "/fits/{id}", do: one("id", (*service.Service).Cancel)},
		{method: "POST", path: "/fits/{id}/cancel", do: one("id", (*service.Service).Cancel)},
		{method: "GET", path: "/releases", do: releases},
		{method: "GET", path: "/releases/{id}", write: written("application/json", (*service.Service).Release)},
		{method: "GET", path: "/releases/{id}/report", write: report},
		{method: "GET", path: "/releases/{id}/signature", write: written("text/plain; charset=utf-8", (*service.Service).Signature)},
		{method: "GET", path: "/log", do: events},
		{method: "GET", path: "/me", do: me},
	}
}

// Register adds the endpoints to a mux.
func (a *API) Register(mux *http.ServeMux) {
	for _, route := range routes() {
		mux.HandleFunc(route.method+" "+Base+route.path, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, route) })
	}
	mux.HandleFunc("GET "+Base+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(openAPI)
	})
	mux.HandleFunc("GET "+Base+"/signing-key", a.signingKey)
	mux.HandleFunc(Base+"/", func(w http.ResponseWriter, r *http.Request) { a.nothing(w, r) })
}

// nothing answers requests that match no endpoint.
func (a *API) nothing(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, Base)
	for _, route := range routes() {
		if matches(route.path, path) {
			p := service.Missing("method of this endpoint")
			p.Status, p.Title = http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed)
			WriteProblem(w, p)
			return
		}
	}
	WriteProblem(w, service.Missing("endpoint"))
}

// matches reports whether a path belongs to a route.
func matches(route, path string) bool {
	a, b := strings.Split(route, "/"), strings.Split(path, "/")
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}
	return true
}

// serve identifies the person, and answers.
func (a *API) serve(w http.ResponseWriter, r *http.Request, route route) {
	w.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, mostBody)
	p, err := a.who(r)
	if err == nil && route.long && p.Role == store.Custodian {
		err = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	}
	if err == nil {
		Name(r, p)
		if wait := a.Service.Requests.Wait(p.Name); wait > 0 {
			err = service.Busy("too many requests", wait)
		}
	}
	if err == nil && route.write != nil {
		err = route.write(a, w, r, p)
	} else if err == nil {
		var status int
		var body any
		if status, body, err = route.do(a, r, p); err == nil {
			err = write(w, status, body)
		}
	}
	if err != nil {
		a.fail(w, r, err)
	}
}

// who returns the person whose token a request carries.
func (a *API) who(r *http.Request) (store.Person, error) {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return store.Person{}, auth.ErrDenied
	}
	t, err := a.Keeper.Token(r.Context(), token)
	return t.Person, err
}

// fail writes the problem of an error; for an unexpected error the log has more.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, known := service.ProblemOf(err)
	if !known {
		a.Log.Error("internal error", "route", r.Pattern, "error", err.Error())
	}
	WriteProblem(w, p)
}

// WriteProblem answers with a problem.
func WriteProblem(w http.ResponseWriter, p *service.Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="gauze"`)
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p)
}

// write answers with JSON.
func write(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("server: an answer cannot be written: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
	return nil
}

// read reads a body of one JSON value.
func read(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return service.Malformed(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return service.Malformed(errors.New("more text behind it"))
	}
	return nil
}

// How many entries of a list are returned: by default, and at most.
const (
	usualPage = 50
	mostPage  = 500
)

// page returns the requested part of a list.
func page(r *http.Request) (before int64, most int, err error) {
	most = usualPage
	query := r.URL.Query()
	if text := query.Get("limit"); text != "" {
		if most, err = strconv.Atoi(text); err != nil || most < 1 || most > mostPage {
			return 0, 0, service.Malformed(&json.UnmarshalTypeError{Field: "limit", Value: "something else than 1 to 500"})
		}
	}
	if text := query.Get("before"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return 0, 0, service.Malformed(&json.UnmarshalTypeError{Field: "before", Value: "something else than a number of next"})
		}
	}
	return before, most, nil
}
