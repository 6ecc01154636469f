package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// verdictOf is all points of a release's verdict.
func verdictOf(t *testing.T, r *release.Release) string {
	t.Helper()
	var b strings.Builder
	for _, v := range newPage(r, Options{}).Verdict {
		b.WriteString(v.Heading + "\n" + strings.Join(v.Points, "\n") + "\n")
	}
	return b.String()
}

// TestVerdict: what a release cannot be trusted in is said on top of its page, and what is not
// known is not praised.
func TestVerdict(t *testing.T) {
	said := verdictOf(t, typical(t))
	for _, want := range []string{"3 components over 3 columns", "number 1 (", "number 3 is right in about 93 %", "most likely 4", "95 % of the rows", "component 1: not bell-shaped", "6.1 % of the rows", "flags below"} {
		if !strings.Contains(said, want) {
			t.Errorf("wanted %q in:\n%s", want, said)
		}
	}
	noisy := typical(t)
	for i := range noisy.Diagnostics.Components {
		noisy.Diagnostics.Components[i].EffectiveNoise = .9
	}
	noisy.Certificate.Schema = release.SchemaInferred
	said = verdictOf(t, noisy)
	for _, want := range []string{"only orders of magnitude", "components 1, 2 and 3: spread not known", "looking at cells"} {
		if !strings.Contains(said, want) {
			t.Errorf("wanted %q in:\n%s", want, said)
		}
	}
	silent := typical(t)
	silent.Diagnostics.Components = nil
	if said = verdictOf(t, silent); !strings.Contains(said, "does not say how noisy") || strings.Contains(said, "can be quoted") {
		t.Errorf("of unknown noise:\n%s", said)
	}
	exact := typical(t)
	for i := range exact.Diagnostics.Components {
		exact.Diagnostics.Components[i].EffectiveNoise = 1e-4
	}
	if said = verdictOf(t, exact); !strings.Contains(said, "less than chance") {
		t.Errorf("of next to no noise:\n%s", said)
	}
}

// TestCalled: components are named by where they differ most, and a single one is not.
func TestCalled(t *testing.T) {
	rows := newPage(typical(t), Options{}).Components
	if got := rows[2].Called; got != "low age, low bmi" {
		t.Errorf("component 3 is called %q", got)
	}
	if got := rows[1].Called; !strings.Contains(got, "high ") || strings.Contains(got, "low ") {
		t.Errorf("component 2 is called %q", got)
	}
	if got := newPage(fixtures(t)["single"], Options{}).Components[0].Called; got != "" {
		t.Errorf("a single component is called %q", got)
	}
}

// TestContrast: on paper and panel, light, dark and printed, text has the contrast 4.5 that WCAG 2
// asks for, and lines of components 3.
func TestContrast(t *testing.T) {
	themes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(styleSource, -1)
	if len(themes) != 3 {
		t.Fatalf("%d themes", len(themes))
	}
	for i, theme := range themes {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{6})`).FindAllStringSubmatch(theme[1], -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for name, least := range map[string]float64{"ink": 4.5, "soft": 4.5, "warn": 4.5, "axis": 3, "mix": 3, "bar": 3,
			"c0": 3, "c1": 3, "c2": 3, "c3": 3, "c4": 3, "c5": 3, "c6": 3, "c7": 3} {
			for _, paper := range []string{"paper", "panel", "warn-paper"} {
				if paper == "warn-paper" && name != "warn" || paper == "panel" && least < 4.5 {
					continue
				}
				a, b := colours[name], colours[paper]
				if c := (max(a, b) + .05) / (min(a, b) + .05); !(c >= least) {
					t.Errorf("theme %d: %s on %s has the contrast %.2f", i, name, paper, c)
				}
			}
		}
	}
}

// luminance is the relative luminance of WCAG 2 of a colour in hexadecimal.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.
	for i, weight := range []float64{.2126, .7152, .0722} {
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		x := float64(v) / 255
		if x <= .04045 {
			x /= 12.92
		} else {
			x = math.Pow((x+.055)/1.055, 2.4)
		}
		sum += weight * x
	}
	return sum
}
