package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
)

// patience is how long an answer may take. What plans take is bounded by what they are of; the rest
// is for machines that are busy.
const patience = 20 * time.Second

// hostile sends a request straight to the handler, and reports what no request may do: an internal
// error, a panic, a problem that says too little, an answer that an analyst learns a path of.
func (s *site) hostile(who, method, target, body string, headers http.Header) *httptest.ResponseRecorder {
	s.t.Helper()
	u, err := url.ParseRequestURI(target)
	if err != nil || !strings.HasPrefix(target, "/") {
		s.t.Skip("no request has this target")
	}
	r := httptest.NewRequest("GET", "/", strings.NewReader(body))
	r.Method, r.URL, r.RequestURI = method, u, target
	for name, values := range headers {
		r.Header[name] = values
	}
	if token := s.tokens[who]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w, begun := httptest.NewRecorder(), time.Now()
	s.server.Handler().ServeHTTP(deadlines{w}, r)
	text := w.Body.String()
	if took := time.Since(begun); took > patience {
		s.t.Errorf("%s %s %.300q took %v", method, target, body, took)
	}
	if w.Code >= 500 {
		s.t.Errorf("%s: %s %s %.300q: %d %.300s", who, method, target, body, w.Code, text)
	}
	if w.Code >= 400 && strings.HasPrefix(w.Header().Get("Content-Type"), "application/") {
		s.problem(w.Body.Bytes())
	}
	if who != "kim" && strings.Contains(text, "people.csv") {
		s.t.Errorf("%s: %s %s shows where rows are: %.300s", who, method, target, text)
	}
	return w
}

// deadlines lets a recorder have them.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetWriteDeadline(time.Time) error { return nil }

// besieged is a site with a data set of each relation, whose fits are never too many.
func besieged(f *testing.F) *site {
	s := opened(f, func(c *Config) { c.Waiting, c.Horizon = 1<<30, 1<<50 })
	s.register("people", s.table(300), "")
	s.register("hidden", s.table(300), `, "relation": "add-remove-one", "capacity": 400`)
	return s
}

// reporting is the same site for one input of a fuzzer.
func (s *site) reporting(t *testing.T) *site {
	one := *s
	one.t = t
	return &one
}

// bodies are what somebody sends who looks for a parser's edges.
func bodies() []string {
	ask := `"dataset": "people", "epsilon": 0.001, "delta": 1e-9`
	all := []string{"", "null", "0", "[]", "{", "{}", `{}}`, `{} {}`, "\xef\xbb\xbf{}", strings.Repeat("[", 1<<14), strings.Repeat(`{"a":`, 1<<14), "{" + ask + "}",
		`{"dataset": "hidden", "epsilon": 0.001, "delta": 1e-9, "rows": -1}`, `{"dataset": "hidden", "epsilon": 0.001, "delta": 1e-9, "rows": 9223372036854775807}`,
		`{"rows": 1000000000, "dim": 200, "epsilon": 1, "delta": 1e-6}`, `{"rows": 1000000000, "dim": 20, "epsilon": 20, "delta": 1e-300, "max_components": 2147483647}`,
		`{"rows": 1000000, "dim": 3, "epsilon": 1, "delta": 1e-6, "components": 100000000}`, `{"rows": 1000000, "dim": 2, "rho": 1e-320}`, `{"rows": 1000000, "dim": 2, "rho": 1e308}`,
		`{"rows": 1000, "dim": 1, "epsilon": 1, "epsilon": 1e999, "delta": 1e-6}`, `{"rows": 1000, "dim": 1, "epsilon": NaN, "delta": 1e-6}`,
		`{"name": "x", "input": "/dev/zero", "columns": ["age"]}`, `{"name": "x", "input": "-", "columns": ["age"]}`, `{"name": "x", "input": "a\u0000b", "columns": ["age"]}`,
		`{"name": "x", "input": "/", "columns": ["age"], "capacity": -1}`, `{"name": "x\n", "input": "/etc/passwd", "columns": ["\u0000", "<script>"]}`,
		`{"analyst": "lee", "epsilon": 1e308, "delta": 1e-9}`, `{"analyst": "lee", "epsilon": 1, "delta": -0.0}`, `{"analyst": "lee\u0000", "epsilon": 1, "delta": 1e-9}`, `{"epsilon": 1, "delta": 1e-9}`}
	for _, more := range []string{`"title": "\u0000\u2028</script><script>alert(1)</script>\n"`, `"columns": []`, `"columns": ["age", "age"]`, `"columns": ["AGE"]`, `"by": ["age"]`, `"rows": 1e300`, `"dim": -1`,
		`"method": "black-box", "learner": "moitra-valiant", "components": 2`, `"method": "../auto"`, `"learner": "/bin/sh"`, `"trim": -1e-320`, `"trim": 0.9999`, `"mean_within": 1e308`, `"mean_within": 0`,
		`"eigenvalues_within": [1e-308, 1e308]`, `"eigenvalues_within": [1]`, `"eigenvalues_within": [2, 1]`, `"moments": 9223372036854775807`, `"moments": 4, "moment_bound": 1e308`, `"least_weight": 5e-324`,
		`"components": 9223372036854775807`, `"components": "auto", "max_components": 9223372036854775807`, `"components": 1.5`, `"covariance": "FULL"`, `"constants": "printed"`, `"relation": "\ud800"`, `"Epsilon": 5`} {
		all = append(all, "{"+ask+", "+more+"}")
	}
	return all
}

// Whatever body is posted to whatever endpoint by whomever: no internal error, no panic.
func FuzzBodies(f *testing.F) {
	s := besieged(f)
	paths := []string{"/plans", "/fits", "/datasets", "/datasets/people/grants", "/datasets/people/accept", "/datasets/people/withdrawals"}
	for i, body := range bodies() {
		for j := range paths {
			f.Add(j, body, "")
		}
		f.Add(1, body, fmt.Sprint("\xff\x00'\"", i))
	}
	f.Fuzz(func(t *testing.T, path int, body, key string) {
		one := s.reporting(t)
		headers := http.Header{"Content-Type": {"application/json"}}
		if key != "" {
			headers["Idempotency-Key"] = []string{key}
		}
		for _, who := range []string{"lee", "kim", ""} {
			one.hostile(who, "POST", "/api/v1"+paths[uint(path)%uint(len(paths))], body, headers)
		}
	})
}

// Whatever is asked for with whatever method and token: no internal error, no panic, and nobody is
// let in.
func FuzzTargets(f *testing.F) {
	s := besieged(f)
	for _, target := range []string{"/", "//", "/api/v1", "/api/v1/", "/api/v1/datasets/%00", "/api/v1/datasets/%ff", "/api/v1/datasets/..%2f..%2fetc%2fpasswd", "/api/v1/datasets/people/../hidden",
		"/api/v1/fits/%00", "/api/v1/fits/" + strings.Repeat("a", 1<<12), "/api/v1/fits?limit=1e9", "/api/v1/fits?limit=-1", "/api/v1/fits?before=99999999999999999999", "/api/v1/fits?before=9223372036854775807",
		"/api/v1/datasets?after=%00&limit=500", "/api/v1/datasets?after=%27%20OR%201%3D1--", "/api/v1/fits?before=1;DROP", "/api/v1/releases/people/report", "/api/v1/log?before=1", "/metrics", "/healthz", "/api/v1/openapi.json",
		"/api/v1/datasets/people%2Fgrants", "/api/v1/datasets/people;x", "/api/v1/releases/..%2f..%2f/report", "/api/v1/me?x=%0d%0aSet-Cookie:a"} {
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "TRACE", "PATCH", "get", "A\tB"} {
			f.Add(method, target, "Bearer x")
		}
	}
	for _, token := range []string{"", "Bearer", "Bearer ", "bearer gauze_", "Bearer gauze__", "Bearer gauze_0123456789abcdef_", "Bearer gauze_0123456789abcdef_" + strings.Repeat("x", 1<<12), "Basic a2ltOmtpbQ==", "Bearer \x00", "Bearer gauze_' OR 1=1--_x", "Bearer null"} {
		f.Add("GET", "/api/v1/me", token)
	}
	f.Fuzz(func(t *testing.T, method, target, token string) {
		one := s.reporting(t)
		w := one.hostile("", method, target, "{}", http.Header{"Authorization": {token}})
		public := w.Code >= 300 || strings.HasSuffix(strings.SplitN(target, "?", 2)[0], "/healthz") || strings.HasSuffix(strings.SplitN(target, "?", 2)[0], "/openapi.json") || strings.HasSuffix(strings.SplitN(target, "?", 2)[0], "/signing-key")
		if !public {
			t.Errorf("%s %s with %q is let in: %d %.200s", method, target, token, w.Code, w.Body)
		}
		for _, who := range []string{"lee", "kim"} {
			one.hostile(who, method, target, "{}", nil)
		}
	})
}

// Whatever is sent to whatever page by somebody who has signed in, in a form with its secret or in
// an address: no internal error, no panic.
func FuzzForms(f *testing.F) {
	s := besieged(f)
	keeper := auth.New(s.server.store, time.Now)
	cookies, secrets := map[string]string{}, map[string]string{}
	for _, who := range []string{"lee", "kim"} {
		cookie, session, err := keeper.Begin(f.Context(), s.tokens[who])
		if err != nil {
			f.Fatal(err)
		}
		cookies[who], secrets[who] = cookie, session.Secret
	}
	paths := []string{"/fits", "/datasets/people/grants", "/datasets/people/withdrawals", "/datasets/people/accept", "/register", "/fits/" + strings.Repeat("0", 32) + "/cancel", "/plan", "/compare", "/datasets", "/log", "/nothing"}
	bodies := []string{"", "&&&===", "%zz", "\xff\x00", "dataset=people&epsilon=0.001&delta=1e-9&components=1", "dataset=people&dataset=hidden&epsilon=NaN&delta=-1e999", "dataset=hidden&rows=-1&epsilon=1e308",
		"dataset=&rows=9223372036854775808&dim=-5&components=0", "dataset=people&column=age&column=age&by=age&title=%00%3Cscript%3E", "name=x&input=/dev/zero&schema=%7B%22columns%22:[[]]%7D&do=preview", "name=x%0a&input=%00&schema=a%0aa&capacity=1e9",
		"analyst=lee%00&epsilon=1&delta=1", "a=x&b=y", "a=" + strings.Repeat("0", 32) + "&b=%ff", "before=-1&after=%00", "before=99999999999999999999", "dataset=people&epsilon=1&delta=1e-9&components=1&method=../x&covariance=%ff"}
	for i, body := range bodies {
		for j := range paths {
			if (i+j)%2 == 0 {
				f.Add(j, body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, path int, body string) {
		one, at := s.reporting(t), paths[uint(path)%uint(len(paths))]
		for who, cookie := range cookies {
			headers := http.Header{"Cookie": {"gauze-session=" + cookie}, "Content-Type": {"application/x-www-form-urlencoded"}}
			one.hostile(who, "POST", at, "secret="+secrets[who]+"&"+body, headers)
			if _, err := url.ParseRequestURI(at + "?" + body); err == nil {
				one.hostile(who, "GET", at+"?"+body, "", headers)
			}
		}
	})
}
