package server

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// TestMain runs six tests at once, however many processors there are: they mostly wait, for slots.
// The flag -parallel says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A site is a server of a test's own, with its workers.
type site struct {
	t      testing.TB
	config Config
	server *Server
	web    *httptest.Server
	logged *logged
	tokens map[string]string // of kim and pat (custodians), lee and max (analysts)
	end    func()
	// document is openapi.json, once it was asked for
	document *document
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is all of it.
func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// opened is a site with short slots.
func opened(t testing.TB, change ...func(*Config)) *site {
	t.Helper()
	if test, ok := t.(*testing.T); ok {
		test.Parallel()
	} // mostly they wait for slots
	place, data := filepath.Join(t.TempDir(), "gauze.db"), t.TempDir()
	c := Config{Listen: "127.0.0.1:0", Database: place, Key: place + ".key", SigningKey: place + ".signing-key", Data: []string{data}, Workers: 2, SlotLeast: 400 * time.Millisecond, SlotPerCell: time.Microsecond,
		Horizon: time.Hour, Waiting: 20, Memory: 1 << 30, PerSecond: 1e4, Grace: 5 * time.Second}
	for _, f := range change {
		f(&c)
	}
	s := &site{t: t, config: c, logged: &logged{}, tokens: map[string]string{}}
	s.start()
	keeper := auth.New(s.server.store, time.Now)
	for name, role := range map[string]store.Role{"kim": store.Custodian, "pat": store.Custodian, "lee": store.Analyst, "max": store.Analyst} {
		token, err := keeper.Add(t.Context(), "test", store.Person{Name: name, Role: role}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = token
	}
	t.Cleanup(func() { s.end() })
	return s
}

// start starts the server on its database.
func (s *site) start() {
	s.t.Helper()
	server, err := New(s.t.Context(), s.config, time.Now, slog.New(slog.NewJSONHandler(s.logged, nil)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.server, s.web = server, httptest.NewServer(server.Handler())
	ctx, stop := context.WithCancel(context.WithoutCancel(s.t.Context()))
	done := make(chan struct{})
	go func() {
		parallel.Run(1+s.config.Workers, func(i int) {
			if i == s.config.Workers {
				if err := server.store.Watch(ctx, s.config.Database); err != nil {
					s.t.Error(err)
				}
				return
			}
			server.workers.Work(ctx, ctx, i)
		})
		close(done)
	}()
	s.end = func() {
		stop()
		<-done
		s.web.Close()
		server.store.Close()
	}
}

// send sends a request and returns the status and the body; headers are names and values in turn.
func (s *site) send(who, method, path, body string, headers ...string) (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.web.URL+path, bytes.NewBufferString(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token := s.tokens[who]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, text
}

// wants sends a request below /api/v1 that has to be answered with a status, and reads the answer.
func (s *site) wants(status int, who, method, path, body string, headers ...string) map[string]any {
	s.t.Helper()
	got, text := s.send(who, method, "/api/v1"+path, body, headers...)
	if got != status {
		s.t.Fatalf("%s: %s %s: status %d, want %d: %s", who, method, path, got, status, text)
	}
	s.conforms(method, path, got, text)
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return out
}

// in makes a new folder in a custodian's folder of data.
func (s *site) in(who string) string {
	s.t.Helper()
	own := filepath.Join(s.config.Data[0], who)
	if err := os.MkdirAll(own, 0o700); err != nil {
		s.t.Fatal(err)
	}
	folder, err := os.MkdirTemp(own, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return folder
}

// table writes a table of two columns for kim, and returns its path.
func (s *site) table(rows int) string { return s.tableOf("kim", rows) }

// tableOf is table for any custodian.
func (s *site) tableOf(who string, rows int) string {
	s.t.Helper()
	var b bytes.Buffer
	b.WriteString("age,bmi\n")
	for range rows {
		fmt.Fprintf(&b, "%.1f,%.1f\n", 40+10*rand.NormFloat64(), 25+3*rand.NormFloat64())
	}
	path := filepath.Join(s.in(who), "people.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// register registers a table as kim's, with a grant of epsilon 2 for lee.
func (s *site) register(name, path, more string) {
	s.t.Helper()
	s.wants(201, "kim", "POST", "/datasets", fmt.Sprintf(`{"name": %q, "input": %q, "schema": {"columns": [{"name": "age"}, {"name": "bmi"}]}%s}`, name, path, more))
	s.wants(201, "kim", "POST", "/datasets/"+name+"/grants", `{"analyst": "lee", "epsilon": 2, "delta": 1e-5}`)
}

// ended waits until a fit's end shows.
func (s *site) ended(who, id string) map[string]any {
	s.t.Helper()
	for range 400 {
		f := s.wants(200, who, "GET", "/fits/"+id, "")
		if f["state"] != "queued" && f["state"] != "running" {
			return f
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.t.Fatal("the fit does not end")
	return nil
}

// The whole story: a custodian registers and grants; an analyst plans, fits, reads the release and
// its report; the budget moves; a fit that is too much is refused with nothing spent.
func TestStory(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(3000), `, "epsilon": 3, "delta": 1e-5`)
	plan := s.wants(200, "lee", "POST", "/plans", `{"dataset": "people", "epsilon": 1, "delta": 1e-6, "components": 1}`)
	if plan["method"] != "gaussian" || plan["rows"] != 3000. {
		t.Errorf("the plan: %v", plan)
	}
	fit := s.wants(202, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 1, "delta": 1e-6, "components": 1}`)
	id := fit["id"].(string)
	if end := s.ended("lee", id); end["state"] != "released" {
		t.Fatalf("the fit: %v", end)
	}
	release := s.wants(200, "lee", "GET", "/releases/"+id, "")
	if release["format"] != "gauze/release/v1" {
		t.Errorf("the release: %v", release)
	}
	if status, page := s.send("lee", "GET", "/api/v1/releases/"+id+"/report", ""); status != 200 || !bytes.Contains(page, []byte("<html")) {
		t.Errorf("the report: %d, %.200s", status, page)
	}
	if list := s.wants(200, "lee", "GET", "/releases", "")["releases"].([]any); len(list) != 1 {
		t.Errorf("the releases: %v", list)
	}
	before := s.wants(200, "lee", "GET", "/datasets/people", "")
	// at the granted delta, which is larger than the one that the fit asked
	if spent := before["spent"].(map[string]any); spent["epsilon"].(float64) < .8 || spent["epsilon"].(float64) > 1 || spent["delta"] != 1e-5 {
		t.Errorf("spent %v, want an epsilon below 1", spent)
	}
	refused := s.wants(409, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 2, "delta": 1e-6, "components": 1}`)
	if refused["type"] != "urn:gauze:budget" {
		t.Errorf("refused: %v", refused)
	}
	if after := s.wants(200, "lee", "GET", "/datasets/people", ""); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("a refused fit changed the budget: %v, was %v", after, before)
	}
}

// Table one over HTTP: the method profile is planned, measured, shown with pictures and paid for.
func TestProfile(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(6000), `, "epsilon": 3, "delta": 1e-5`)
	asked := `{"dataset": "people", "epsilon": 2, "delta": 1e-6, "method": "profile"}`
	plan := s.wants(200, "lee", "POST", "/plans", asked)
	if plan["method"] != "profile" || plan["mixture_bound"] != nil || plan["slot_seconds"].(float64) > 1 {
		t.Errorf("the plan: %v, want one of a profile, in a slot as short as a fit's, without a bound for mixtures", plan)
	}
	id := s.wants(202, "lee", "POST", "/fits", asked)["id"].(string)
	if end := s.ended("lee", id); end["state"] != "released" {
		t.Fatalf("the fit: %v", end)
	}
	release := s.wants(200, "lee", "GET", "/releases/"+id, "")
	lines, ok := release["profile"].([]any)
	if !ok || len(lines) != 2 || lines[0].(map[string]any)["name"] != "age" || release["model"] != nil {
		t.Errorf("the release: %v", release)
	}
	if status, page := s.send("lee", "GET", "/api/v1/releases/"+id+"/report", ""); status != 200 || !bytes.Contains(page, []byte("Table one")) || !bytes.Contains(page, []byte("<svg")) {
		t.Errorf("the report: %d, %.200s", status, page)
	}
	s.wants(409, "lee", "POST", "/fits", asked)
}

// The server listens, serves and ends when it is told to; beyond this machine it does so only with
// TLS or behind a proxy.
func TestRun(t *testing.T) {
	place := filepath.Join(t.TempDir(), "gauze.db")
	c := Config{Listen: "127.0.0.1:0", Database: place, Key: place + ".key", SigningKey: place + ".signing-key", Workers: 2, SlotLeast: time.Second, Horizon: time.Hour, Waiting: 20, PerSecond: 10, Grace: time.Second,
		MetricsFrom: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	server, err := New(t.Context(), c, time.Now, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string), make(chan error)
	go func() { ended <- server.Run(ctx, func(a string) { address <- a }) }()
	base := "http://" + <-address
	for path, want := range map[string]int{"/healthz": 200, "/api/v1/healthz": 200, "/metrics": 200, "/api/v1/openapi.json": 200, "/api/v1/signing-key": 200, "/api/v1/me": 401, "/": 200} {
		r, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, want)
		}
	}
	far, err := http.NewRequest("GET", base+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	far.Header.Set("X-Forwarded-For", "192.0.2.1")
	if r, err := http.DefaultClient.Do(far); err != nil || r.StatusCode != 403 {
		t.Errorf("metrics for somebody far: %v, %v", r, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for listen, right := range map[string]bool{"0.0.0.0:80": false, ":80": false, "192.0.2.1:80": false, "example.org:80": false, "[::]:80": false, "localhost:80": true, "[::1]:80": true, "80": false} {
		c.Listen = listen
		if err := c.check(); (err == nil) != right {
			t.Errorf("%s: %v", listen, err)
		}
		c.BehindProxy = true
		if err := c.check(); (err == nil) != (listen != "80") {
			t.Errorf("%s behind a proxy: %v", listen, err)
		}
		c.BehindProxy = false
	}
}
