package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A field has the program, a database and what somebody knows who attacks a server on it.
type field struct {
	folder, program, database string
	flags                     []string
	life                      string // of tokens
	tokens                    map[string]string
	client                    *http.Client
	dice                      *dice
	sent                      atomic.Int64 // requests
	// planted changes an answer before anybody sees it
	planted func(f *field, path string, a *answer)

	process *exec.Cmd
	url     string
	log     string // file of the server's log, of all its lives
	lines   sync.WaitGroup
}

// newField builds the program.
func newField(ctx context.Context, seed uint64) (*field, error) {
	folder, err := os.MkdirTemp("", "gauze-server")
	if err != nil {
		return nil, err
	}
	f := &field{folder: folder, program: filepath.Join(folder, "gauze"), database: filepath.Join(folder, "gauze.db"), log: filepath.Join(folder, "log"), life: "1h", tokens: map[string]string{}, dice: newDice(seed),
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 500}}}
	build := exec.CommandContext(ctx, "go", "build", "-o", f.program, "./cmd/gauze")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, out), os.RemoveAll(folder))
	}
	return f, nil
}

func (f *field) close() {
	f.kill()
	os.RemoveAll(f.folder)
}

// tokensAtOnce is how many tokens are made at the same time, once there is a database.
const tokensAtOnce = 4

// people gets a token for each name.
func (f *field) people(ctx context.Context, role string, names ...string) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var fault error
	turn := make(chan struct{}, tokensAtOnce)
	for i, name := range names {
		turn <- struct{}{}
		all.Go(func() {
			out, err := exec.CommandContext(ctx, f.program, "serve", "token", "add", "--database", f.database, "--role", role, "--name", name, "--expires", f.life).Output()
			<-turn
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fault = errors.Join(fault, fmt.Errorf("a token for %s: %w", name, err))
			}
			f.tokens[name] = strings.TrimSpace(string(out))
		})
		if i == 0 {
			all.Wait() // it may make the database
		}
	}
	all.Wait()
	return fault
}

// start starts the server, and returns once it listens.
func (f *field) start(ctx context.Context) error {
	log, err := os.OpenFile(f.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	f.process = exec.CommandContext(ctx, f.program, append([]string{"serve", "--database", f.database, "--listen", "127.0.0.1:0"}, f.flags...)...)
	notes, err := f.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := f.process.Start(); err != nil {
		return err
	}
	listens := make(chan string, 1)
	f.lines.Go(func() {
		defer close(listens)
		defer log.Close()
		said := bufio.NewScanner(notes)
		for said.Scan() {
			fmt.Fprintln(log, said.Text())
			var line struct{ Msg, URL string }
			if json.Unmarshal(said.Bytes(), &line) == nil && line.Msg == "listening" {
				listens <- line.URL
			}
		}
	})
	select {
	case f.url = <-listens:
	case <-time.After(time.Minute):
	}
	if f.url == "" {
		said, _ := os.ReadFile(f.log)
		return fmt.Errorf("the server does not listen: %s", said)
	}
	return nil
}

// kill kills the server as kill -9 does.
func (f *field) kill() {
	if f.process != nil {
		f.process.Process.Kill()
		f.lines.Wait()
		f.process.Wait()
		f.process, f.url = nil, ""
	}
}

// An answer is what somebody gets.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error
}

// field reads a field of the answer's JSON, "" if it is not there.
func (a answer) field(name string) string {
	var all map[string]any
	if json.Unmarshal(a.body, &all) != nil || all[name] == nil {
		return ""
	}
	return fmt.Sprint(all[name])
}

// send sends a request; headers are names and values in turn.
func (f *field) send(ctx context.Context, who, method, path, body string, headers ...string) answer {
	r, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	if token := f.tokens[who]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	begun := time.Now()
	w, err := f.client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	a := answer{w.StatusCode, w.Header, text, time.Since(begun), err}
	f.sent.Add(1)
	if f.planted != nil {
		f.planted(f, path, &a)
	}
	return a
}

const api = "/api/v1"

// wants sends a request that has to be answered with a status.
func (f *field) wants(ctx context.Context, status int, who, method, path, body string, headers ...string) (answer, error) {
	a := f.send(ctx, who, method, api+path, body, headers...)
	if a.err == nil && a.status != status {
		a.err = fmt.Errorf("%s: %s %s %s: %d, wanted %d: %.300s", who, method, path, body, a.status, status, a.body)
	}
	return a, a.err
}

// register registers lines of a file of columns age and bmi, and grants each analyst a budget.
func (f *field) register(ctx context.Context, name string, lines []string, analysts ...string) (path string, err error) {
	return f.registerWith(ctx, name, lines, "", analysts...)
}

// registerWith registers with more fields.
func (f *field) registerWith(ctx context.Context, name string, lines []string, more string, analysts ...string) (path string, err error) {
	if path, err = f.put(name+".csv", "age,bmi\n"+strings.Join(lines, "\n")+"\n"); err != nil {
		return "", err
	}
	if _, err := f.wants(ctx, 201, "kim", "POST", "/datasets", fmt.Sprintf(`{"name": %q, "input": %q, "schema": {"columns": [{"name": "age"}, {"name": "bmi"}]}%s}`, name, path, more)); err != nil {
		return "", err
	}
	for _, analyst := range analysts {
		if _, err := f.wants(ctx, 201, "kim", "POST", "/datasets/"+name+"/grants", fmt.Sprintf(`{"analyst": %q, "epsilon": 19, "delta": 1e-4, "force": true}`, analyst)); err != nil {
			return "", err
		}
	}
	return path, nil
}

// put writes a file into kim's folder of data.
func (f *field) put(name, text string) (path string, err error) {
	path = filepath.Join(f.folder, "data", "kim", name)
	return path, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

// drawn returns lines of two columns.
func (f *field) drawn(rows int) []string {
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = fmt.Sprintf("%.1f,%.1f", 40+10*f.dice.normal(), 25+3*f.dice.normal())
	}
	return lines
}

// ask returns a usual request for a fit.
func ask(dataset string) string {
	return fmt.Sprintf(`{"dataset": %q, "epsilon": 1, "delta": 1e-9, "components": 1}`, dataset)
}

// fitted returns the id of a fit that was submitted and is released.
func (f *field) fitted(ctx context.Context, who, body string, headers ...string) (string, error) {
	a, err := f.wants(ctx, 202, who, "POST", "/fits", body, headers...)
	if err != nil {
		return "", err
	}
	id, state := a.field("id"), ""
	for range 1200 {
		if state = f.send(ctx, who, "GET", api+"/fits/"+id, "").field("state"); state == "released" {
			return id, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return id, fmt.Errorf("a fit of %s is %s", body, state)
}

// An account is one of the ledger.
type account struct {
	Dataset    string
	Name       string
	Fits       int
	Releases   int
	Unfinished int
	Spent      struct{ Mu float64 }
}

// ledger verifies the ledger and returns its accounts.
func (f *field) ledger(ctx context.Context) ([]account, error) {
	if out, err := exec.CommandContext(ctx, f.program, "ledger", "verify", "--ledger", f.database).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ledger verify: %w: %s", err, out)
	}
	out, err := exec.CommandContext(ctx, f.program, "ledger", "show", "--json", "--ledger", f.database).Output()
	if err != nil {
		return nil, fmt.Errorf("ledger show: %w", err)
	}
	var all struct{ Datasets []account }
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, err
	}
	return all.Datasets, nil
}

// busy returns the machine's load.
func busy() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	one, _, _ := bytes.Cut(text, []byte(" "))
	return string(one)
}
