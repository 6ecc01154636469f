package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// Every endpoint, for everybody: the custodian whose data set it is, another custodian, the analyst
// who was granted something of it, another analyst, and people without a token that counts. What is
// not for somebody looks as if it were not there.
func TestRoles(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 8, "delta": 1e-5}`)
	inputs := map[string]string{"kim": s.table(2000), "pat": s.tableOf("pat", 2000)} // nobody may register the other's
	ask := `{"dataset": "people", "epsilon": 1, "delta": 1e-7, "components": 1}`
	id := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	s.ended("lee", id)
	keeper := auth.New(s.server.store, time.Now)
	add := func(name string, life time.Duration) (token string) {
		token, err := keeper.Add(t.Context(), "test", store.Person{Name: "lee", Role: store.Analyst}, life)
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = token
		return token
	}
	add("expired", time.Nanosecond)
	if err := s.server.store.Revoke(t.Context(), "test", strings.Split(add("revoked", 0), "_")[1]); err != nil {
		t.Fatal(err)
	}
	token := s.tokens["lee"]
	s.tokens["wrong"] = token[:len(token)-2] + "xx"
	who := []string{"kim", "pat", "lee", "max", "expired", "revoked", "wrong", "nobody"}
	for _, c := range []struct {
		method, path, body string
		want               [4]int // kim, pat, lee, max; the others get 401
	}{
		{"GET", "/datasets", "", [4]int{200, 200, 200, 200}},
		{"GET", "/datasets/people", "", [4]int{200, 404, 200, 404}},
		{"POST", "/datasets", `{"name": "NEW", "input": "INPUT", "columns": ["age"]}`, [4]int{201, 201, 403, 403}},
		{"POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 0.1, "delta": 1e-8}`, [4]int{201, 404, 403, 403}},
		{"POST", "/datasets/people/withdrawals", `{"analyst": "lee", "epsilon": 0.01}`, [4]int{200, 404, 403, 403}},
		{"POST", "/datasets/people/accept", "", [4]int{200, 404, 403, 403}},
		{"POST", "/plans", ask, [4]int{200, 404, 200, 404}},
		{"POST", "/plans", `{"rows": 1000, "dim": 2, "epsilon": 1, "delta": 1e-6}`, [4]int{200, 200, 200, 200}},
		{"POST", "/fits", ask, [4]int{403, 403, 202, 404}},
		{"GET", "/fits", "", [4]int{200, 200, 200, 200}},
		{"GET", "/fits/" + id, "", [4]int{200, 404, 200, 404}},
		{"DELETE", "/fits/" + id, "", [4]int{409, 404, 409, 404}},
		{"POST", "/fits/" + id + "/cancel", "", [4]int{409, 404, 409, 404}},
		{"GET", "/releases", "", [4]int{200, 200, 200, 200}},
		{"GET", "/releases/" + id, "", [4]int{200, 404, 200, 404}},
		{"GET", "/releases/" + id + "/report", "", [4]int{200, 404, 200, 404}},
		{"GET", "/log", "", [4]int{200, 200, 403, 403}},
		{"GET", "/me", "", [4]int{200, 200, 200, 200}},
		{"GET", "/nothing", "", [4]int{404, 404, 404, 404}},
		{"PUT", "/fits", "", [4]int{405, 405, 405, 405}},
		{"POST", "/datasets/people/retire", "", [4]int{200, 404, 403, 403}},
	} {
		for i, name := range who {
			want := http.StatusUnauthorized
			if i < len(c.want) {
				want = c.want[i]
			} else if c.want[0] >= 404 && c.want[0] == c.want[2] && c.want[0] != 409 {
				want = c.want[0] // nothing to be told of
			}
			body := strings.NewReplacer("NEW", "of-"+name, "INPUT", cmp.Or(inputs[name], inputs["kim"])).Replace(c.body)
			got, text := s.send(name, c.method, "/api/v1"+c.path, body)
			if got == http.StatusTooManyRequests && name == "wrong" {
				continue // a secret was tried too often
			}
			if got != want {
				t.Errorf("%s: %s %s: status %d, want %d: %.200s", name, c.method, c.path, got, want, text)
			}
			if got >= 400 {
				s.problem(text)
			}
		}
	}
	for _, name := range []string{"lee", "max"} {
		for _, path := range []string{"/datasets", "/fits", "/releases", "/log"} {
			if _, text := s.send(name, "GET", "/api/v1"+path, ""); bytes.Contains(text, []byte("people.csv")) || name != "lee" && bytes.Contains(text, []byte(id)) {
				t.Errorf("%s sees of %s: %s", name, path, text)
			}
		}
	}
}

// problem reads a problem, and reports one that says too little.
func (s *site) problem(text []byte) map[string]any {
	s.t.Helper()
	p := map[string]any{}
	if err := json.Unmarshal(text, &p); err != nil || p["status"] == nil || p["title"] == nil || p["hint"] == nil {
		s.t.Errorf("a problem that says too little: %s (%v)", text, err)
	}
	return p
}

// What is wrong with a request is said with field, wanted, got and hint.
func TestProblems(t *testing.T) {
	s := opened(t)
	path := s.table(2000)
	s.register("people", path, "")
	for _, c := range []struct {
		who, path, body string
		status          int
		field           string
	}{
		{"lee", "/plans", `{`, 400, ""},
		{"lee", "/plans", ``, 400, "body"},
		{"lee", "/plans", `{}}`, 400, ""},
		{"lee", "/plans", `{} {}`, 400, ""},
		{"lee", "/plans", `{"epsilom": 1}`, 400, "epsilom"},
		{"lee", "/plans", `{"epsilon": "one"}`, 400, "epsilon"},
		{"lee", "/plans", strings.Repeat("[", 1<<16), 400, ""},
		{"lee", "/plans", `{"title": "` + strings.Repeat("x", 2<<20) + `"}`, 413, ""},
		{"lee", "/plans", `{"rows": 1000, "dim": 2}`, 422, "epsilon"},
		{"lee", "/plans", `{"rows": 1000, "dim": 2, "epsilon": 1, "delta": 1e-6, "components": 0}`, 422, "components"},
		{"lee", "/plans", `{"rows": 1000, "dim": 2, "epsilon": 1, "delta": 1e-6, "method": "gausian"}`, 422, "method"},
		{"lee", "/plans", `{"rows": 1000, "dim": 2, "epsilon": 100, "delta": 1e-6}`, 422, "epsilon"},
		{"lee", "/plans", `{"dataset": "people", "epsilon": 1, "delta": 0.1}`, 422, "delta"},
		{"lee", "/plans", `{"dataset": "people", "epsilon": 1, "delta": 1e-6, "columns": ["weight"]}`, 422, "columns"},
		{"lee", "/plans", `{"dataset": "people", "epsilon": 1, "delta": 1e-6, "relation": "add-remove-one"}`, 422, "relation"},
		{"lee", "/fits", `{"epsilon": 1, "delta": 1e-6}`, 422, "dataset"},
		{"lee", "/fits", `{"dataset": "../people", "epsilon": 1, "delta": 1e-6}`, 404, ""},
		{"lee", "/fits", `{"dataset": "people\u0000", "epsilon": 1, "delta": 1e-6}`, 404, ""},
		{"kim", "/datasets", `{"name": "x", "input": "/dev/zero", "columns": ["age"]}`, 422, "input"},
		{"kim", "/datasets", `{"name": "../x", "input": "x.csv", "columns": ["age"]}`, 422, "name"},
		{"kim", "/datasets", `{"name": "x", "input": "x.csv"}`, 422, "input"},
		{"kim", "/datasets", fmt.Sprintf(`{"name": "x", "input": %q}`, path), 422, "schema"},
		{"kim", "/datasets", `{"name": "x", "input": "/nowhere.csv", "columns": ["age"]}`, 422, "input"},
		{"kim", "/datasets", fmt.Sprintf(`{"name": "people", "input": %q, "columns": ["age"]}`, path), 409, "name"},
		{"kim", "/datasets", fmt.Sprintf(`{"name": "x", "input": %q, "columns": ["weight"]}`, path), 422, "header"},
		{"kim", "/datasets", fmt.Sprintf(`{"name": "x", "input": %q, "columns": ["age"], "relation": "add-remove-one", "capacity": 100}`, path), 422, "capacity"},
		{"kim", "/datasets/people/grants", `{"analyst": "a/b", "epsilon": 1, "delta": 1e-6}`, 422, "analyst"},
		{"kim", "/datasets/people/grants", `{"analyst": "lee", "epsilon": -1, "delta": 1e-6}`, 422, ""},
	} {
		status, text := s.send(c.who, "POST", "/api/v1"+c.path, c.body)
		p := s.problem(text)
		if status != c.status || c.field != "" && p["field"] != c.field {
			t.Errorf("%s %.80s: %d %.300s; want %d, field %q", c.path, c.body, status, text, c.status, c.field)
		}
	}
}

// A session ends with the token that it was begun with: when that expires, and when it is revoked,
// even while the session is begun.
func TestSessionsEndWithTokens(t *testing.T) {
	s := opened(t)
	now := time.Now()
	keeper := auth.New(s.server.store, func() time.Time { return now })
	begun := func(life time.Duration) (id, cookie string) {
		token, err := keeper.Add(t.Context(), "test", store.Person{Name: "lee", Role: store.Analyst}, life)
		if err == nil {
			cookie, _, err = keeper.Begin(t.Context(), token)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keeper.Session(t.Context(), cookie); err != nil {
			t.Fatal(err)
		}
		return strings.Split(token, "_")[1], cookie
	}
	_, cookie := begun(time.Hour)
	inTime, err := store.Open(t.Context(), s.server.config.Database, s.server.config.Key, func() time.Time { return now.Add(2 * time.Hour) })
	if err != nil {
		t.Fatal(err)
	}
	defer inTime.Close()
	if _, err := inTime.Session(t.Context(), digested(cookie)); err != store.ErrNotFound {
		t.Errorf("its token has expired: %v", err)
	}
	id, cookie := begun(0)
	late, err := s.server.store.Session(t.Context(), digested(cookie))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.server.store.Revoke(t.Context(), "test", id); err != nil {
		t.Fatal(err)
	}
	if err := s.server.store.AddSession(t.Context(), late); err != nil { // that was about to be kept
		t.Fatal(err)
	}
	if _, err := keeper.Session(t.Context(), cookie); err != auth.ErrDenied {
		t.Errorf("its token was revoked: %v", err)
	}
}

// digested is what is kept of a cookie.
func digested(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}
