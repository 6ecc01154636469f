package server

import (
	"encoding/csv"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
)

// What an analyst without a program downloads of a release: the file, its signature, figures and
// synthetic rows; nobody else gets them, and the report leads back.
func TestDownloads(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(3000), `, "epsilon": 3, "delta": 1e-5`)
	id := s.wants(202, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 1, "delta": 1e-6, "components": 1}`)["id"].(string)
	s.ended("lee", id)
	keeper := auth.New(s.server.store, time.Now)
	get := func(who, path string) (int, string, http.Header) {
		cookie, _, err := keeper.Begin(t.Context(), s.tokens[who])
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.web.URL+"/releases/"+id+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: "gauze-session", Value: cookie})
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body), answer.Header
	}
	for path, c := range map[string]struct{ end, begins string }{
		"/download": {".json", "{"}, "/signature": {".json.sig", "-----BEGIN SSH SIGNATURE-----"}, "/figures.csv": {".csv", "group,part,component,statistic"}, "/rows.csv?rows=25": {"-rows.csv", ""},
	} {
		status, body, h := get("lee", path)
		if name := h.Get("Content-Disposition"); status != 200 || !strings.HasPrefix(body, c.begins) || !strings.HasSuffix(name, c.end+`"`) || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %q, %.80s", path, status, name, body)
		}
		if status, _, _ := get("max", path); status != 404 {
			t.Errorf("%s: another analyst gets %d", path, status)
		}
	}
	_, body, _ := get("lee", "/rows.csv?rows=25")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(rows) != 26 {
		t.Errorf("%d lines of synthetic rows, %v", len(rows), err)
	}
	if _, again, _ := get("lee", "/rows.csv?rows=25"); again == body {
		t.Error("the same rows are drawn twice")
	}
	for _, bad := range []string{"/rows.csv?rows=-1", "/rows.csv?rows=100000000", "/rows.csv?rows=x"} {
		if status, _, _ := get("lee", bad); status != 422 {
			t.Errorf("%s: %d", bad, status)
		}
	}
	if _, page, _ := get("lee", "/report"); !strings.Contains(page, `<a href="/releases">`) {
		t.Error("the report leads nowhere")
	}
}
