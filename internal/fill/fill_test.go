package fill

import (
	"errors"
	"html/template"
	"strings"
	"testing"
	"testing/fstest"
	texts "text/template"
)

// A thing has all that templates name.
type thing struct {
	Name   string
	Count  int
	Share  float64
	On     bool
	List   []string
	Rows   [][]float64
	Map    map[string]int
	Next   *thing
	Error_ error
	inner
}

type inner struct{ Deep string }

var things = map[string]any{"join": strings.Join, "half": func(x float64) float64 { return x / 2 }, "fails": func() (string, error) { return "", errors.New("no") }}

func aThing() *thing {
	return &thing{Name: `<b>&"O'Hara"`, Count: 3, Share: .25, List: []string{"a", "b b", "c?"}, Rows: [][]float64{{1, 2}, {3}}, Map: map[string]int{"k": 7},
		Next: &thing{Name: "next"}, Error_: errors.New("broken"), inner: inner{"deep"}}
}

// plain are templates that the standard library fills with the same text.
var plain = []string{
	"{{.Name}} {{.Count}} {{.Share}} {{.On}} {{.Deep}} {{.Error_}}",
	"{{if .On}}on{{else if eq .Count 3}}three{{else}}off{{end}}",
	"{{with .Next}}{{.Name}} of {{$.Count}}{{end}}{{with .Next.Next}}no{{else}}none{{end}}",
	"{{range $i, $x := .List}}{{if $i}}, {{end}}{{$x}}{{end}}{{range .Map}}{{.}}{{end}}",
	"{{range .Next.List}}x{{else}}empty{{end}}{{$n := 1}}{{range .List}}{{$n = len $.List}}{{end}}{{$n}}",
	"{{index .List 1}} {{index .Rows 0 | len}} {{(index .Rows 1 | len)}} {{index .Map \"k\"}} {{slice .Name 0 3}} {{len (slice .List 1)}}",
	"{{and .On .Count}} {{or .Name .Count}} {{not .On}} {{gt .Share 0.1}} {{le .Count 3}} {{lt 2 .Count}} {{ge .Share 1.0}} {{ne .Name \"x\"}} {{eq .On false}}",
	"{{printf \"%-5s|%3d\" \"ab\" .Count}} {{print .Count .Share}} {{join .List \"; \"}} {{half 3}} {{half .Share}} {{.Share | half | printf \"%.2f\"}}",
	"{{define \"part\"}}[{{.}}]{{end}}{{template \"part\" .Count}}{{template \"part\" \"x\"}} {{- \" y\" -}} z",
}

// TestTwin: texts and pages are those of the standard library.
func TestTwin(t *testing.T) {
	for _, source := range plain {
		if strings.Contains(source, "range .Map") {
			source = strings.Replace(source, "{{range .Map}}{{.}}{{end}}", "", 1) // maps are not ranged over
		}
		var want, got strings.Builder
		if err := texts.Must(texts.New("x").Funcs(things).Parse(source)).Execute(&want, aThing()); err != nil {
			t.Fatal(err)
		}
		if err := Text("x", source, things).Execute(&got, "x", aThing()); err != nil || got.String() != want.String() {
			t.Errorf("%s\n got %q (%v)\nwant %q", source, got.String(), err, want.String())
		}
		page := `<p class="{{.Name}}" title="x">` + source + `</p>`
		want.Reset()
		got.Reset()
		if err := template.Must(template.New("x").Funcs(things).Parse(page)).Execute(&want, aThing()); err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{"x": {Data: []byte(page)}}
		if err := HTML(files, "x", things).Execute(&got, "x", aThing()); err != nil || got.String() != want.String() {
			t.Errorf("%s\n got %q (%v)\nwant %q", page, got.String(), err, want.String())
		}
	}
}

// pageOf fills a page.
func pageOf(source string, data any) (page string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("refused")
		}
	}()
	var out strings.Builder
	err = HTML(fstest.MapFS{"x": {Data: []byte(source)}}, "x", Funcs{"Size": func(s []string) int { return len(s) }}).Execute(&out, "x", data)
	return out.String(), err
}

// TestPlaces: data is escaped for the place where it stands.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ source, data, want string }{
		{`<p>{{.}}</p>`, `<script>"'&`, `<p>&lt;script&gt;&#34;&#39;&amp;</p>`},
		{`<p title="{{.}}"{{if .}} id="a"{{end}}>x</p>`, `" onclick="x`, `<p title="&#34; onclick=&#34;x" id="a">x</p>`},
		{`<a href="{{.}}">x</a>`, `/plan?a=1&b=2`, `<a href="/plan?a=1&amp;b=2">x</a>`},
		{`<a href="/data/{{.}}">x</a>`, `a b/../c?d&e"`, `<a href="/data/a%20b%2F..%2Fc%3Fd%26e%22">x</a>`},
		{`<a href="/x?b={{.}}&amp;c={{.}}">x</a>`, `1&2`, `<a href="/x?b=1%262&amp;c=1%262">x</a>`},
		{`<a href="#{{.}}">x</a>`, `group-1`, `<a href="#group-1">x</a>`},
		{`<i style="width:{{.}}%"></i>`, `12.5`, `<i style="width:12.5%"></i>`},
		{`<title>{{.}}</title>`, `</title>`, `<title>&lt;/title&gt;</title>`},
	} {
		if got, err := pageOf(c.source, c.data); err != nil || got != c.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", c.source, got, err, c.want)
		}
	}
	if got, err := pageOf(`<style>{{.}}</style><p>{{.Size}}</p>`, struct {
		Raw
		Size int
	}{"a", 1}); err == nil {
		t.Errorf("a struct is style: %s", got)
	}
	if got, err := pageOf(`<style>{{.}}</style>`, Raw("p > a { b: c }")); err != nil || got != "<style>p > a { b: c }</style>" {
		t.Errorf("got %s (%v)", got, err)
	}
}

// TestRefused: what could let data act as markup is refused.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		source string
		data   any
	}{
		{`<a href="{{.}}">x</a>`, "javascript:alert(1)"},
		{`<a href="{{.}}">x</a>`, "data:text/html,x"},
		{`<i style="width:{{.}}">x</i>`, "1;background:url(x)"},
		{`<style>{{.}}</style>`, "p{}"},
		{`<style>{{.}}</style>`, Raw("</style>")},
		{`<p>{{.}}</p>`, Raw("<b>")},
		{`<script>{{.}}</script>`, "x"},
		{`<p onclick="{{.}}">x</p>`, "x"},
		{`<p title={{.}}>x</p>`, "x"},
		{`<p title='{{.}}'>x</p>`, "x"},
		{`<p {{.}}>x</p>`, "x"},
		{`<p><!-- {{.}} --></p>`, "x"},
		{`<p{{if .}} title="a{{end}}>x</p>`, "x"},
		{`<p title="{{.}}`, "x"},
		{`{{define "a"}}{{.}}{{end}}<p>{{template "a" .}}</p><a href="{{template "a" .}}">x</a>`, "x"},
	} {
		if got, err := pageOf(c.source, c.data); err == nil {
			t.Errorf("%s with %v is filled: %s", c.source, c.data, got)
		}
	}
}

// TestFailures: what a template names and is not there is an error, and nothing is written.
func TestFailures(t *testing.T) {
	for _, source := range []string{"a{{.Nothing}}", "{{.Next.Next.Name}}", "{{index .List 9}}", "{{fails}}", "{{half .Name}}", "{{lt .Name 1}}", "{{template \"none\"}}", "{{range .Count}}{{end}}", "{{.inner}}"} {
		var out strings.Builder
		if err := Text("x", source, things).Execute(&out, "x", aThing()); err == nil || out.Len() > 0 {
			t.Errorf("%s: got %q, %v", source, out.String(), err)
		}
	}
}

// TestFunctionOfValue: a name that is no field is a function of what stands there.
func TestFunctionOfValue(t *testing.T) {
	var out strings.Builder
	set := Text("x", "{{.List.Size}} {{.Next.Full}} {{.Error_.Text}}", Funcs{"Size": func(s []string) int { return len(s) }, "Full": func(x *thing) string { return x.Name + "!" }, "Text": error.Error})
	if err := set.Execute(&out, "x", aThing()); err != nil || out.String() != "3 next! broken" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
