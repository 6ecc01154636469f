package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A try is a request, and which statuses it may be answered with.
type try struct {
	what, who, method, path, body string
	headers                       []string
	wanted                        []int
}

// security tries what people may not do.
func security(ctx context.Context, f *field, p *engine.Page, _ int) error {
	f.flags = []string{"--slot", "200ms", "--slot-per-cell", "1us", "--per-second", "100000"}
	if err := errors.Join(f.people(ctx, "custodian", "kim", "pat"), f.people(ctx, "analyst", "lee", "max"), f.start(ctx)); err != nil {
		return err
	}
	path, err := f.register(ctx, "people", f.drawn(1000), "lee")
	if err == nil {
		_, err = f.register(ctx, "others", f.drawn(1000), "max")
	}
	if err != nil {
		return err
	}
	hostile := `</script><script>alert(1)</script>`
	id, err := f.fitted(ctx, "lee", `{"dataset": "people", "epsilon": 1, "delta": 1e-9, "components": 1, "title": "`+hostile+`\r\nSet-Cookie: a=b"}`, "Idempotency-Key", "one")
	if err != nil {
		return err
	}
	token := f.tokens["lee"]
	f.tokens["wrong"], f.tokens["cut"], f.tokens["no secret"] = token[:len(token)-3]+"xyz", token[:30], strings.Join(strings.Split(token, "_")[:2], "_")+"_"
	in, err := f.visitors(ctx)
	if err == nil {
		err = f.retired(ctx, in)
	}
	if err != nil {
		return err
	}
	atAPI := tries(apiDoors(id), nobodies, func(who string, d door) answer { return f.send(ctx, who, d.method, api+d.path, d.body) },
		func(a answer) bool { return a.status == 401 || a.status == 429 }, id)
	atPages := tries(pageDoors(id), nothings, func(who string, d door) answer {
		if d.method == "POST" {
			return in[who].post(ctx, d.path, form(d.body))
		}
		return in[who].get(ctx, d.path)
	}, func(a answer) bool { return a.status == 303 && strings.HasPrefix(a.header.Get("Location"), "/sign-in") }, id)
	t := &engine.Table{Head: []string{"tried", "by", "request", "wanted", "got", "held"}}
	f.oneText(ctx, t, map[string]string{"/datasets/people": "/datasets/no-such", "/fits/" + id: "/fits/" + strings.Repeat("0", 32), "/releases/" + id + "/report": "/releases/" + strings.Repeat("0", 32) + "/report"})
	bodies(ctx, f, t, id)
	forged(ctx, t, in, id)
	doorways(ctx, f, t)
	if err := scripts(ctx, f, t, in); err != nil {
		return err
	}
	f.heavy(ctx, t)
	slow(f, t)
	f.shown(ctx, t, id, path, hostile)
	f.around(ctx, t)
	return report(p, atAPI, atPages, t)
}

// report writes the tables.
func report(p *engine.Page, atAPI, atPages *matrix, t *engine.Table) error {
	held := 0
	for _, row := range t.Rows {
		if row[len(row)-1] == "true" {
			held++
		}
	}
	p.Text(fmt.Sprintf("%d of %d requests of everybody to every endpoint and every page, and %d of %d other tries, ended as they have to.",
		atAPI.cells+atPages.cells-atAPI.wrong-atPages.wrong, atAPI.cells+atPages.cells, held, len(t.Rows)))
	p.Heading("Every endpoint, everybody")
	p.Text("Statuses. kim is the custodian of the data set people, pat another one; lee is an analyst with a grant, max one without. Others come with lee's token with a wrong secret, cut off, without its secret; " +
		"with a token of lee's that has expired, or was revoked, each after it had been used; and with none. Nobody but kim and lee is shown a word of lee's fit.")
	p.Table(atAPI.Table)
	p.Heading("Every page, everybody")
	p.Text("The same with the cookies of sessions: one made up, of a session that was ended, of sessions that were begun with a token that has expired or was revoked since, the token in the place of the cookie, and none. 303 leads them to sign in.")
	p.Table(atPages.Table)
	p.Heading("What else was tried")
	p.Table(*t)
	p.Text("Every handler is fuzzed besides: `go test ./server -run - -fuzz FuzzBodies`, `FuzzTargets` and `FuzzForms`; their seeds run with the other tests.")
	return nil
}

// one tries, and writes a row.
func (f *field) one(ctx context.Context, t *engine.Table, c try) answer {
	a := f.send(ctx, c.who, c.method, c.path, c.body, c.headers...)
	got := fmt.Sprint(a.status)
	if a.err != nil {
		got = "no answer"
	}
	held := a.err == nil && slices.Contains(c.wanted, a.status)
	request := fmt.Sprintf("`%s %.60s` %.60q", c.method, c.path, c.body)
	if len(c.headers) > 0 {
		request += fmt.Sprintf(" %.60q", c.headers)
	}
	t.Add(c.what, c.who, request, strings.Trim(fmt.Sprint(c.wanted), "[]"), got, held)
	return a
}

// bodies tries malicious requests.
func bodies(ctx context.Context, f *field, t *engine.Table, id string) {
	fit := api + "/fits"
	for _, c := range []try{
		{"name of a data set that is an account", "kim", "POST", api + "/datasets", `{"name": "people/lee", "input": "x", "columns": ["a"]}`, nil, []int{422}},
		{"name of another custodian's data set", "pat", "POST", api + "/datasets", `{"name": "people", "input": "x", "columns": ["a"]}`, nil, []int{409}},
		{"key of another analyst", "max", "POST", fit, ask("others"), []string{"Idempotency-Key", "one"}, []int{202}},
		{"key with another body", "lee", "POST", fit, ask("people"), []string{"Idempotency-Key", "one"}, []int{409}},
		{"key of bytes that are no text", "lee", "POST", fit, ask("people"), []string{"Idempotency-Key", "\xff\xfe"}, []int{422}},
		{"key too long", "lee", "POST", fit, ask("people"), []string{"Idempotency-Key", strings.Repeat("k", 1000)}, []int{422}},
		{"path traversal", "lee", "GET", api + "/datasets/..%2f..%2fetc%2fpasswd", "", nil, []int{404}},
		{"path traversal", "lee", "GET", api + "/releases/..%2f" + id, "", nil, []int{404}},
		{"path traversal", "lee", "POST", fit, ask("../others"), nil, []int{404}},
		{"path traversal", "kim", "POST", api + "/datasets", `{"name": "..", "input": "/etc/passwd", "columns": ["a"]}`, nil, []int{422}},
		{"a file that is no table", "kim", "POST", api + "/datasets", `{"name": "passwd", "input": "/etc/passwd", "columns": ["a"]}`, nil, []int{422}},
		{"a device that never ends", "kim", "POST", api + "/datasets", `{"name": "zero", "input": "/dev/zero", "columns": ["a"]}`, nil, []int{422}},
		{"SQL in names", "lee", "GET", api + "/datasets/x%27%20OR%20%271%27=%271", "", nil, []int{404}},
		{"SQL in names", "lee", "GET", api + "/datasets?after=%27%3BDROP%20TABLE%20x--", "", nil, []int{422}},
		{"zero bytes", "lee", "GET", api + "/datasets/people%00", "", nil, []int{404}},
		{"line ends in names", "kim", "POST", api + "/datasets/people/grants", `{"analyst": "a\n{\"level\": \"ERROR\"}", "epsilon": 1, "delta": 1e-9}`, nil, []int{422}},
		{"line ends in paths", "lee", "GET", api + "/datasets/a%0d%0aSet-Cookie:%20a=b", "", nil, []int{404}},
		{"body of 2 MB", "lee", "POST", api + "/plans", `{"title": "` + strings.Repeat("x", 2<<20) + `"}`, nil, []int{413}},
		{"100,000 brackets", "lee", "POST", api + "/plans", strings.Repeat("[", 100_000), nil, []int{400}},
		{"100,000 columns", "kim", "POST", api + "/datasets", `{"name": "x", "input": "x", "columns": ["` + strings.Repeat(`a","`, 100_000) + `a"]}`, nil, []int{422}},
		{"text behind a body", "lee", "POST", api + "/plans", ask("people") + "}", nil, []int{400}},
		{"keys twice: the last counts", "lee", "POST", api + "/plans", `{"dataset": "others", ` + ask("people")[1:], nil, []int{200}},
		{"unknown key", "lee", "POST", api + "/plans", `{"is_custodian": true}`, nil, []int{400}},
		{"huge number", "lee", "POST", api + "/plans", `{"dataset": "people", "epsilon": 1e999, "delta": 1e-9}`, nil, []int{400}},
		{"huge number", "lee", "POST", api + "/plans", `{"rows": 9223372036854775808, "dim": 2, "epsilon": 1, "delta": 1e-9}`, nil, []int{400}},
		{"huge plan", "lee", "POST", api + "/plans", `{"rows": 1000000000, "dim": 1000000, "epsilon": 1, "delta": 1e-9}`, nil, []int{422}},
		{"NaN", "lee", "POST", api + "/plans", `{"dataset": "people", "epsilon": NaN, "delta": 1e-9}`, nil, []int{400}},
		{"negative budget", "lee", "POST", fit, `{"dataset": "people", "epsilon": -1, "delta": 1e-9}`, nil, []int{422}},
		{"negative grant", "kim", "POST", api + "/datasets/people/grants", `{"analyst": "lee", "epsilon": -1, "delta": -1}`, nil, []int{422}},
		{"more than is left", "lee", "POST", fit, `{"dataset": "people", "epsilon": 20, "delta": 1e-4}`, nil, []int{409, 422}},
		{"a program in the place of a learner", "lee", "POST", fit, `{"dataset": "people", "epsilon": 1, "delta": 1e-9, "method": "black-box", "learner": "/bin/sh"}`, nil, []int{422}},
		{"content type of a form, with a cookie and no token", "nobody", "POST", fit, ask("people"), []string{"Content-Type", "text/plain", "Cookie", "session=" + f.tokens["lee"]}, []int{401}},
		{"token in the URL", "nobody", "GET", api + "/me?access_token=" + f.tokens["lee"], "", nil, []int{401}},
		{"from another origin", "lee", "OPTIONS", api + "/fits", "", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, []int{404, 405}},
		{"method", "lee", "TRACE", api + "/me", "", nil, []int{404, 405}},
		{"method", "lee", "PUT", api + "/datasets/people", "", []string{"X-HTTP-Method-Override", "DELETE"}, []int{404, 405}},
		{"metrics as somebody behind a proxy", "lee", "GET", "/metrics", "", []string{"X-Forwarded-For", "127.0.0.1"}, []int{403}},
		{"header of 64 KB", "lee", "GET", api + "/me", "", []string{"X-Long", strings.Repeat("x", 64<<10)}, []int{431}},
		{"other host", "lee", "GET", api + "/me", "", []string{"X-Forwarded-Host", "evil.example"}, []int{200}},
	} {
		f.one(ctx, t, c)
	}
}

// slow tries clients that never end a request, all at the same time.
func slow(f *field, t *engine.Table) {
	address := strings.TrimPrefix(f.url, "http://")
	var all sync.WaitGroup
	var turn sync.Mutex
	for _, c := range []struct {
		what, begin string
		most        time.Duration
	}{
		{"slow header", "GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-A: ", 10 * time.Second},
		{"silent connection", "", 10 * time.Second},
		{"slow body", "POST /api/v1/plans HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.tokens["lee"] + "\r\nContent-Length: 1000\r\n\r\n{", 40 * time.Second},
		{"endless body", "POST /api/v1/plans HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.tokens["lee"] + "\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", 40 * time.Second},
	} {
		all.Go(func() {
			took := drip(address, c.begin, 2*c.most)
			turn.Lock()
			defer turn.Unlock()
			t.Add(c.what+", a byte a second", "nobody", "a connection of its own", "closed within "+c.most.String(), took.Round(time.Second).String(), took < c.most)
		})
	}
	all.Wait()
}

// drip sends a byte a second until the server closes the connection.
func drip(address, begin string, most time.Duration) time.Duration {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return most
	}
	defer c.Close()
	begun := time.Now()
	if _, err := io.WriteString(c, begin); err != nil {
		return time.Since(begun)
	}
	for time.Since(begun) < most {
		c.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := io.Copy(io.Discard, c); err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			break // the server has closed it
		}
		if begin == "" {
			continue
		}
		if _, err := io.WriteString(c, "x"); err != nil {
			break
		}
	}
	return time.Since(begun)
}

// shown looks for what must not be in answers, headers and the log.
func (f *field) shown(ctx context.Context, t *engine.Table, id, path, hostile string) {
	report := f.send(ctx, "lee", "GET", api+"/releases/"+id+"/report", "")
	t.Add("script in a title", "lee", "the report", "escaped, and a policy that runs nothing", fmt.Sprint(report.status),
		report.status == 200 && !bytes.Contains(report.body, []byte("<script>alert(1)")) && strings.Contains(report.header.Get("Content-Security-Policy"), "sandbox") && report.header.Get("Set-Cookie") == "")
	kept := f.send(ctx, "lee", "GET", api+"/fits/"+id, "")
	t.Add("script in a title", "lee", "JSON", "escaped, nosniff, no-store", fmt.Sprint(kept.status),
		!bytes.Contains(kept.body, []byte(hostile)) && kept.header.Get("X-Content-Type-Options") == "nosniff" && kept.header.Get("Cache-Control") == "no-store")
	seen := 0
	for _, where := range []string{"/datasets", "/datasets/people", "/fits", "/fits/" + id, "/releases", "/releases/" + id, "/releases/" + id + "/report"} {
		if a := f.send(ctx, "lee", "GET", api+where, ""); bytes.Contains(a.body, []byte(filepath.Base(path))) || bytes.Contains(a.body, []byte("fingerprint")) {
			seen++
		}
	}
	t.Add("where rows are", "lee", "all answers", "0 answers say it", fmt.Sprint(seen), seen == 0)
	text, err := os.ReadFile(f.log)
	broken, secret := 0, 0
	for said := bufio.NewScanner(bytes.NewReader(text)); said.Scan(); {
		if !json.Valid(said.Bytes()) {
			broken++
		}
		for _, token := range f.tokens {
			if len(token) > 40 && bytes.Contains(said.Bytes(), []byte(token[20:])) {
				secret++
			}
		}
		if bytes.Contains(said.Bytes(), []byte("people.csv")) || bytes.Contains(said.Bytes(), []byte("evil")) || bytes.Contains(said.Bytes(), []byte("passwd")) {
			secret++
		}
	}
	t.Add("lines of the log", "all of the above", "the log", "JSON each, and no secret, path or text of a request", fmt.Sprintf("%d broken, %d with", broken, secret), err == nil && broken == 0 && secret == 0)
	panics := bytes.Count(text, []byte("panicked")) + bytes.Count(text, []byte("internal error"))
	t.Add("internal errors", "all of the above", "the log", "0", fmt.Sprint(panics), panics == 0)
	a := f.send(ctx, "", "GET", "/healthz", "")
	t.Add("is it alive", "nobody", "/healthz", "200", fmt.Sprint(a.status), a.status == 200)
}
