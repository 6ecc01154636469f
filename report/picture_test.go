package report

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// TestEllipse: every point of the ellipse has the Mahalanobis distance it stands for.
func TestEllipse(t *testing.T) {
	g := gaussian(t, []float64{3, -2}, []float64{4, 1.5, 1.5, 1})
	q := newPart(mixture(t, nil, []float64{1}, g), 0)
	a := axis{unit: 1}
	for _, p := range ellipse(q, pair{a: 0, b: 1}, a, a, 2) {
		x, y := p.X-3, p.Y+2
		det := 4*1 - 1.5*1.5
		if z2 := (1*x*x - 2*1.5*x*y + 4*y*y) / det; math.Abs(z2-4) > 1e-9 {
			t.Errorf("point %v: wanted squared distance 4, got %v", p, z2)
		}
	}
}

func TestTelling(t *testing.T) {
	m := mixture(t, nil, []float64{0.5, 0.5},
		gaussian(t, []float64{0, 0, 0, 0, 0, 9}, []float64{1, 0.95, 0, 0, 0, 0, 0.95, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}),
		gaussian(t, []float64{0, 0, 0, 8, 0, 9}, []float64{1, 0.95, 0, 0, 0, 0, 0.95, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}))
	parts := partsOf(certified(m))
	pairs, of := pairsOf(parts, 6, 5)
	if of != 10 {
		t.Errorf("pairs: wanted 10, those of five columns with a spread, got %d", of)
	}
	for _, p := range pairs {
		if p.a == 5 || p.b == 5 {
			t.Errorf("the constant column is in the pair %+v", p)
		}
		related := p.a == 0 && p.b == 1
		apart := p.a == 3 || p.b == 3
		if !related && !apart {
			t.Errorf("pair %+v tells nothing, yet is among the first five", p)
		}
		if related && math.Abs(p.related-0.95) > 1e-9 {
			t.Errorf("correlation: wanted 0.95, got %v", p.related)
		}
		// variance 1 within, 16 between
		if want := 1 - 1.0/17; apart && math.Abs(p.separation-want) > 1e-6 {
			t.Errorf("separation: wanted %v, got %v", want, p.separation)
		}
	}
}

// TestAllBackground: a model of nothing but background, or of parts without weight, is drawn none
// the less.
func TestAllBackground(t *testing.T) {
	r := typical(t)
	r.Model.Background = []bool{true, true, true, true}
	if drawn := partsOf(r); len(drawn) != 4 {
		t.Errorf("wanted 4 parts drawn, got %d", len(drawn))
	}
	r = typical(t)
	r.Model.Weights = []float64{0, 0, 0, 1}
	if page := htmlOf(t, r, Options{}); strings.Contains(page, "NaN") {
		t.Error("parts without weight: the page holds NaN")
	}
}

// TestPicture: a picture's axes span its plane, and its words are escaped.
func TestPicture(t *testing.T) {
	a := newAxis(onePart(10, 2), 0, 3, 6)
	p := newPicture(300, 200, a, a, "<x>", "y")
	if x, y := p.at(point{a.lo, a.hi}); x != p.left || y != p.top {
		t.Errorf("the upper left corner stands at (%v, %v), want (%v, %v)", x, y, p.left, p.top)
	}
	p.ID, p.Title = "id", `t"<`
	p.dot("c0", 2, point{})
	p.number(part{index: 4}, point{}, 9)
	var b strings.Builder
	if err := pages().Execute(&b, "svg.html", p); err != nil {
		t.Fatal(err)
	}
	checkPicture(t, b.String())
	for _, want := range []string{"&lt;x&gt;", ">5</text>", `class="f-c0"`, `<title id="id-t">t`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestBudget(t *testing.T) {
	budgetOf := func(c release.Certificate) (page string, shares float64) {
		var b bytes.Buffer
		if err := HTMLNoRelease(&b, NoRelease{Reason: "none", Certificate: c}, Options{}); err != nil {
			t.Fatal(err)
		}
		page = b.String()
		rows, _, _ := strings.Cut(page, "Spent and asked")
		for _, width := range regexp.MustCompile(`width:([0-9.]+)%`).FindAllStringSubmatch(rows, -1) {
			share, err := strconv.ParseFloat(width[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			shares += share
		}
		return page, shares
	}
	if page, shares := budgetOf(typical(t).Certificate); math.Abs(shares-100) > 0.2 || strings.Contains(page, "Rényi") {
		t.Errorf("shares: wanted a sum of 100 without remark, got %v in %s", shares, page)
	}
	page, _ := budgetOf(hostile(t).Certificate)
	for _, want := range []string{">Rényi curve of 2 orders, 0.1 nats at order 2</td>", "</span> –</td>", "A step with a Rényi curve"} {
		if !strings.Contains(page, want) {
			t.Errorf("Rényi step: no %q in %s", want, page)
		}
	}
	page, _ = budgetOf(release.Certificate{Rho: 0.5, Spent: release.Spent{Rho: 0.25}})
	for _, want := range []string{`epsilon that ρ implies at δ = 1e-6</span></th><td class="n">5.2`, `<td class="n">0.5</td><td class="n">0.25</td>`, "width:50%"} {
		if !strings.Contains(page, want) {
			t.Errorf("zCDP budget: no %q in %s", want, page)
		}
	}
	if strings.Contains(page, ">δ <") {
		t.Errorf("zCDP budget: a delta of its own in %s", page)
	}
}
