package fit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/server"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// started is a server with a data set of kim's, of which lee was granted something: its URL and the
// file with lee's token.
func started(t *testing.T) (place, token string) {
	t.Helper()
	folder := t.TempDir()
	c := server.Config{Listen: "127.0.0.1:0", Database: filepath.Join(folder, "g.db"), Key: filepath.Join(folder, "key"), SigningKey: filepath.Join(folder, "signing"), Workers: 1, SlotLeast: 300 * time.Millisecond,
		Horizon: time.Hour, Waiting: 9, PerSecond: 1e3, Grace: time.Second}
	tokens := map[string]string{}
	s, err := store.Open(t.Context(), c.Database, c.Key, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for name, role := range map[string]store.Role{"kim": store.Custodian, "lee": store.Analyst} {
		if tokens[name], err = auth.New(s, time.Now).Add(t.Context(), "test", store.Person{Name: name, Role: role}, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	site, err := server.New(t.Context(), c, time.Now, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	address, ended := make(chan string), make(chan error)
	go func() { ended <- site.Run(ctx, func(a string) { address <- a }) }()
	place = "http://" + <-address
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var rows bytes.Buffer
	rows.WriteString("age,bmi\n")
	for range 3000 {
		fmt.Fprintf(&rows, "%.1f,%.1f\n", 40+10*rand.NormFloat64(), 25+3*rand.NormFloat64())
	}
	file := func(name string, text []byte) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, body := range map[string]string{"/datasets": fmt.Sprintf(`{"name": "people", "input": %q, "columns": ["age", "bmi"]}`, file("data/kim/people.csv", rows.Bytes()))} {
		post(t, place+"/api/v1"+path, tokens["kim"], body)
	}
	post(t, place+"/api/v1/datasets/people/grants", tokens["kim"], `{"analyst": "lee", "epsilon": 2, "delta": 1e-6}`)
	return place, file("token", []byte(tokens["lee"]+"\n"))
}

func post(t *testing.T, url, token, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %d", url, answer.StatusCode)
	}
}

// with are flags as they are given.
func with(t *testing.T, args ...string) *Remote {
	t.Helper()
	f, r, set := &Remote{}, &Request{}, pflag.NewFlagSet("fit", pflag.ContinueOnError)
	r.Register(set)
	f.Register(set, os.Getenv("GAUZE_TOKEN"), r)
	set.String("dataset", "", "")
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// A token goes where it was told to go, and nowhere that a server's answer leads.
func TestNoRedirection(t *testing.T) {
	led := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led++ }))
	defer other.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, status) }))
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := with(t, "--server", first.URL, "--token-file", token).Plan(t.Context(), "people")
		if first.Close(); led > 0 || !errors.As(err, new(*privacy.FieldError)) {
			t.Errorf("status %d: %d requests elsewhere, %v", status, led, err)
		}
	}
}

// The commands ask a server what they ask of rows here, and end as they end here.
func TestRemote(t *testing.T) {
	place, token := started(t)
	at := []string{"--server", place, "--token-file", token}
	ask := func(more ...string) *Remote {
		return with(t, append(append([]string{"--components", "1"}, at...), more...)...)
	}
	plan, err := ask("--epsilon", "1", "--delta", "1e-7", "--columns", "age").Plan(t.Context(), "people")
	if err != nil || plan.Columns != 1 || plan.Rows != 3000 || plan.String() == "" {
		t.Errorf("%v, %v", plan, err)
	}
	fitted := ask("--epsilon", "1", "--delta", "1e-7")
	result, err := fitted.Fit(t.Context(), "people")
	if err != nil || result.Release == nil || result.Spent.Epsilon > 1 {
		t.Fatalf("%v, %v", result, err)
	}
	var text strings.Builder
	if err := release.Write(&text, result.Release); err != nil || !strings.Contains(fitted.Signed(text.String()), "SSH SIGNATURE") {
		t.Errorf("the server's signature does not come with its release: %v", err)
	}
	if fitted.Signed(text.String()+" ") != "" {
		t.Error("another text is said to be signed")
	}
	if _, err := ask("--epsilon", "2", "--delta", "1e-7").Fit(t.Context(), "people"); !errors.As(err, new(*ledger.RefusedError)) {
		t.Errorf("a fit that is too much: %v", err)
	}
	var field *privacy.FieldError
	for want, f := range map[string]*Remote{
		"delta": ask("--epsilon", "1", "--delta", ".1"), "--dataset": ask("--dataset", "x"), "eigenvalues-within": ask("--epsilon", "1", "--delta", "1e-7", "--eigenvalues-within", "2,1"),
		"--server": with(t, "--server", "http://192.0.2.1", "--token-file", token), "--token-file": with(t, "--server", place),
	} {
		if _, err := f.Fit(t.Context(), "people"); !errors.As(err, &field) || field.Field != want && want[0] != 'e' {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What may have been spent is said, also where nobody knows.
func TestLost(t *testing.T) {
	place, token := started(t)
	ask := func(more ...string) *Remote {
		return with(t, append([]string{"--server", place, "--epsilon", "1", "--delta", "1e-7", "--force"}, more...)...)
	}
	t.Setenv("GAUZE_TOKEN", "gauze_of_nobody")
	if _, err := ask().Fit(t.Context(), "people"); !errors.As(err, new(*privacy.FieldError)) {
		t.Errorf("somebody else's token: %v", err)
	}
	text, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GAUZE_TOKEN", string(text))
	var run *gauze.RunError
	elsewhere := httptest.NewServer(http.RedirectHandler(place+"/api/v1/plans", http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	place = elsewhere.URL
	if _, err := ask().Plan(t.Context(), "people"); !errors.As(err, new(*privacy.FieldError)) {
		t.Errorf("a redirection: %v", err)
	}
	answering := func(fits string) string {
		fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/api/v1/plans":
				io.WriteString(w, "{}")
			case fits == "":
				w.WriteHeader(http.StatusInternalServerError)
			default:
				io.WriteString(w, fits)
			}
		}))
		t.Cleanup(fake.Close)
		return fake.URL
	}
	place = answering(`{"id": "a", "state": "running"}`)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	if _, err := ask().Fit(ctx, "people"); !errors.As(err, &run) || run.Spent != (release.Spent{Epsilon: 1, Delta: 1e-7}) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fit that nobody waits for: %v", err)
	}
	place = answering("")
	if _, err := ask().Fit(t.Context(), "people"); !errors.As(err, &run) || run.Spent.Epsilon != 1 {
		t.Errorf("an answer that says nothing: %v", err)
	}
}
