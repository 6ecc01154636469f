package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	keep   = flag.String("keep", "", "write the pages of the tests to this folder, to be looked at")
)

func htmlOf(t testing.TB, r *release.Release, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	for name, r := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Text(&b, r); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != string(want) {
				t.Errorf("text differs from %s; if it should, run the test with -update.\ngot:\n%s\nwant:\n%s", file, got, want)
			}
		})
	}
}

var svgElement = regexp.MustCompile(`(?s)<svg .*?</svg>`)

// TestPages checks what has to hold for every page whatsoever.
func TestPages(t *testing.T) {
	for name, r := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			page := htmlOf(t, r, Options{})
			if *keep != "" {
				if err := os.WriteFile(filepath.Join(*keep, name+".html"), []byte(page), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if again := htmlOf(t, r, Options{}); again != page {
				t.Error("two pages of one release differ")
			}
			checkClosed(t, page)
			checkReferences(t, page)
			for _, svg := range svgElement.FindAllString(page, -1) {
				checkPicture(t, svg)
			}
			groups, background := r.Model.Split()
			for i := range len(r.Model.Components) {
				want := 0
				if slices.Contains(groups, i) {
					want = 2
				}
				row := regexp.MustCompile(`aria-hidden="true"></span>` + strconv.Itoa(i+1) + `( <span class="sd called">[^<]*</span>)?</th>`)
				if got := len(row.FindAllString(page, -1)); got != want {
					t.Errorf("component %d: wanted in %d tables, got %d", i+1, want, got)
				}
			}
			if said := strings.Contains(page, "<p>Background: "); said != (background != nil) {
				t.Errorf("a line on the background: %v, with %d components in it", said, len(background))
			}
			for _, bad := range []string{"NaN", "Inf", "ZgotmplZ", "%!"} {
				if strings.Contains(page, bad) {
					t.Errorf("page holds %q: ...%s", bad, around20(page, bad))
				}
			}
		})
	}
}

func around20(page, s string) string {
	i := strings.Index(page, s)
	return page[max(0, i-60):min(len(page), i+60)]
}

// checkClosed: the page loads nothing and runs nothing.
func checkClosed(t *testing.T, page string) {
	t.Helper()
	rest := strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, bad := range []string{"http://", "https://", "<script", "<link", "<img", "<iframe", "src=", "@import", "url(", "javascript:"} {
		if i := strings.Index(strings.ToLower(rest), bad); i >= 0 && !escapedText(rest[i:], bad) {
			t.Errorf("page holds %q: ...%s", bad, around20(rest, rest[i:i+len(bad)]))
		}
	}
	// values hold no quotes, and no handler either
	rest = regexp.MustCompile(`="[^"]*"`).ReplaceAllString(rest, `=""`)
	if regexp.MustCompile(`<[^>]*\son[a-z]+\s*=`).MatchString(rest) {
		t.Error("page holds an event handler")
	}
}

// escapedText: the hostile fixture's names hold "src=" as text, which is harmless where no tag can
// hold it.
func escapedText(at, bad string) bool { return bad == "src=" && strings.HasPrefix(at, "src=x onerror") }

// checkReferences: ids are unique, and every id that is referred to is there.
func checkReferences(t *testing.T, page string) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if seen[m[1]] {
			t.Errorf("id %q is there twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`aria-(?:labelledby|describedby)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !seen[m[1]] {
			t.Errorf("id %q is referred to and not there", m[1])
		}
	}
}

// checkPicture: well-formed, scalable, described, and without a colour or a font of its own.
func checkPicture(t *testing.T, svg string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("svg is not well-formed: %v", err)
		}
	}
	head, _, _ := strings.Cut(svg, ">")
	for _, want := range []string{`viewBox="0 0 `, `width="100%"`, `role="img"`, `aria-labelledby=`} {
		if !strings.Contains(head, want) {
			t.Errorf("svg lacks %s: %s", want, head)
		}
	}
	for _, want := range []string{"<title ", "<desc "} {
		if !strings.Contains(svg, want) {
			t.Errorf("svg lacks %s", want)
		}
	}
	for _, bad := range []string{"#A5", "font-family", "style=", "currentColor"} {
		if strings.Contains(svg, bad) {
			t.Errorf("svg holds %q: ...%s", bad, around20(svg, bad))
		}
	}
	for _, m := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		if !strings.Contains(styleSource, "."+m[1]+" ") && !strings.Contains(styleSource, "."+m[1]+",") {
			t.Errorf("class %q has no style", m[1])
		}
	}
}

// TestOrder: the sections stand in the order that a reader needs them.
func TestOrder(t *testing.T) {
	page := htmlOf(t, typical(t), Options{})
	last := -1
	for _, section := range []string{"<h1>", `id="promise"`, `id="verdict"`, `id="sign"`, `id="overall"`, `id="components"`, `id="marginals"`, `id="pairs"`, `id="diagnostics"`, `id="plain"`,
		`id="appendix"`, `id="budget"`, `id="certificate"`, `id="use"`} {
		at := strings.Index(page, section)
		if at <= last {
			t.Errorf("%s: wanted after the section before it, got place %d after %d", section, at, last)
		}
		last = at
	}
}

// TestComponentsInPictures: each component that is not background is in each picture, and
// background in none.
func TestComponentsInPictures(t *testing.T) {
	pictures := svgElement.FindAllString(htmlOf(t, typical(t), Options{}), -1)
	if want := 3 + 3; len(pictures) != want {
		t.Fatalf("pictures: wanted %d, got %d", want, len(pictures))
	}
	for at, svg := range pictures {
		for i := range 4 {
			drawn := strings.Contains(svg, `"f-`+partClass(i)+`"`)
			if want := i < 3; drawn != want {
				t.Errorf("picture %d, component %d: wanted drawn = %v, got %v", at, i+1, want, drawn)
			}
			if named := strings.Contains(svg, "component "+strconv.Itoa(i+1)+":"); named != (i < 3) {
				t.Errorf("picture %d, component %d: described = %v", at, i+1, named)
			}
		}
	}
}

// TestNoFlags: nothing is called free of flags that has one, be it of a component.
func TestNoFlags(t *testing.T) {
	const none = "None: no flags"
	r := certified(typical(t).Model)
	if page := htmlOf(t, r, Options{}); !strings.Contains(page, none) {
		t.Error("without a flag: the page does not say so")
	}
	r.Diagnostics.Components = []release.ComponentNote{{}, {Flags: []release.Flag{{Code: flags.FewRows, Text: "thin"}}}, {}, {}}
	if page := htmlOf(t, r, Options{}); strings.Contains(page, none) || !strings.Contains(page, "Nothing beyond the flags above") {
		t.Error("a component with a flag: the page says that there is none, or nothing")
	}
	r.Diagnostics = release.Diagnostics{Flags: []release.Flag{{Code: flags.OutlierGroup, Text: "far rows"}}}
	if page := htmlOf(t, r, Options{}); strings.Contains(page, none) {
		t.Error("a flag: the page says that there is none")
	}
}

// TestNoise: a component whose numbers are noise has a share in a line and no numbers, and one that
// is alone is shown none the less.
func TestNoise(t *testing.T) {
	r := typical(t)
	r.Diagnostics.Components[2].EffectiveNoise = 2.5
	page := htmlOf(t, r, Options{})
	if !strings.Contains(page, "<p>Not shown: 1 component, with 10 % of the rows") || strings.Contains(page, "17.9 <") {
		t.Error("a component that is noise: the page shows its mean, or says nothing")
	}
	r.Diagnostics.Components[0].EffectiveNoise, r.Diagnostics.Components[1].EffectiveNoise = 3, 3
	if page = htmlOf(t, r, Options{}); strings.Contains(page, "Not shown") || !strings.Contains(page, "17.9 <") {
		t.Error("nothing but components that are noise: wanted all of them")
	}
}

// TestCoreOfLogarithms: where the mean and the sd of the core are those of a column's logarithms,
// which the columns' other figures are not, text and page say so.
func TestCoreOfLogarithms(t *testing.T) {
	r, least := typical(t), 0.
	r.Columns = []release.Column{{Name: "age", Kind: release.KindLog, AtLeast: &least}, {Name: "bmi"}, {Name: "blood pressure"}}
	r.Keep()
	r.Diagnostics.Core = &release.Core{Share: .98, Mean: []float64{3.5, 25, 120}, Covariance: [][]float64{{.25, 0, 0}, {0, 9, 0}, {0, 0, 81}}}
	var text bytes.Buffer
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(htmlOf(t, r, Options{}))
	if !strings.Contains(text.String(), "age, as log(1 + x) 3.5 (0.5)") || !strings.Contains(page, "age, as log(1 + x)</bdi>: 3.5, 0.5") {
		t.Errorf("the core is of no logarithms:\n%s\n%s", text.String(), page)
	}
}

// TestLimitsOfColumns: no density is drawn where no value can be.
func TestLimitsOfColumns(t *testing.T) {
	r, least, most := typical(t), 10., 70.
	r.Columns = []release.Column{{Name: "age", AtLeast: &least, AtMost: &most}, {Name: "bmi"}, {Name: "blood pressure"}}
	r.Keep()
	parts := partsOf(r)
	a := newAxis(parts, 0, marginalReach, 7)
	if lo, hi := a.centre+a.unit*a.lo, a.centre+a.unit*a.hi; math.Abs(lo-10) > 1e-9 || math.Abs(hi-70) > 1e-9 {
		t.Errorf("the axis shows %v to %v", lo, hi)
	}
	_, total, _ := densities(parts, 0, a)
	mass := 0.0
	for i := 1; i < len(total); i++ {
		mass += (total[i].X - total[i-1].X) * (total[i].Y + total[i-1].Y) / 2
	}
	if math.Abs(mass-.95) > .002 { // the background has the rest
		t.Errorf("the density has the mass %v", mass)
	}
	if page := htmlOf(t, r, Options{}); strings.Contains(page, "NaN") {
		t.Error("the page holds NaN")
	}
}

func TestHostileNames(t *testing.T) {
	r := hostile(t)
	page := htmlOf(t, r, Options{Title: script, File: `"; rm -rf * #` + script})
	for _, want := range []string{"gauze sample &#39;&#34;; rm -rf * #&lt;script&gt;", "&lt;script&gt;alert(", "体重（キログラム）", "(column 6)", "very_long_name_very_long_name_"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, bad := range []string{"\u202e", "\x1b", "\x00", "</style>" + script, "<img"} {
		if strings.Contains(page, bad) {
			t.Errorf("page holds %q", bad)
		}
	}
	var b bytes.Buffer
	if err := Text(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.String() {
		if c < ' ' && c != '\n' || c == '\u202e' || c == '\x7f' {
			t.Errorf("text holds the control character %q", c)
		}
	}
}

func TestLimits(t *testing.T) {
	r := certified(random(t, 7, 2))
	page := htmlOf(t, r, Options{MaxColumns: 3, MaxPairs: 4})
	for _, want := range []string{"The first 3 of 7 columns are drawn.", "Of 21 pairs the 4 most telling are drawn"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if got := strings.Count(page, "<svg "); got != 3+4 {
		t.Errorf("pictures: wanted 7, got %d", got)
	}
}

// TestSizeAndTime holds the page of ten columns and eight components to its promises.
func TestSizeAndTime(t *testing.T) {
	r := certified(random(t, 10, 8))
	start := time.Now()
	page := htmlOf(t, r, Options{})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("time: wanted at most 3 s, got %v", took)
	}
	if len(page) > 1_500_000 {
		t.Errorf("size: wanted at most 1.5 MB, got %d bytes", len(page))
	}
	t.Logf("%d bytes in %v", len(page), time.Since(start))
}

func TestRefusals(t *testing.T) {
	broken := typical(t)
	broken.Model.Weights[0] = 2
	for name, r := range map[string]*release.Release{"nil": nil, "no model": {}, "weights": broken} {
		if err := HTML(io.Discard, r, Options{}); err == nil {
			t.Errorf("%s: wanted an error of HTML, got none", name)
		}
		if err := Text(io.Discard, r); err == nil {
			t.Errorf("%s: wanted an error of Text, got none", name)
		}
	}
	full := errors.New("disk full")
	if err := HTML(failing{full}, typical(t), Options{}); !errors.Is(err, full) {
		t.Errorf("HTML: wanted the writer's error, got %v", err)
	}
	if err := Text(failing{full}, typical(t)); !errors.Is(err, full) {
		t.Errorf("Text: wanted the writer's error, got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestConcurrent: pages may be made side by side, as a server does.
func TestConcurrent(t *testing.T) {
	r := typical(t)
	want := htmlOf(t, r, Options{})
	for range 4 {
		t.Run("page", func(t *testing.T) {
			t.Parallel()
			if htmlOf(t, r, Options{}) != want {
				t.Error("a page made beside others differs")
			}
		})
	}
}

// TestSigned: what a board signs is on the page and in print: the promise before what was found,
// the certificate, and lines for purpose, earlier releases, budget, name, signature and date; and ±
// is said of noise and sampling alone, while the spread of a component stands in brackets.
func TestSigned(t *testing.T) {
	page := htmlOf(t, typical(t), Options{})
	for _, part := range []string{"<strong>The promise.</strong> Everybody with one row in the table.", "Purpose of the release", "Earlier releases of the same people",
		"Budget that remains", "Name and office", "<dt>Signature</dt>", "<dt>Date</dt>", `<details id="appendix" open>`, "Mean (standard deviation)"} {
		if strings.Count(page, part) != 1 {
			t.Errorf("%d times %q", strings.Count(page, part), part)
		}
	}
	print := styleSource[strings.LastIndex(styleSource, "@media print"):]
	for line := range strings.Lines(print) {
		if strings.Contains(line, "display: none") && (strings.Contains(line, "appendix") || strings.Contains(line, "sign")) {
			t.Errorf("not in print: %s", line)
		}
	}
	if regexp.MustCompile(`<span class="sd">\(?±`).MatchString(page[strings.Index(page, "Mean (standard deviation)"):strings.Index(page, `id="marginals"`)]) {
		t.Error("± stands for a spread")
	}
	bare := typical(t)
	bare.Certificate = release.Certificate{}
	if page := htmlOf(t, bare, Options{}); strings.Contains(page, `id="sign"`) || strings.Contains(page, `id="promise"`) {
		t.Error("a bare model has a promise to sign")
	}
}

// TestBackgroundFloor: a background of .077 % is in every fit, and nothing is said of it.
func TestBackgroundFloor(t *testing.T) {
	for share, told := range map[float64]bool{.00077: false, .02: true} {
		r := typical(t)
		r.Model.Weights = []float64{.5, .3, .2 - share, share}
		r.Model.Components = append(r.Model.Components[:3:3], r.Model.Components[0])
		r.Model.Background = []bool{false, false, false, true}
		if page := htmlOf(t, r, Options{}); strings.Contains(page, "<dt>background</dt>") != told || strings.Contains(page, "Background: ") != told {
			t.Errorf("%g: told is %v", share, !told)
		}
	}
}
