package fill

import (
	"html"
	"html/template"
	"net/url"
	"strings"
	"testing"
)

// hostile are texts that break out of a page where they are not escaped, or hide what they are.
var hostile = []string{
	"<script>alert(1)</script>", "</p><script>alert(1)</script>", `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`, `" autofocus onfocus="alert(1)`, "</title><img src=x onerror=alert(1)>",
	"</style><script>alert(1)</script>", "</textarea><b>", "<!--", "--><script>", "<![CDATA[<b>]]>", "<?xml version=\"1.0\"?>", "&lt;script&gt;", "&#60;b&#62;", "&quot; onclick=x", "&", "&amp;amp;", "&notit;",
	"a\x00b<", "\x00", "\ufeff<b>", "\u202e<b>gnp.exe", "+ADw-script+AD4-", "\xff<b>\xc0\xbc", "\u2028alert\u2029", "{{.}}", "`${alert(1)}`", "\\\"><b>", "a\r\nSet-Cookie: x=y", "\t\n\f\v ",
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "java\tscript:alert(1)", "\x01javascript:alert(1)", "javascript&colon;alert(1)", "javascript&#58;alert(1)", "&#106;avascript:alert(1)",
	"%6aavascript:alert(1)", "javascript%3Aalert(1)", "vbscript:x", "data:text/html,<script>alert(1)</script>", "data:image/svg+xml;base64,PHN2Zz4=", "file:///etc/passwd", "blob:https://x/1", "http:javascript:alert(1)", "//evil.example/x", "\\\\evil.example\\x", "/\\evil.example",
	"https://evil.example/\" onclick=\"x", "https://a:b@evil.example:x/", "https://[::1/", "../../x?y=1&z=2#w", "/x;y=%zz", "?a=<b>&c='d'", "#\"><b>", "a b/../c?d&e=f#g+h", "\u00e9\U0001F600\u043a", "\uff0f\uff0fevil.example", "expression(alert(1))", "1;background:url(//evil.example)", "1}body{x:y", "12.5",
}

// standard fills a page by the standard library.
func standard(t *testing.T, page, data string) string {
	t.Helper()
	var out strings.Builder
	if err := template.Must(template.New("x").Parse(page)).Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// around splits a page at the data.
func around(page string) (before, after string) {
	before, after, _ = strings.Cut(page, "{{.}}")
	return before, after
}

// written returns what stands in a filled page where its data is.
func written(t *testing.T, page, filled string) string {
	t.Helper()
	before, after := around(page)
	if len(filled) < len(before)+len(after) || !strings.HasPrefix(filled, before) || !strings.HasSuffix(filled, after) {
		t.Fatalf("%q does not stand around what is written in %q", page, filled)
	}
	return filled[len(before) : len(filled)-len(after)]
}

// TestHostileTexts: in text and in attributes, what the standard library writes is written, but
// that it writes a plus as a number, which matters in UTF-7 alone.
func TestHostileTexts(t *testing.T) {
	for _, page := range []string{
		"<p>{{.}}</p>", "<title>{{.}}</title>", "<textarea>{{.}}</textarea>", "<svg><text>{{.}}</text></svg>", "<option value=\"x\">{{.}}</option>",
		`<p title="{{.}}">x</p>`, `<input value="{{.}}">`, `<p class="k-{{.}}">x</p>`, `<p id="f-{{.}}">x</p>`, `<p aria-label="{{.}}">x</p>`, `<p data-code="{{.}}">x</p>`,
	} {
		for _, data := range hostile {
			want := strings.ReplaceAll(standard(t, page, data), "&#43;", "+")
			got, err := pageOf(page, data)
			if err != nil || got != want {
				t.Errorf("%s with %q\n got %q (%v)\nwant %q", page, data, got, err, want)
			}
			if in := written(t, page, got); strings.ContainsAny(in, `<>"'`) || html.UnescapeString(in) != strings.ReplaceAll(data, "\x00", "\ufffd") {
				t.Errorf("%s: %q is written as %q", page, data, in)
			}
		}
	}
}

// TestHostileAddresses: an address that the standard library refuses is refused, and any other is
// refused or means the same; a part of an address stays one part.
func TestHostileAddresses(t *testing.T) {
	for _, page := range []string{`<a href="{{.}}">x</a>`, `<img src="{{.}}">`, `<form action="{{.}}">x</form>`} {
		taken := 0
		for _, data := range hostile {
			want := standard(t, page, data)
			got, err := pageOf(page, data)
			if err != nil {
				continue
			}
			taken++
			ours, theirs := html.UnescapeString(written(t, page, got)), html.UnescapeString(written(t, page, want))
			if strings.Contains(want, "ZgotmplZ") || strings.ContainsAny(written(t, page, got), `<>"'`) {
				t.Errorf("%s: %q is written as %q, by the standard library as %q", page, data, got, want)
			}
			u, err := url.Parse(ours)
			v, fault := url.Parse(theirs)
			if err != nil || fault != nil || u.Scheme != v.Scheme || u.Host != v.Host || u.Path != v.Path || u.Fragment != v.Fragment || u.Query().Encode() != v.Query().Encode() || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
				t.Errorf("%s: %q is written as %q (%v), by the standard library as %q (%v)", page, data, ours, err, theirs, fault)
			}
		}
		if taken < 20 {
			t.Errorf("%s: only %d addresses are taken", page, taken)
		}
	}
	for _, page := range []string{`<a href="/x?b={{.}}">x</a>`, `<a href="/data/{{.}}/rows">x</a>`, `<a href="#{{.}}">x</a>`, `<form action="/fits/{{.}}/cancel">x</form>`} {
		for _, data := range hostile {
			got, err := pageOf(page, data)
			if err != nil {
				t.Errorf("%s with %q: %v", page, data, err)
				continue
			}
			in := written(t, page, got)
			if back, err := url.PathUnescape(in); err != nil || back != data || strings.Trim(in, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%") != "" {
				t.Errorf("%s: %q is written as %q (%v)", page, data, in, err)
			}
			if before, _ := around(page); strings.HasSuffix(before, "=") && !strings.EqualFold(got, standard(t, page, data)) {
				t.Errorf("%s: got %q, want %q", page, got, standard(t, page, data))
			}
		}
	}
}

// TestHostileStyles: what is no number is refused in a style.
func TestHostileStyles(t *testing.T) {
	const page = `<i style="width:{{.}}%"></i>`
	for _, data := range hostile {
		got, err := pageOf(page, data)
		if err == nil && (got != standard(t, page, data) || strings.Trim(written(t, page, got), "0123456789.") != "") {
			t.Errorf("%q is written as %q", data, got)
		}
	}
}

// TestHostilePlaces: a template that writes data where markup, code or an address of another kind
// stands is refused, however its tags are written.
func TestHostilePlaces(t *testing.T) {
	for _, page := range []string{
		`<button formaction="{{.}}">x</button>`, `<img srcset="{{.}}">`, `<iframe srcdoc="{{.}}"></iframe>`, `<video poster="{{.}}"></video>`, `<object data="{{.}}"></object>`, `<a ping="{{.}}">x</a>`,
		`<use xlink:href="{{.}}"/>`, `<meta content="{{.}}">`, `<p ONCLICK="{{.}}">x</p>`, `<p onClick="{{.}}">x</p>`, "<p\tonclick=\"{{.}}\">x</p>", `<SCRIPT>{{.}}</SCRIPT>`, "<script\n>{{.}}</script>",
		"<script\ttype=\"module\">{{.}}</script>", `<script>"</b>"; {{.}}</script>`, `<script>1</script ><script>{{.}}</script>`, `<STYLE>{{.}}</STYLE>`, `<style></b>{{.}}</style>`, `<{{.}}>`, `<p {{.}}="x">x</p>`, `</{{.}}>`,
	} {
		if got, err := pageOf(page, "x"); err == nil {
			t.Errorf("%s is filled: %s", page, got)
		}
	}
	for _, page := range []string{`<a HREF="{{.}}">x</a>`, "<a\thref=\"{{.}}\">x</a>"} {
		if got, err := pageOf(page, "javascript:alert(1)"); err == nil {
			t.Errorf("%s is filled: %s", page, got)
		}
	}
}
