package report

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// area enclosed by a ring, positive if it turns to the left.
func area(ring []point) float64 {
	sum := 0.0
	for i, p := range ring {
		q := ring[(i+1)%len(ring)]
		sum += (p.X*q.Y - q.X*p.Y) / 2
	}
	return sum
}

func square(n int, f func(x, y float64) float64) grid {
	a := axis{lo: -3, hi: 3, unit: 1}
	g := grid{nx: n, ny: n, x: a, y: a, z: make([]float64, n*n)}
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			g.z[j*n+i] = f(g.px(float64(i)), g.py(float64(j)))
		}
	}
	return g
}

// TestRings: level lines of a bell enclose the disc that they should, and those of a crater turn
// the other way inside.
func TestRings(t *testing.T) {
	bell := square(81, func(x, y float64) float64 { return math.Exp(-(x*x + y*y) / 2) })
	rings := bell.rings(math.Exp(-0.5))
	if len(rings) != 1 {
		t.Fatalf("bell: wanted 1 ring, got %d", len(rings))
	}
	if got := area(rings[0]); math.Abs(got-math.Pi) > 0.01 {
		t.Errorf("bell: wanted area π, got %v", got)
	}
	crater := square(81, func(x, y float64) float64 { r := math.Hypot(x, y); return math.Exp(-(r - 1.5) * (r - 1.5) * 8) })
	rings = crater.rings(math.Exp(-2.0)) // 1 < r < 2
	if len(rings) != 2 {
		t.Fatalf("crater: wanted 2 rings, got %d", len(rings))
	}
	if got := area(rings[0]) + area(rings[1]); math.Abs(got-3*math.Pi) > 0.05 {
		t.Errorf("crater: wanted area 3π, the inner ring counted as a hole, got %v", got)
	}
}

// TestSaddles: whatever the ground, lines close and the area does not depend on how saddles are cut
// by more than they can.
func TestSaddles(t *testing.T) {
	n := 41
	board := square(n, func(x, y float64) float64 {
		if (int(math.Round((x+3)/6*float64(n-1)))+int(math.Round((y+3)/6*float64(n-1))))%2 == 0 {
			return 1
		}
		return 0
	})
	for _, level := range []float64{0.3, 0.5, 0.7} {
		crossings := 0
		for _, ring := range board.rings(level) {
			crossings += len(ring)
			for i, p := range ring {
				q := ring[(i+1)%len(ring)]
				if step := 6 / float64(n-1); math.Abs(p.X-q.X) > step*1.001 || math.Abs(p.Y-q.Y) > step*1.001 {
					t.Fatalf("level %v: a line jumps from %v to %v", level, p, q)
				}
			}
		}
		// Each of the (n-2)^2 inner points differs from its neighbours, and zeros of the frame
		// count as low ground.
		want := 0
		for j := range n {
			for i := range n {
				if i+1 < n && (board.at(i, j) >= level) != (board.at(i+1, j) >= level) {
					want++
				}
				if j+1 < n && (board.at(i, j) >= level) != (board.at(i, j+1) >= level) {
					want++
				}
			}
		}
		if crossings != want {
			t.Errorf("level %v: wanted every of %d crossings once, got %d", level, want, crossings)
		}
	}
}

// TestLevels: of a standard Gaussian over two columns, the share s lies where z^2 < -2 log(1-s).
func TestLevels(t *testing.T) {
	g := square(161, func(x, y float64) float64 { return math.Exp(-(x*x + y*y) / 2) })
	for i, level := range g.levels(shadeShares) {
		want := 1 - shadeShares[i]
		if math.Abs(level-want) > 0.03 {
			t.Errorf("share %v: wanted level %v, got %v", shadeShares[i], want, level)
		}
	}
}

// TestEllipse: every point of the ellipse has the Mahalanobis distance it stands for.
func TestEllipse(t *testing.T) {
	g := gaussian(t, []float64{3, -2}, []float64{4, 1.5, 1.5, 1})
	q := newPart(mixture(t, nil, []float64{1}, g), 0, nil)
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
	if err := pageTemplate.ExecuteTemplate(&b, "svg.html", p); err != nil {
		t.Fatal(err)
	}
	checkPicture(t, b.String())
	for _, want := range []string{"&lt;x&gt;", ">5</text>", `class="f-c0"`, `<title id="id-t">t`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestBudgetRows(t *testing.T) {
	rows, remark := budgetRows(typical(t).Certificate)
	total := 0.0
	for _, row := range rows {
		total += row.Percent
	}
	if math.Abs(total-100) > 0.2 || remark != "" {
		t.Errorf("shares: wanted a sum of 100 without remark, got %v, %q", total, remark)
	}
	rows, remark = budgetRows(hostile(t).Certificate)
	if want := "Rényi curve of 2 orders, 0.1 nats at order 2"; rows[1].Renyi != want || rows[1].Share != "–" || remark == "" {
		t.Errorf("Rényi step: wanted %q without a share and a remark, got %+v, %q", want, rows[1], remark)
	}
	if rows := spentRows(release.Certificate{Rho: 0.5, Spent: release.Spent{Rho: 0.25}}); rows[0].Asked != "–" || rows[2].Percent != 50 {
		t.Errorf("zCDP budget: got %+v", rows)
	}
}
