package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// forged tries forms that other pages send in the name of a signed-in person.
func forged(ctx context.Context, t *engine.Table, in map[string]*browser, id string) {
	for _, d := range pageDoors(id) {
		if d.method != "POST" {
			continue
		}
		b := in["lee"]
		if d.wanted["kim"] != 403 && d.wanted["lee"] == 403 {
			b = in["kim"]
		}
		cookie, plain := sessionCookie+"="+b.cookie, form(d.body)
		with := func(secret string) string {
			sent := url.Values{"secret": {secret}}
			for name, value := range plain {
				sent[name] = value
			}
			return sent.Encode()
		}
		got := map[string]answer{
			"no secret":            b.f.ask(ctx, "POST", d.path, plain.Encode(), "Content-Type", formType, "Cookie", cookie),
			"another's secret":     b.f.ask(ctx, "POST", d.path, with(in["max"].secret), "Content-Type", formType, "Cookie", cookie),
			"secret in the URL":    b.f.ask(ctx, "POST", d.path+"?secret="+url.QueryEscape(b.secret), plain.Encode(), "Content-Type", formType, "Cookie", cookie),
			"text/plain":           b.f.ask(ctx, "POST", d.path, with(b.secret), "Content-Type", "text/plain", "Cookie", cookie),
			"JSON":                 b.f.ask(ctx, "POST", d.path, fmt.Sprintf(`{"secret": %q}`, b.secret), "Content-Type", "application/json", "Cookie", cookie),
			"parts":                b.f.ask(ctx, "POST", d.path, "--x\r\nContent-Disposition: form-data; name=\"secret\"\r\n\r\n"+b.secret+"\r\n--x--\r\n", "Content-Type", "multipart/form-data; boundary=x", "Cookie", cookie),
			"JSON API by a cookie": b.f.ask(ctx, "POST", api+d.path, "{}", "Content-Type", "text/plain", "Cookie", cookie),
		}
		statuses, held := []string{}, true
		for _, name := range []string{"no secret", "another's secret", "secret in the URL", "text/plain", "JSON", "parts", "JSON API by a cookie"} {
			a, wanted := got[name], 403
			if name == "JSON API by a cookie" {
				wanted = 401
			}
			held = held && a.err == nil && (a.status == wanted || wanted == 401 && a.status == 404)
			statuses = append(statuses, fmt.Sprint(a.status))
		}
		t.Add("forged forms: no secret, another's, in the URL, text/plain, JSON, parts; the API by a cookie", "kim or lee", fmt.Sprintf("`POST %.50s`", d.path), "403, the last 401", strings.Join(statuses, " "), held)
	}
}

// doorways tries the page to sign in on.
func doorways(ctx context.Context, f *field, t *engine.Table) {
	for _, next := range []string{"//evil.example", "https://evil.example", `/\evil.example`, `\\evil.example`, "/\t/evil.example", "/\r\n/evil.example", "/\x00/evil.example", "///evil.example", "/.//evil.example",
		"javascript:alert(1)", "data:text/html,x", "@evil.example", "/@evil.example", "/a\r\nSet-Cookie: x=y"} {
		a := f.stranger().signIn(ctx, f.tokens["lee"], next, "")
		to := a.header.Get("Location")
		t.Add("where to after signing in", "lee", fmt.Sprintf("%.60q", next), "a path of this server", fmt.Sprintf("%d %q", a.status, to), a.status == 303 && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") &&
			!strings.ContainsAny(to, "\t\r\n\\") && a.header.Get("Set-Cookie") != "" && !strings.Contains(fmt.Sprint(a.header), "x=y"))
	}
	b := f.stranger()
	fixed := strings.Repeat("A", 43)
	a := b.signIn(ctx, f.tokens["lee"], "", fixed)
	t.Add("a session that somebody else has chosen", "lee", "sign in with a cookie", "another cookie", fmt.Sprint(a.status), a.status == 303 && b.cookie != "" && b.cookie != fixed)
	t.Add("a script that reads the cookie, another site that sends it", "lee", "its flags", "HttpOnly, SameSite", b.flags, strings.HasPrefix(b.flags, "HttpOnly true, SameSite true") && strings.HasSuffix(b.flags, "Path /"))
	none := f.ask(ctx, "POST", "/sign-in", url.Values{"token": {f.tokens["lee"]}, "secret": {"x"}}.Encode(), "Content-Type", formType)
	t.Add("signing somebody in as oneself", "another page", "`POST /sign-in`, no cookie of its form", "403", fmt.Sprint(none.status), none.status == 403)
	for what, body := range map[string]string{"2 MB": "token=" + strings.Repeat("x", 2<<20), "300,000 fields": strings.Repeat("a=&", 300_000), "half an escape": "token=%z", "no text": "token=\xff\xfe\x00"} {
		a := f.ask(ctx, "POST", "/sign-in", body, "Content-Type", formType)
		t.Add("forms: "+what, "nobody", "`POST /sign-in`", "400, 403 or 413", fmt.Sprint(a.status), a.err == nil && slices.Contains([]int{400, 403, 413}, a.status))
	}
}

// payloads are malicious columns, titles and groups.
var payloads = []string{`<img src=x onerror=alert(1)>`, `"><svg onload=alert(2)>`, `</script><script>alert(3)</script>`, `' onfocus='alert(4)' x='`, `</textarea></title><script>alert(5)</script>`, `{{.Secret}}<b>`}

// scripts registers a data set of such names, fits it, and looks for them in all pages.
func scripts(ctx context.Context, f *field, t *engine.Table, in map[string]*browser) error {
	quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	lines := []string{strings.Join([]string{quoted(payloads[0]), quoted(payloads[1]), quoted(payloads[2])}, ",")}
	for i, line := range f.drawn(8000) {
		lines = append(lines, line+","+quoted(payloads[3+i%2]))
	}
	path, err := f.put("hostile.csv", strings.Join(lines, "\n")+"\n")
	if err != nil {
		return err
	}
	type column map[string]any
	schema := map[string]any{"title": payloads[4], "columns": []column{{"name": payloads[0], "label": payloads[5], "unit_of_measure": payloads[3]}, {"name": payloads[1], "label": payloads[2]}},
		"by": []column{{"name": payloads[2], "categories": payloads[3:5]}}}
	body, err := json.Marshal(map[string]any{"name": "hostile", "input": path, "schema": schema})
	if err != nil {
		return err
	}
	_, err = f.wants(ctx, 201, "kim", "POST", "/datasets", string(body))
	if err == nil {
		_, err = f.wants(ctx, 201, "kim", "POST", "/datasets/hostile/grants", `{"analyst": "lee", "epsilon": 19, "delta": 1e-4, "force": true}`)
	}
	if err != nil {
		return err
	}
	ids := []string{}
	for _, more := range []string{``, `, "by": [` + string(marshalled(payloads[2])) + `]`} {
		id, fault := f.fitted(ctx, "lee", `{"dataset": "hostile", "epsilon": 8, "delta": 1e-9, "components": 1, "title": `+string(marshalled(payloads[2]))+more+`}`)
		ids, err = append(ids, id), errors.Join(err, fault)
	}
	if err != nil {
		return err
	}
	paths := []string{"/datasets", "/datasets/hostile", "/plan?dataset=hostile&components=1", "/plan?" + url.Values{"dataset": {"hostile"}, "column": {payloads[0]}, "method": {payloads[1]}, "title": {payloads[2]}}.Encode(),
		"/fits", "/releases", "/compare?a=" + ids[0] + "&b=" + ids[0], "/compare?a=" + ids[0] + "&b=" + ids[1], "/people", "/log", "/sign-in?" + url.Values{"next": {"/" + payloads[1]}}.Encode(), "/" + url.PathEscape(payloads[0])}
	for _, id := range ids {
		paths = append(paths, "/fits/"+id, "/releases/"+id+"/report", "/releases/"+id+"/download")
	}
	for _, path := range paths {
		for _, who := range []string{"kim", "lee"} {
			t.Add("scripts in columns, titles, groups, addresses", who, fmt.Sprintf("`GET %.60s`", path), "escaped, and a policy", "", false)
			asIs(t, in[who].get(ctx, path))
		}
	}
	for _, where := range []string{"/register", "/datasets/hostile/grants"} {
		a := in["kim"].post(ctx, where, url.Values{"do": {"preview"}, "name": {payloads[0]}, "title": {payloads[1]}, "input": {payloads[2]}, "schema": {strings.Join(payloads, "\n")}, "analyst": {payloads[3]}, "epsilon": {payloads[4]}, "capacity": {payloads[1]}})
		t.Add("scripts in forms that are shown again", "kim", "`POST "+where+"`", "escaped, and a policy", "", false)
		asIs(t, a)
	}
	return nil
}

// asIs ends a row: whether an answer has a payload as it was sent, or is without a policy.
func asIs(t *engine.Table, a answer) {
	raw := 0
	html := strings.HasPrefix(a.header.Get("Content-Type"), "text/html")
	for _, p := range payloads[:5] {
		if html && bytes.Contains(a.body, []byte(p)) || bytes.Contains(a.body, []byte("<script>alert")) && html {
			raw++
		}
	}
	policy := a.header.Get("Content-Security-Policy")
	kept := strings.Contains(policy, "default-src 'none'") && !strings.Contains(policy, "script-src 'unsafe") && a.header.Get("X-Content-Type-Options") == "nosniff"
	row := t.Rows[len(t.Rows)-1]
	row[len(row)-2], row[len(row)-1] = fmt.Sprintf("%d, %d as they are", a.status, raw), fmt.Sprint(raw == 0 && kept && a.err == nil && a.status < http.StatusInternalServerError)
}

func marshalled(s string) []byte {
	text, _ := json.Marshal(s) // of ours
	return text
}
