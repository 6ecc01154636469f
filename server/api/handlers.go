package api

import (
	"bytes"
	"context"
	_ "embed"
	"io"
	"net/http"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

//go:embed openapi.json
var openAPI []byte

// A datasetPage is a part of a list of data sets: Next, if there is one, is the name after which
// the next part begins.
type datasetPage struct {
	Datasets []*service.Dataset `json:"datasets"`
	Next     string             `json:"next,omitempty"`
}

func datasets(a *API, r *http.Request, p store.Person) (int, any, error) {
	_, most, err := page(r)
	if err != nil {
		return 0, nil, err
	}
	all, err := a.Service.Datasets(r.Context(), p, r.URL.Query().Get("after"), most)
	out := datasetPage{Datasets: all}
	if len(all) == most {
		out.Next = all[most-1].Name
	}
	return http.StatusOK, out, err
}

// one returns the handler of what is done to the thing that the path names.
func one[T any](key string, do func(s *service.Service, ctx context.Context, p store.Person, name string) (T, error)) handler {
	return func(a *API, r *http.Request, p store.Person) (int, any, error) {
		out, err := do(a.Service, r.Context(), p, r.PathValue(key))
		return http.StatusOK, out, err
	}
}

// posted returns the handler of what is done with a body, by people of one role, or of any for "".
func posted[B any](role store.Role, do func(a *API, r *http.Request, p store.Person, body B) (int, any, error)) handler {
	return func(a *API, r *http.Request, p store.Person) (int, any, error) {
		var body B
		if role != "" && p.Role != role {
			return 0, nil, service.Forbidden(role)
		}
		if err := read(r, &body); err != nil {
			return 0, nil, err
		}
		return do(a, r, p, body)
	}
}

func register(a *API, r *http.Request, p store.Person, body service.Registration) (int, any, error) {
	d, err := a.Service.Register(r.Context(), p, body)
	return http.StatusCreated, d, err
}

func grant(a *API, r *http.Request, p store.Person, body service.Grant) (int, any, error) {
	d, err := a.Service.Grant(r.Context(), p, r.PathValue("name"), body)
	if body.Preview {
		return http.StatusOK, d, err
	}
	return http.StatusCreated, d, err
}

func withdraw(a *API, r *http.Request, p store.Person, body service.Withdrawal) (int, any, error) {
	d, err := a.Service.Withdraw(r.Context(), p, r.PathValue("name"), body)
	return http.StatusOK, d, err
}

func plan(a *API, r *http.Request, p store.Person, body ask.Ask) (int, any, error) {
	out, err := a.Service.Plan(r.Context(), p, body)
	return http.StatusOK, out, err
}

func submit(a *API, r *http.Request, p store.Person, body ask.Ask) (int, any, error) {
	f, err := a.Service.Submit(r.Context(), p, body, r.Header.Get("Idempotency-Key"))
	return http.StatusAccepted, f, err
}

func fits(a *API, r *http.Request, p store.Person) (int, any, error) {
	before, most, err := page(r)
	if err != nil {
		return 0, nil, err
	}
	out, err := a.Service.Fits(r.Context(), p, before, most, false)
	return http.StatusOK, out, err
}

// A releasePage is a part of a list of releases.
type releasePage struct {
	Releases []releaseLine `json:"releases"`
	Next     int64         `json:"next,omitempty"`
}

// A releaseLine identifies a release.
type releaseLine struct {
	ID      string `json:"id"`
	Dataset string `json:"dataset"`
	Analyst string `json:"analyst"`
	Shown   string `json:"shown"` // time from which it shows
}

func releases(a *API, r *http.Request, p store.Person) (int, any, error) {
	before, most, err := page(r)
	if err != nil {
		return 0, nil, err
	}
	all, err := a.Service.Fits(r.Context(), p, before, most, true)
	if err != nil {
		return 0, nil, err
	}
	out := releasePage{Releases: []releaseLine{}, Next: all.Next}
	for _, f := range all.Fits {
		out.Releases = append(out.Releases, releaseLine{f.ID, f.Dataset, f.Analyst, f.Due})
	}
	return http.StatusOK, out, nil
}

// written returns what answers with a text about a release.
func written(media string, text func(s *service.Service, ctx context.Context, p store.Person, id string) (string, error)) writer {
	return func(a *API, w http.ResponseWriter, r *http.Request, p store.Person) error {
		body, err := text(a.Service, r.Context(), p, r.PathValue("id"))
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", media)
		io.WriteString(w, body)
		return nil
	}
}

// signingKey answers anybody with the public keys of release signatures.
func (a *API) signingKey(w http.ResponseWriter, _ *http.Request) {
	if a.SigningKeys == nil {
		WriteProblem(w, service.Missing("signing key"))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write(a.SigningKeys)
}

// ReportPolicy keeps a report from loading or running anything, whatever its titles hold.
const ReportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

func report(a *API, w http.ResponseWriter, r *http.Request, p store.Person) error {
	var page bytes.Buffer
	if err := a.Service.Report(r.Context(), p, r.PathValue("id"), "", &page); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", ReportPolicy)
	w.Write(page.Bytes())
	return nil
}

// An eventPage is a part of the log.
type eventPage struct {
	Events []ledger.Event `json:"events"`
	Next   int64          `json:"next,omitempty"`
}

func events(a *API, r *http.Request, p store.Person) (int, any, error) {
	before, most, err := page(r)
	if err != nil {
		return 0, nil, err
	}
	out := eventPage{}
	if out.Events, err = a.Service.Events(r.Context(), p, before, most); err == nil && len(out.Events) == most {
		out.Next = out.Events[most-1].Seq
	}
	return http.StatusOK, out, err
}

func me(_ *API, _ *http.Request, p store.Person) (int, any, error) { return http.StatusOK, p, nil }
