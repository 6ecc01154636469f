package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A door is an endpoint or a page. It answers 404 to those who are not named, and keeps out
// everybody who is nobody.
type door struct {
	method, path, body string
	wanted             map[string]int
}

// who comes: the custodian and an analyst of a data set, others of their roles, and nobodies.
var (
	known    = []string{"kim", "pat", "lee", "max"}
	nobodies = []string{"wrong", "cut", "no secret", "expired", "revoked", "nobody"}
	nothings = []string{"made up", "signed out", "expired", "revoked", "token as cookie", "nobody"}
)

// apiDoors returns all endpoints of the API; id is a release of lee's.
func apiDoors(id string) []door {
	all := []door{
		{"GET", "/datasets/people", "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/datasets/no-such", "", nil},
		{"POST", "/datasets", `{"name": "../x", "input": "x", "columns": ["a"]}`, map[string]int{"kim": 422, "pat": 422, "lee": 403, "max": 403}},
		{"POST", "/datasets/people/grants", `{"analyst": "max", "epsilon": -1, "delta": 1e-9}`, map[string]int{"kim": 422, "lee": 403, "max": 403}},
		{"POST", "/datasets/no-such/grants", `{"analyst": "max", "epsilon": 1, "delta": 1e-9}`, map[string]int{"lee": 403, "max": 403}},
		{"POST", "/datasets/people/accept", "", map[string]int{"kim": 200, "lee": 403, "max": 403}},
		{"POST", "/plans", ask("people"), map[string]int{"kim": 200, "lee": 200}},
		{"POST", "/plans", ask("no-such"), nil},
		{"POST", "/fits", ask("people"), map[string]int{"kim": 403, "pat": 403, "lee": 202}},
		{"GET", "/fits/" + id, "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/fits/" + strings.Repeat("0", 32), "", nil},
		{"DELETE", "/fits/" + id, "", map[string]int{"kim": 409, "lee": 409}},
		{"POST", "/fits/" + id + "/cancel", "", map[string]int{"kim": 409, "lee": 409}},
		{"GET", "/releases/" + id, "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/releases/" + id + "/report", "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/log", "", map[string]int{"kim": 200, "pat": 200, "lee": 403, "max": 403}},
	}
	for _, path := range []string{"/datasets", "/fits", "/releases", "/me"} {
		all = append(all, door{"GET", path, "", map[string]int{"kim": 200, "pat": 200, "lee": 200, "max": 200}})
	}
	return all
}

// pageDoors returns all pages, and the targets of their forms.
func pageDoors(id string) []door {
	all := []door{
		{"GET", "/datasets/people", "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/datasets/no-such", "", nil},
		{"GET", "/plan?dataset=people&components=1", "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/fits/" + id, "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/releases/" + id + "/report", "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/releases/" + id + "/download", "", map[string]int{"kim": 200, "lee": 200}},
		{"GET", "/compare?a=" + id + "&b=" + id, "", map[string]int{"kim": 200, "lee": 200}},
		{"POST", "/datasets/people/grants", "analyst=max&epsilon=-1&delta=1e-9", map[string]int{"kim": 422, "lee": 403, "max": 403}},
		{"POST", "/datasets/people/accept", "", map[string]int{"kim": 200, "lee": 403, "max": 403}},
		{"POST", "/fits", "dataset=people&epsilon=1&delta=1e-9&components=1", map[string]int{"kim": 403, "pat": 403, "lee": 303}},
		{"POST", "/fits/" + id + "/cancel", "", map[string]int{"kim": 409, "lee": 409}},
		{"POST", "/register", "name=..%2fx", map[string]int{"kim": 422, "pat": 422, "lee": 403, "max": 403}},
	}
	for _, path := range []string{"/datasets", "/plan", "/fits", "/releases", "/compare"} {
		all = append(all, door{"GET", path, "", map[string]int{"kim": 200, "pat": 200, "lee": 200, "max": 200}})
	}
	for _, path := range []string{"/register", "/people", "/log"} {
		all = append(all, door{"GET", path, "", map[string]int{"kim": 200, "pat": 200, "lee": 403, "max": 403}})
	}
	return all
}

// A matrix is who gets what at which door.
type matrix struct {
	engine.Table
	cells, wrong int
}

// tries tries all doors as everybody. Shut says whether an answer keeps out somebody who is nobody;
// secret is what nobody but kim and lee may be shown.
func tries(doors []door, strangers []string, send func(who string, d door) answer, shut func(answer) bool, secret string) *matrix {
	m := &matrix{Table: engine.Table{Head: slices.Concat([]string{"request"}, known, strangers, []string{"held"})}}
	for _, d := range doors {
		row, held := []any{fmt.Sprintf("`%s %.70s`", d.method, d.path)}, true
		missing := map[string]bool{}
		for _, who := range slices.Concat(known, strangers) {
			a := send(who, d)
			right := a.err == nil && shut(a)
			if slices.Contains(known, who) {
				wanted := 404
				if w := d.wanted[who]; w != 0 {
					wanted = w
				}
				right = a.err == nil && a.status == wanted
			}
			if a.status == 404 {
				missing[who+string(a.body)] = true
			}
			if who != "kim" && who != "lee" && strings.Contains(string(a.body), secret) && !strings.Contains(d.path, secret) {
				right = false
			}
			m.cells++
			said := fmt.Sprint(a.status)
			if !right {
				m.wrong++
				held, said = false, "**"+said+"**"
			}
			row = append(row, said)
		}
		m.Add(append(row, held)...)
	}
	return m
}

// oneText reports that what is not there and what is somebody else's are answered alike: by paths
// of the two.
func (f *field) oneText(ctx context.Context, t *engine.Table, pairs map[string]string) {
	for is, isNot := range pairs {
		a, b := f.send(ctx, "max", "GET", api+is, ""), f.send(ctx, "max", "GET", api+isNot, "")
		t.Add("is it there?", "max", fmt.Sprintf("`%.40s`, and one that nobody has", is), "one answer", fmt.Sprintf("%d, %d", a.status, b.status),
			a.err == nil && b.err == nil && string(a.body) == string(b.body) && headerBytes(a.header) == headerBytes(b.header))
	}
}

// tokenLife is that of a token that ends while it is tried.
const tokenLife = 20 * time.Second

// retired makes a token that has expired, and one that was revoked, of lee, after sessions were
// begun with them and the server has known both as right.
func (f *field) retired(ctx context.Context, visitors map[string]*browser) error {
	lee := f.tokens["lee"]
	for _, name := range []string{"revoked", "expired"} {
		if name == "expired" {
			f.life = tokenLife.String()
		}
		if err := f.people(ctx, "analyst", "lee"); err != nil {
			return err
		}
		f.tokens[name], f.tokens["lee"] = f.tokens["lee"], lee
		if _, err := f.wants(ctx, 200, name, "GET", "/me", ""); err != nil {
			return err
		}
		var err error
		if visitors[name], err = f.browser(ctx, name); err != nil {
			return err
		}
	}
	time.Sleep(tokenLife)
	return exec.CommandContext(ctx, f.program, "serve", "token", "revoke", "--database", f.database, "--name", strings.Split(f.tokens["revoked"], "_")[1]).Run()
}

// visitors returns everybody who opens pages.
func (f *field) visitors(ctx context.Context) (map[string]*browser, error) {
	out := map[string]*browser{"nobody": f.stranger(), "made up": f.stranger(), "token as cookie": f.stranger()}
	for _, who := range append([]string{"signed out"}, known...) {
		name := who
		if who == "signed out" {
			name = "lee"
		}
		var err error
		if out[who], err = f.browser(ctx, name); err != nil {
			return nil, err
		}
	}
	out["made up"].cookie = strings.Repeat("A", len(out["lee"].cookie))
	out["token as cookie"].cookie = f.tokens["lee"]
	if a := out["signed out"].post(ctx, "/sign-out", nil); a.status != 303 {
		return nil, errors.Join(a.err, fmt.Errorf("signing out: %d", a.status))
	}
	return out, nil
}

// form returns a body as a page sends it.
func form(body string) url.Values {
	values, _ := url.ParseQuery(body) // of ours
	return values
}
