package pages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// A site is a server of a test's own; its workers do not run.
type site struct {
	t      *testing.T
	url    string
	tokens map[string]string
	data   string
}

func opened(t *testing.T, change ...func(*server.Config)) *site {
	t.Helper()
	folder := t.TempDir()
	place := filepath.Join(folder, "gauze.db")
	c := server.Config{Listen: "127.0.0.1:0", Database: place, Key: place + ".key", Workers: 1, SlotLeast: time.Second, Horizon: time.Hour,
		Waiting: 20, Memory: 1 << 30, PerSecond: 1e4, Grace: time.Second}
	for _, f := range change {
		f(&c)
	}
	keeping, err := store.Open(t.Context(), place, c.Key, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, tokens: map[string]string{}, data: filepath.Join(folder, "data", "kim", "people.csv")}
	for name, role := range map[string]store.Role{"kim": store.Custodian, "pat": store.Custodian, "lee": store.Analyst, "max": store.Analyst} {
		if s.tokens[name], err = auth.New(keeping, time.Now).Add(t.Context(), "test", store.Person{Name: name, Role: role}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := keeping.Close(); err != nil {
		t.Fatal(err)
	}
	serving, err := server.New(context.WithoutCancel(t.Context()), c, time.Now, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(serving.Handler())
	t.Cleanup(web.Close)
	s.url = web.URL
	var b bytes.Buffer
	b.WriteString("age,<b>bmi</b>\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,%d\n", i%90, i%37)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.data), 0o700), os.WriteFile(s.data, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return s
}

// A person is somebody's browser.
type person struct {
	*site
	client *http.Client
	secret string // of forms
}

var secretOf = regexp.MustCompile(`name="secret" value="([^"]+)"`)

// as signs somebody in; nobody for "".
func (s *site) as(name string) *person {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &person{site: s, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if name == "" {
		return p
	}
	_, page, _ := p.get("/sign-in")
	p.secret = secretOf.FindStringSubmatch(page)[1]
	if status, page, h := p.post("/sign-in", "token", s.tokens[name]); status != 303 || !strings.Contains(h.Get("Set-Cookie"), "HttpOnly") {
		s.t.Fatalf("signing in: %d\n%s", status, page)
	}
	if _, page, _ = p.get("/datasets"); true {
		p.secret = secretOf.FindStringSubmatch(page)[1]
	}
	return p
}

func (p *person) do(r *http.Request) (int, string, http.Header) {
	p.t.Helper()
	answer, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

func (p *person) get(path string) (int, string, http.Header) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "GET", p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.do(r)
}

// post sends a form: names and values in turn, and the secret.
func (p *person) post(path string, fields ...string) (int, string, http.Header) {
	p.t.Helper()
	form := url.Values{"secret": {p.secret}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return p.do(r)
}

var tags = regexp.MustCompile(`<[^>]*>`)

// wants reports an answer of another status, and one that does not say something.
func wants(t *testing.T, status int, says string) func(int, string, http.Header) string {
	return func(got int, page string, h http.Header) string {
		t.Helper()
		_, main, _ := strings.Cut(page, "<main")
		text := html.UnescapeString(tags.ReplaceAllString(main, ""))
		if got != status || !strings.Contains(text, says) {
			t.Errorf("status %d, want %d and %q:\n%s", got, status, says, text)
		}
		return page
	}
}

// registered is a site with a data set, kim's, and a grant for lee.
func registered(t *testing.T, change ...func(*server.Config)) *site {
	t.Helper()
	s := opened(t, change...)
	kim := s.as("kim")
	wants(t, 201, "is registered")(kim.post("/register", "do", "register", "name", "people", "title", `<img src=x onerror="alert(1)">`, "input", s.data, "schema", "age\n<b>bmi</b>"))
	wants(t, 303, "")(kim.post("/datasets/people/grants", "analyst", "lee", "epsilon", "2", "delta", "1e-5"))
	return s
}

// Who may see and do what, by role: what somebody else's is, is not there.
func TestWho(t *testing.T) {
	s := registered(t)
	lee := s.as("lee")
	_, _, h := lee.post("/fits", "dataset", "people", "epsilon", "1", "delta", "1e-6", "components", "1", "key", "one")
	fit := h.Get("Location")
	if !strings.HasPrefix(fit, "/fits/") {
		t.Fatalf("the fit is at %q", fit)
	}
	people := []*person{s.as("kim"), s.as("pat"), lee, s.as("max"), s.as("")}
	for _, c := range []struct {
		method, path string
		want         [5]int // of kim, pat, lee, max and nobody
	}{
		{"GET", "/", [5]int{303, 303, 303, 303, 303}},
		{"GET", "/datasets", [5]int{200, 200, 200, 200, 303}},
		{"GET", "/datasets/people", [5]int{200, 404, 200, 404, 303}},
		{"GET", "/datasets/nothing", [5]int{404, 404, 404, 404, 303}},
		{"GET", "/plan", [5]int{200, 200, 200, 200, 303}},
		{"GET", "/plan?dataset=people&components=1", [5]int{200, 404, 200, 404, 303}},
		{"GET", "/fits", [5]int{200, 200, 200, 200, 303}},
		{"GET", fit, [5]int{200, 404, 200, 404, 303}},
		{"GET", "/releases", [5]int{200, 200, 200, 200, 303}},
		{"GET", "/compare", [5]int{200, 200, 200, 200, 303}},
		{"GET", strings.Replace(fit, "fits", "releases", 1) + "/report", [5]int{404, 404, 404, 404, 303}},
		{"GET", strings.Replace(fit, "fits", "releases", 1) + "/download", [5]int{404, 404, 404, 404, 303}},
		{"GET", strings.Replace(fit, "fits", "releases", 1) + "/signature", [5]int{404, 404, 404, 404, 303}},
		{"GET", strings.Replace(fit, "fits", "releases", 1) + "/figures.csv", [5]int{404, 404, 404, 404, 303}},
		{"GET", strings.Replace(fit, "fits", "releases", 1) + "/rows.csv", [5]int{404, 404, 404, 404, 303}},
		{"GET", "/log?kind=grant&on=people", [5]int{200, 200, 403, 403, 303}},
		{"POST", "/people", [5]int{422, 422, 403, 403, 303}},
		{"POST", "/people/nobody/revoke", [5]int{404, 404, 403, 403, 303}},
		{"GET", "/register", [5]int{200, 200, 403, 403, 303}},
		{"GET", "/people", [5]int{200, 200, 403, 403, 303}},
		{"GET", "/log", [5]int{200, 200, 403, 403, 303}},
		{"GET", "/nothing", [5]int{404, 404, 404, 404, 303}},
		{"POST", "/register", [5]int{422, 422, 403, 403, 303}},
		{"POST", "/datasets/people/grants", [5]int{422, 404, 403, 403, 303}},
		{"POST", "/datasets/people/withdrawals", [5]int{422, 404, 403, 403, 303}},
		{"POST", "/datasets/people/accept", [5]int{200, 404, 403, 403, 303}},
		{"POST", "/fits", [5]int{403, 403, 404, 404, 303}},
		{"POST", fit + "/cancel", [5]int{303, 404, 404, 404, 303}},
		{"POST", "/datasets/people/retire", [5]int{303, 404, 403, 403, 303}},
	} {
		for i, p := range people {
			send, want := p.get, c.want[i]
			if c.method == "POST" {
				send = func(path string) (int, string, http.Header) { return p.post(path) }
			}
			if c.path == fit+"/cancel" && i == 2 {
				want = 409 // kim has done so before
			}
			status, page, h := send(c.path)
			if status != want {
				t.Errorf("%d: %s %s: status %d, want %d", i, c.method, c.path, status, want)
			}
			if i >= 2 && (strings.Contains(page, s.data) || i > 2 && strings.Contains(page, "people.csv")) {
				t.Errorf("%d: %s %s: it shows where the rows are", i, c.method, c.path)
			}
			if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: the policy is %q", c.path, policy)
			}
			if regexp.MustCompile(`(?i)<img|<b>bmi|\son\w+="|style="|<style|javascript:`).MatchString(page) {
				t.Errorf("%s: not escaped, or not from here:\n%s", c.path, page)
			}
		}
	}
}

// A form without the secret of its session does nothing, and a session ends when it is told to.
func TestForms(t *testing.T) {
	s := registered(t)
	lee := s.as("lee")
	secret := lee.secret
	for _, other := range []string{"", "x", s.as("kim").secret} {
		lee.secret = other
		for _, path := range []string{"/fits", "/sign-out", "/fits/x/cancel"} {
			wants(t, 403, "not from a page that you have open")(lee.post(path, "dataset", "people"))
		}
	}
	lee.secret = secret
	wants(t, 303, "")(lee.post("/sign-out"))
	if status, _, _ := lee.get("/datasets"); status != 303 {
		t.Errorf("after signing out: status %d", status)
	}
	nobody := s.as("")
	nobody.get("/sign-in")
	wants(t, 403, "not from a page")(nobody.post("/sign-in", "token", s.tokens["lee"]))
	for _, next := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "/a\r\nSet-Cookie: x=y", "/\t/evil.example", "/\x00/evil.example", "javascript:alert(1)"} {
		_, page, _ := nobody.get("/sign-in?" + url.Values{"next": {next}}.Encode())
		nobody.secret = secretOf.FindStringSubmatch(page)[1]
		if status, _, h := nobody.post("/sign-in", "token", s.tokens["lee"], "next", next); status != 303 || h.Get("Location") != "/datasets" {
			t.Errorf("%q leads to %q (%d)", next, h.Get("Location"), status)
		}
		_, page, _ = nobody.get("/datasets")
		nobody.secret = secretOf.FindStringSubmatch(page)[1]
		nobody.post("/sign-out")
	}
	_, page, _ := nobody.get("/sign-in")
	nobody.secret = secretOf.FindStringSubmatch(page)[1]
	wants(t, 401, "wanted a token that is known")(nobody.post("/sign-in", "token", "gauze_0123456789abcdef_x"))
}

// What is wrong stands beside its field; what cannot be spent is refused with nothing spent.
func TestFaults(t *testing.T) {
	s := registered(t)
	kim, lee := s.as("kim"), s.as("lee")
	for _, c := range []struct {
		who    *person
		path   string
		fields []string
		status int
		says   string
	}{
		{kim, "/register", []string{"name", "a b", "input", s.data, "schema", "age"}, 422, `got "a b"`},
		{kim, "/register", []string{"name", "ab", "input", s.data}, 422, "Wanted the columns to fit"},
		{kim, "/register", []string{"name", "ab", "input", s.data, "schema", `{"colums": []}`}, 422, "unknown field"},
		{kim, "/register", []string{"name", "ab", "input", "nowhere.csv", "schema", "age"}, 422, "nowhere.csv"},
		{kim, "/register", []string{"name", "people", "input", s.data, "schema", "age"}, 409, "a name that no data set has"},
		{kim, "/register", []string{"name", "ab", "input", s.data, "schema", "age", "do", "preview"}, 200, "What analysts would see"},
		{kim, "/datasets/people/grants", []string{"analyst", "lee", "epsilon", "x", "delta", "1e-6"}, 422, `Wanted a number, got "x"`},
		{kim, "/datasets/people/grants", []string{"analyst", "", "epsilon", "1", "delta", "1e-6"}, 422, "a name of 1 to 64 letters"},
		{lee, "/fits", []string{"dataset", "people", "epsilon", "9", "delta", "1e-6", "components", "1"}, 409, "budget has not enough left"},
		{lee, "/fits", []string{"dataset", "people", "epsilon", "1", "delta", "1e-6", "components", "many"}, 422, "a positive number or auto"},
	} {
		page := wants(t, c.status, c.says)(c.who.post(c.path, c.fields...))
		if c.status == 422 && !strings.Contains(page, `aria-invalid="true"`) {
			t.Errorf("%s: no field is marked:\n%s", c.says, page)
		}
	}
	wants(t, 422, "Wanted a number in")(lee.get("/plan?dataset=people&epsilon=-1"))
	wants(t, 422, "at most 200 columns")(lee.get("/plan?dataset=&dim=5000"))
	wants(t, 200, "100 % left")(lee.get("/datasets/people"))
}

// Plans draw curves, with their numbers in a table; forms that are sent twice are one fit.
func TestPlan(t *testing.T) {
	s := registered(t)
	lee := s.as("lee")
	page := wants(t, 200, "Expect an error of the covariance")(lee.get("/plan?dataset=people&components=1"))
	for _, wanted := range []string{"against ε", "against rows n", `class="line bound"`, `class="line c0"`, "<circle"} {
		if !strings.Contains(page, wanted) {
			t.Errorf("no %s:\n%s", wanted, page)
		}
	}
	wants(t, 200, "Expect")(lee.get("/plan?dataset=&rows=100000&dim=3&epsilon=2&components=1"))
	_, _, one := lee.post("/fits", "dataset", "people", "epsilon", ".5", "components", "1", "key", "k")
	_, _, two := lee.post("/fits", "dataset", "people", "epsilon", ".5", "components", "1", "key", "k")
	if one.Get("Location") == "" || one.Get("Location") != two.Get("Location") {
		t.Errorf("two fits: %q and %q", one.Get("Location"), two.Get("Location"))
	}
	wants(t, 200, "Slot begins")(lee.get(one.Get("Location")))
	wants(t, 200, "Cancel")(lee.get("/fits"))
	wants(t, 303, "")(lee.post(one.Get("Location") + "/cancel"))
	wants(t, 200, "nothing was spent")(lee.get(one.Get("Location")))
}

// Table one can be chosen, and its plan says what it is.
func TestPlanOfProfile(t *testing.T) {
	s := registered(t)
	lee := s.as("lee")
	page := wants(t, 200, "quantiles, mean and sd of each column")(lee.get("/plan?dataset=people&method=profile"))
	if !strings.Contains(page, `<option value="profile" selected>`) {
		t.Errorf("the method is not shown as chosen:\n%s", page)
	}
	_, _, h := lee.post("/fits", "dataset", "people", "epsilon", "1", "delta", "1e-6", "method", "profile")
	if page = wants(t, 200, "profile")(lee.get(h.Get("Location"))); strings.Contains(page, "Components") {
		t.Errorf("components of a profile:\n%s", page)
	}
}

// Somebody who asks too often is told when to come again.
func TestTooMany(t *testing.T) {
	s := registered(t, func(c *server.Config) { c.PerSecond = 2 })
	lee := s.as("lee")
	for range 20 {
		if status, page, h := lee.get("/fits"); status == 429 {
			if h.Get("Retry-After") == "" || !strings.Contains(page, "Try again in") {
				t.Errorf("no time: %v\n%s", h, page)
			}
			return
		}
	}
	t.Error("nothing was refused")
}

// A grant is shown, with what grants add up to, before it is given; what is unspent of it can be
// withdrawn; and the page says why epsilons do not add up once something is spent.
func TestGrantIsShownFirst(t *testing.T) {
	s := registered(t)
	kim, lee := s.as("kim"), s.as("lee")
	asked := []string{"analyst", "lee", "epsilon", "1.5", "delta", "1e-6"}
	page := wants(t, 200, "Nothing is granted yet")(kim.post("/datasets/people/grants", append(asked, "do", "preview")...))
	text := tags.ReplaceAllString(page, "")
	if !strings.Contains(text, "lee would have ε 3.5 at δ 1.1e-05 in all, after ε 2 now") && !strings.Contains(text, "would have ε 3.5") || !strings.Contains(text, "All analysts together would have ε 3.5") {
		t.Errorf("a preview: %s", text)
	}
	wants(t, 200, "Granted ε 2,")(lee.get("/datasets/people"))
	wants(t, 422, "a person whom the server knows")(kim.post("/datasets/people/grants", "analyst", "leo", "epsilon", "1", "delta", "1e-6", "do", "preview"))
	wants(t, 422, "a total of at most 20")(kim.post("/datasets/people/grants", "analyst", "lee", "epsilon", "19", "delta", "1e-6"))
	wants(t, 303, "")(kim.post("/datasets/people/grants", append(asked, "do", "grant")...))
	wants(t, 200, "Granted ε 3.5,")(lee.get("/datasets/people"))
	wants(t, 303, "")(lee.post("/fits", "dataset", "people", "epsilon", "1", "delta", "1e-6", "components", "1"))
	wants(t, 303, "")(kim.post("/datasets/people/withdrawals", "analyst", "lee"))
	wants(t, 409, "All that was granted is spent")(kim.post("/datasets/people/withdrawals", "analyst", "lee"))
	wants(t, 200, "Epsilons do not add up")(lee.get("/datasets/people"))
	wants(t, 409, "Your budget has not enough left")(lee.post("/fits", "dataset", "people", "epsilon", "1", "delta", "1e-6", "components", "1"))
}

// A retired data set says so, has nothing left, takes no fit, no grant and no other input, and
// shows no form for them.
func TestRetired(t *testing.T) {
	s := registered(t)
	kim, lee := s.as("kim"), s.as("lee")
	wants(t, 200, "Retire people")(kim.get("/datasets/people"))
	wants(t, 303, "")(kim.post("/datasets/people/retire"))
	page := wants(t, 200, "Retired: it is granted and fitted no more")(kim.get("/datasets/people?retired=yes"))
	for _, form := range []string{"/grants\"", "/accept\"", "/retire\""} {
		if strings.Contains(page, form) {
			t.Errorf("the page still has the form %s", form)
		}
	}
	page = wants(t, 200, "Retired: it is granted and fitted no more")(lee.get("/datasets/people"))
	if strings.Contains(page, "Plan a fit</a>") {
		t.Error("an analyst is offered a plan")
	}
	for _, refused := range []func() (int, string, http.Header){
		func() (int, string, http.Header) {
			return lee.post("/fits", "dataset", "people", "epsilon", "1", "delta", "1e-6", "components", "1")
		},
		func() (int, string, http.Header) {
			return kim.post("/datasets/people/grants", "analyst", "lee", "epsilon", "1", "delta", "1e-6", "do", "grant")
		},
		func() (int, string, http.Header) { return kim.post("/datasets/people/accept") },
	} {
		wants(t, 409, "he data set is retired")(refused())
	}
	wants(t, 200, "dataset retire")(kim.get("/log"))
}

// A custodian makes an analyst's token, which is shown once and works, and revokes it, which ends
// what it began; no page makes or ends another custodian's.
func TestTokens(t *testing.T) {
	s := registered(t)
	kim := s.as("kim")
	_, page, h := kim.post("/people", "name", "ann", "days", "30")
	token := regexp.MustCompile(`gauze_([0-9a-f]+)_[A-Za-z0-9_-]+`).FindStringSubmatch(page)
	if token == nil || h.Get("Cache-Control") != "no-store" {
		t.Fatalf("no token in\n%s", page)
	}
	if _, page, _ := kim.get("/people"); strings.Contains(page, token[0]) || !strings.Contains(page, token[1]) {
		t.Error("the token is shown again, or is not listed")
	}
	s.tokens["ann"] = token[0]
	ann := s.as("ann")
	if status, _, _ := ann.get("/datasets"); status != 200 {
		t.Errorf("ann gets %d", status)
	}
	if status, _, _ := ann.post("/people", "name", "eve"); status != 403 {
		t.Errorf("an analyst who makes a token gets %d", status)
	}
	if status, _, _ := kim.post("/people/" + token[1] + "/revoke"); status != 303 {
		t.Errorf("revoking: %d", status)
	}
	if status, _, _ := ann.get("/datasets"); status != 303 {
		t.Errorf("after it was revoked ann gets %d", status)
	}
	of := func(name string) string { return strings.Split(s.tokens[name], "_")[1] }
	if status, _, _ := kim.post("/people/" + of("pat") + "/revoke"); status != 404 {
		t.Errorf("another custodian's token: %d", status)
	}
	wants(t, 422, "one role")(kim.post("/people", "name", "pat"))
	// with it pat would see what kim has granted lee
	wants(t, 422, "does not know yet")(s.as("pat").post("/people", "name", "lee"))
	wants(t, 422, "whole number")(kim.post("/people", "name", "bob", "days", "ever"))
}

// The log is filtered by kind and data set.
func TestLogFilters(t *testing.T) {
	s := registered(t)
	kim := s.as("kim")
	lines := func(query string) int {
		_, page, _ := kim.get("/log" + query)
		return strings.Count(page, `<tr><th scope="row"`)
	}
	all, grants, none := lines(""), lines("?kind=grant&on=people"), lines("?on=nothing")
	if grants == 0 || grants >= all || none != 0 || lines("?kind=grant") != grants {
		t.Errorf("%d lines, %d of grants, %d of no data set", all, grants, none)
	}
}

// A fit that would be refused cannot be sent, and a plan says what to expect.
func TestPlanThatWouldBeRefused(t *testing.T) {
	s := registered(t)
	lee := s.as("lee")
	for epsilon, disabled := range map[string]bool{"1": false, "5": true} {
		_, page, _ := lee.get("/plan?dataset=people&epsilon=" + epsilon + "&delta=1e-6")
		if strings.Contains(page, `<button class="main" disabled>`) != disabled {
			t.Errorf("epsilon %s: disabled is %v", epsilon, !disabled)
		}
		if !strings.Contains(page, "Rows needed for groups of equal size") {
			t.Errorf("epsilon %s: it does not say what to expect", epsilon)
		}
	}
}
