package fit

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
)

// Remote holds the flags that name a server and a token: `gauze fit --server URL` and `gauze plan
// --server URL` are the same commands, with the rows on a server.
type Remote struct {
	URL, Token string
	set        *pflag.FlagSet
	request    *Request // of the same command
	given      string   // the token, where no file has it
	about      string   // the data set that is asked about
	// text is the last release that was fetched, byte by byte, and signature the server's of it.
	text, signature string
}

// Signed returns the server's signature of the release that Fit has fetched, if it is one of this
// text; "" otherwise.
func (f *Remote) Signed(text string) string {
	if f == nil || f.URL == "" || text != f.text {
		return ""
	}
	return f.signature
}

// Register adds the flags to a command's. The token given is taken where no file of one is named.
func (f *Remote) Register(flags *pflag.FlagSet, given string, request *Request) {
	f.set, f.given, f.request = flags, given, request
	flags.StringVar(&f.URL, "server", "", "URL of a gauze serve: INPUT is the name of a data set there then, and its rows stay there")
	flags.StringVar(&f.Token, "token-file", "", "file with your token for --server (default: the variable GAUZE_TOKEN of the environment holds it)")
}

// own are the flags that say what is done with what comes back. Beside settings, all others are the
// server's own business, and so is a data set's name in its ledger.
var own = []string{"server", "token-file", "out", "report", "sign", "progress", "json", "force"}

// ask returns what the server is asked for a data set, or for "" about rows and columns that are
// only spoken of.
func (f *Remote) ask(dataset string) (gauze.Settings, error) {
	var fault error
	f.set.Visit(func(flag *pflag.Flag) {
		setting := flag.Name != "dataset" && slices.Contains(gauze.SettingNames(), shell.Setting(flag.Name))
		if !setting && !slices.Contains(own, flag.Name) {
			fault = &privacy.FieldError{Field: "--" + flag.Name, Wanted: "nothing beside --server", Got: flag.Value.String(), Fix: "the server's custodian defines data sets and their budgets"}
		}
	})
	if fault != nil {
		return gauze.Settings{}, fault
	}
	s, err := f.request.Settings()
	if f.request.Given("columns") {
		s.Columns = strings.Split(f.request.columns, ",")
	}
	if f.request.Profile {
		s.Method = gauze.MethodProfile
	}
	f.about, s.Dataset = dataset, dataset
	return s, err
}

// problem is a server's description of a request that it has not done.
type problem struct {
	Type, Title, Detail, Field, Wanted, Got, Hint string
}

// errorOf returns a problem as an error of the commands.
func (p problem) errorOf(dataset string) error {
	switch {
	case p.Type == "urn:gauze:budget":
		return &ledger.RefusedError{Dataset: dataset, Why: p.Detail, Hint: p.Hint}
	case p.Field != "":
		return &privacy.FieldError{Field: p.Field, Wanted: p.Wanted, Got: p.Got, Fix: p.Hint}
	}
	return &privacy.FieldError{Field: "server", Wanted: "an answer", Got: p.Title + ": " + p.Detail, Fix: p.Hint}
}

// tries is how often something is asked again that a busy server, or a lost connection, can spoil,
// and pause how long is waited for that, or for a fit to end.
const (
	tries = 30
	pause = 500 * time.Millisecond
)

func wait(ctx context.Context) error {
	timed, done := context.WithTimeout(ctx, pause)
	defer done()
	<-timed.Done()
	return ctx.Err()
}

// send asks the server, again if it is busy or cannot be reached, and reads the answer into out.
func (f *Remote) send(ctx context.Context, method, path, key string, body, out any) error {
	u, err := url.Parse(f.URL)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())) {
		return &privacy.FieldError{Field: "--server", Wanted: "a URL with https, or http on this machine", Got: f.URL, Fix: "for instance https://gauze.example.org"}
	}
	token := []byte(f.given)
	if f.Token != "" || len(token) == 0 {
		if token, err = os.ReadFile(f.Token); err != nil {
			return &privacy.FieldError{Field: "--token-file", Wanted: "a file with your token", Got: err.Error(), Fix: "a custodian's gauze serve token add makes one, and GAUZE_TOKEN in the environment can hold it too"}
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for range tries {
		var again bool
		if again, err = f.once(ctx, method, path, key, strings.TrimSpace(string(token)), text, out); !again {
			return err
		}
		if stopped := wait(ctx); stopped != nil {
			return stopped
		}
	}
	return err
}

// client follows no redirection: one could lead the token to where no TLS is, or to another host.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// once asks the server, and says whether to ask again.
func (f *Remote) once(ctx context.Context, method, path, key, token string, body []byte, out any) (bool, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(f.URL, "/")+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := client.Do(r)
	if err != nil {
		return ctx.Err() == nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return true, err
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		if plain, ok := out.(*string); ok {
			*plain = string(text)
			return false, nil
		}
		return false, json.Unmarshal(text, out)
	}
	p := problem{Title: answer.Status}
	_ = json.Unmarshal(text, &p) // of what is no problem the status is said
	busy := answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable
	if answer.StatusCode >= http.StatusInternalServerError { // it may have been done nevertheless
		return busy, fmt.Errorf("the server's answer is %s: %s", p.Title, p.Detail)
	}
	return busy, p.errorOf(f.about)
}

// Plan returns the server's plan for a data set or, for "", for hypothetical rows and columns.
func (f *Remote) Plan(ctx context.Context, dataset string) (*gauze.Statement, error) {
	ask, err := f.ask(dataset)
	if err != nil {
		return nil, err
	}
	out := &gauze.Statement{}
	return out, f.send(ctx, http.MethodPost, "/plans", "", ask, out)
}

// reserved returns what a fit that is asked for can have cost at most: the server reserves all of
// it.
func reserved(s gauze.Settings) release.Spent {
	return release.Spent{Epsilon: s.Epsilon, Delta: s.Delta, Rho: s.Rho, Mu: math.Sqrt(2 * s.Rho)}
}

// Fit submits a fit of a data set, waits until what it ended in shows, and returns that. Where ctx
// ends first the fit goes on there, and its cost stays reserved.
func (f *Remote) Fit(ctx context.Context, dataset string) (*gauze.Result, error) {
	ask, err := f.ask(dataset)
	if err == nil { // what can be refused is refused before there is a fit
		err = f.send(ctx, http.MethodPost, "/plans", "", ask, &json.RawMessage{})
	}
	if err != nil {
		return nil, err
	}
	var fit struct {
		ID, State, Detail, Reason, Advice string
		Spent                             release.Spent
	}
	fit.Spent = reserved(ask) // unless the server says another
	lost := func(err error) (*gauze.Result, error) { return nil, &gauze.RunError{Err: err, Spent: fit.Spent} }
	if err := f.send(ctx, http.MethodPost, "/fits", rand.Text(), ask, &fit); err != nil {
		if errors.As(err, new(*privacy.FieldError)) || errors.As(err, new(*ledger.RefusedError)) {
			return nil, err
		}
		return lost(fmt.Errorf("whether the server has begun the fit is not known: %w", err))
	}
	for fit.State == "queued" || fit.State == "running" {
		err := wait(ctx)
		if err == nil {
			err = f.send(ctx, http.MethodGet, "/fits/"+fit.ID, "", nil, &fit)
		}
		if err != nil {
			return lost(fmt.Errorf("the fit %s goes on at the server: %w", fit.ID, err))
		}
	}
	switch fit.State {
	case "no-release":
		return &gauze.Result{NoRelease: &estimate.NoRelease{Reason: fit.Reason, Advice: fit.Advice}, Spent: fit.Spent}, nil
	case "released":
		if err := f.send(ctx, http.MethodGet, "/releases/"+fit.ID, "", nil, &f.text); err != nil {
			return lost(fmt.Errorf("the release %s is at the server: %w", fit.ID, err))
		}
		if f.send(ctx, http.MethodGet, "/releases/"+fit.ID+"/signature", "", nil, &f.signature) != nil {
			f.signature = "" // of a server that signs nothing
		}
		r, err := release.Read(strings.NewReader(f.text))
		if err != nil {
			return lost(err)
		}
		return &gauze.Result{Release: r, Spent: r.Certificate.Spent, Certificate: r.Certificate}, nil
	}
	return lost(errors.New(fit.Detail))
}
