package api

import (
	"bytes"
	_ "embed"
	"net/http"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

//go:embed openapi.json
var openAPI []byte

func register(a *API, r *http.Request, p store.Person) (int, any, error) {
	var body service.Registration
	if p.Role != store.Custodian {
		return 0, nil, service.Forbidden(store.Custodian)
	}
	if err := read(r, &body); err != nil {
		return 0, nil, err
	}
	d, err := a.Service.Register(r.Context(), p, body)
	return http.StatusCreated, d, err
}

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

func dataset(a *API, r *http.Request, p store.Person) (int, any, error) {
	d, err := a.Service.Dataset(r.Context(), p, r.PathValue("name"))
	return http.StatusOK, d, err
}

func grant(a *API, r *http.Request, p store.Person) (int, any, error) {
	var body service.Grant
	if p.Role != store.Custodian {
		return 0, nil, service.Forbidden(store.Custodian)
	}
	if err := read(r, &body); err != nil {
		return 0, nil, err
	}
	d, err := a.Service.Grant(r.Context(), p, r.PathValue("name"), body)
	if body.Preview {
		return http.StatusOK, d, err
	}
	return http.StatusCreated, d, err
}

func withdraw(a *API, r *http.Request, p store.Person) (int, any, error) {
	var body service.Withdrawal
	if p.Role != store.Custodian {
		return 0, nil, service.Forbidden(store.Custodian)
	}
	if err := read(r, &body); err != nil {
		return 0, nil, err
	}
	d, err := a.Service.Withdraw(r.Context(), p, r.PathValue("name"), body)
	return http.StatusOK, d, err
}

func retire(a *API, r *http.Request, p store.Person) (int, any, error) {
	d, err := a.Service.Retire(r.Context(), p, r.PathValue("name"))
	return http.StatusOK, d, err
}

func accept(a *API, r *http.Request, p store.Person) (int, any, error) {
	d, err := a.Service.Accept(r.Context(), p, r.PathValue("name"))
	return http.StatusOK, d, err
}

func plan(a *API, r *http.Request, p store.Person) (int, any, error) {
	var body ask.Ask
	if err := read(r, &body); err != nil {
		return 0, nil, err
	}
	out, err := a.Service.Plan(r.Context(), p, body)
	return http.StatusOK, out, err
}

func submit(a *API, r *http.Request, p store.Person) (int, any, error) {
	var body ask.Ask
	if p.Role != store.Analyst {
		return 0, nil, service.Forbidden(store.Analyst)
	}
	if err := read(r, &body); err != nil {
		return 0, nil, err
	}
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

func fit(a *API, r *http.Request, p store.Person) (int, any, error) {
	f, err := a.Service.Fit(r.Context(), p, r.PathValue("id"))
	return http.StatusOK, f, err
}

func cancel(a *API, r *http.Request, p store.Person) (int, any, error) {
	f, err := a.Service.Cancel(r.Context(), p, r.PathValue("id"))
	return http.StatusOK, f, err
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

func writeRelease(a *API, w http.ResponseWriter, r *http.Request, p store.Person) error {
	body, err := a.Service.Release(r.Context(), p, r.PathValue("id"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(body))
	return nil
}

// writeSignature answers with the signature of a release, as the file beside it holds it.
func writeSignature(a *API, w http.ResponseWriter, r *http.Request, p store.Person) error {
	signed, err := a.Service.Signature(r.Context(), p, r.PathValue("id"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte(signed))
	return nil
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
