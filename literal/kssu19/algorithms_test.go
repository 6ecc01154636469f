package kssu19

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model"
)

// Every algorithm alone, on an instance on which it succeeds. Rows and noise have fixed seeds:
// nothing here fails by chance.

// crowded is the largest number of rows within r of one row, among the first few hundred.
func crowded(rows [][]float64, r float64) int {
	most := 0
	for _, x := range rows[:min(len(rows), 400)] {
		n := 0
		for _, y := range rows {
			if distance(x, y) <= r {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// smallest is the least radius of a ball around one of the centres that holds t rows.
func smallest(centers, rows [][]float64, t int) float64 {
	least := math.Inf(1)
	for _, c := range centers {
		var distances []float64
		for _, x := range rows {
			distances = append(distances, distance(c, x))
		}
		slices.Sort(distances)
		least = math.Min(least, distances[t-1])
	}
	return least
}

func both(t *testing.T, test func(t *testing.T, r privacy.Relation)) {
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		t.Run(r.String(), func(t *testing.T) { test(t, r) })
	}
}

// [KSSU19] Section B.1 at epsilon 5, n = 6000, d = 3: the radius holds about t rows around some
// row, half of it does not.
func TestGoodRadius(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		rows := blobs(1, 6000, corners(2, 3, 40, 0), 1, 3)
		for seed := range uint64(3) {
			c := trial{rows: rows, d: 3, eps: 5, relation: relation, noise: kerneltest.Options{Seed: seed}}
			r := c.alone(t, Practical(), goodRadiusSteps("", 1, 1))
			radii, err := r.goodRadius("", []part{c.table(2500)}, r.a.Left())
			if err != nil {
				t.Fatal(err)
			}
			if n := crowded(rows, radii[0]); n < 2000 {
				t.Errorf("the ball of radius %v holds %d rows, 2500 are wanted", radii[0], n)
			}
			if n := crowded(rows, radii[0]/2); n > 2500 {
				t.Errorf("half the radius %v holds %d rows", radii[0], n)
			}
		}
	})
}

// Equal rows have the radius 0, here the least of the grid; too small a t is bottom, and nothing is
// spent on it.
func TestGoodRadiusOfDuplicatesAndBottom(t *testing.T) {
	c := trial{rows: make([][]float64, 3000), d: 2, eps: 5}
	for i := range c.rows {
		c.rows[i] = []float64{7, -7}
	}
	r := c.alone(t, Practical(), goodRadiusSteps("", 1, 1))
	radii, err := r.goodRadius("", []part{c.table(2000), {frame: whole(2), rows: 10, t: 3}}[:1], r.a.Left())
	if err != nil || radii[0] != Practical().radii(2)[0] {
		t.Errorf("got %v, %v, want the least radius", radii, err)
	}
	r = c.alone(t, Practical(), goodRadiusSteps("", 1, 1))
	radii, err = r.goodRadius("", []part{c.table(20)}, r.a.Left())
	if err != nil || !math.IsNaN(radii[0]) || len(r.a.Session().Measurements()) > 0 {
		t.Errorf("got %v, %v, want bottom before any row is read", radii, err)
	}
}

// [KSSU19] Section B.2 at epsilon 5, n = 8000, d = 5, in two parts at once: the centres of the
// balls.
func TestGoodCenter(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		at := corners(2, 5, 100, 3)
		c := trial{rows: blobs(2, 8000, at, 1), d: 5, eps: 5, relation: relation, noise: kerneltest.Options{Seed: 2}}
		r := c.alone(t, Practical(), goodCenterSteps("", 1, 1, .5))
		divide := ball{frame: shifted(whole(5), at[0]), radius: 50}
		parts := []part{c.table(3000).and(divide.within(50)), c.table(3000).and(divide.beyond(50))}
		balls, err := r.goodCenter("", parts, []float64{3, 3}, r.a.Left())
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range balls {
			if b == nil || distance(b.frame.Center, at[i]) > .5 {
				t.Errorf("part %d: got %+v, want a ball around %v", i, b, at[i])
			}
		}
		r = c.alone(t, Practical(), goodCenterSteps("", 1, 1, .5))
		if balls, err = r.goodCenter("", parts[:1], []float64{1e-3}, r.a.Left()); err != nil || balls[0] != nil {
			t.Errorf("a radius at which no box is full: got %+v, %v", balls[0], err)
		}
	})
}

// [KSSU19] Theorem 3.2 at epsilon 10, n = 10000, d = 4: most of one component, and not much more:
// (1) the ball holds t/2 rows, (2) its radius is at most c = 16 sqrt2 times that of the smallest
// ball of t rows (a half-octave of the grid, 4 of GoodRadius and 4 of PGLOC).
//
// Shows: [KSSU19] Theorem 3.2.
func TestPGLOC(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		at := corners(3, 4, 80, -5)
		c := trial{rows: blobs(3, 10000, at, 1), d: 4, eps: 10, relation: relation, noise: kerneltest.Options{Seed: 1}}
		r := c.alone(t, Practical(), pglocSteps("", 1, 1, 1))
		balls, err := r.pgloc("", []part{c.table(2000)}, r.a.Left())
		if err != nil || balls[0] == nil {
			t.Fatalf("got %v, %v", balls, err)
		}
		b := balls[0]
		counts := map[int]int{}
		for i, x := range c.rows {
			if distance(x, b.frame.Center) <= b.radius {
				counts[i%3]++
			}
		}
		// the smallest ball of t rows has at least half the radius of the smallest around a row
		if least := smallest(c.rows[:300], c.rows, 2000) / 2; b.radius > 16*math.Sqrt2*least {
			t.Errorf("the radius %v is %v times that of the smallest ball", b.radius, b.radius/least)
		}
		if len(counts) != 1 || b.radius > 20 {
			t.Fatalf("the ball of radius %v holds %v rows of the components", b.radius, counts)
		}
		for _, n := range counts {
			if n < 1000 {
				t.Errorf("the ball holds %d rows, half of 2000 are wanted", n)
			}
		}
	})
}

// [KSSU19] Section B.4 at epsilon 20, n = 6000, d = 2: of two tight groups close to each other and
// one far away, the smallest terrific ball holds one group, the largest both.
func TestTerrificRadius(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		c := trial{rows: blobs(4, 6000, [][]float64{{0, 0}, {0, 1}, {1000, 0}}, .01), d: 2, eps: 20, relation: relation}
		for seed := range uint64(2) {
			c.noise.Seed = seed
			for _, largest := range []bool{false, true} {
				r := c.alone(t, Practical(), terrificSteps("", 1, 1, 1))
				radii, err := r.terrificRadius("", []part{c.table(1000)}, []float64{2000}, largest, r.a.Left())
				if err != nil {
					t.Fatal(err)
				}
				low, high := .02, 1/Practical().Sought
				if largest {
					low, high = 50, 1000/Practical().Sought
				}
				if !(radii[0] >= low && radii[0] <= high) {
					t.Errorf("largest = %v: got %v, want %v to %v", largest, radii[0], low, high)
				}
			}
		}
	})
}

// [KSSU19] Lemma 4.2 at epsilon 20, n = 6000, d = 3: a secluded component is found; one Gaussian
// has no terrific ball.
func TestTerrificBall(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		at := corners(2, 3, 100, 0)
		c := trial{rows: blobs(5, 6000, at, 1), d: 3, eps: 20, relation: relation}
		for _, largest := range []bool{false, true} {
			r := c.alone(t, Practical(), terrificSteps("", 1, 1, 1))
			found, err := r.terrificBall("", []part{c.table(1500)}, []float64{300}, largest, r.a.Left())
			if err != nil || found[0] == nil {
				t.Fatalf("largest = %v: got %v, %v", largest, found, err)
			}
			b := found[0]
			inside := map[int]int{}
			for i, x := range c.rows {
				if distance(x, b.frame.Center) <= b.radius {
					inside[i%2]++
				}
			}
			if len(inside) != 1 {
				t.Errorf("largest = %v: the ball of radius %v holds %v rows", largest, b.radius, inside)
			}
		}
		c.rows = blobs(6, 6000, [][]float64{{0, 0, 0}}, 1)
		r := c.alone(t, Practical(), terrificSteps("", 1, 1, 1))
		if found, err := r.terrificBall("", []part{c.table(1500)}, []float64{30}, false, r.a.Left()); err != nil || found[0] != nil {
			t.Errorf("one Gaussian: got %+v, %v", found[0], err)
		}
	})
}

// [KSSU19] Lemma 2.1 at epsilon 2, n = 20000, d = 20: the directions between means are kept.
func TestPCA(t *testing.T) {
	at := corners(2, 20, 10, 0)
	c := trial{rows: blobs(7, 20000, at, 1), d: 20, eps: 2}
	r := c.alone(t, Practical(), []kernel.Step{pcaStep("pca", 1, 1), goodCenterSteps("", 1, 1, 1)[1]})
	all := c.table(0)
	frames, err := r.pca("pca", []part{all}, []*ball{{frame: all.frame, radius: 16}}, 2, r.a.Left())
	if err != nil {
		t.Fatal(err)
	}
	lost := func(v []float64) float64 { // part of the length that the projection loses
		in := 0.0
		for _, w := range frames[0].W {
			z := 0.0
			for j := range v {
				z += w[j] * v[j]
			}
			in += z * z
		}
		n := distance(v, make([]float64, len(v)))
		return 1 - math.Sqrt(in)/n
	}
	for _, m := range at {
		if l := lost(m); l > .05 {
			t.Errorf("the projection loses %v of the mean %v", l, m)
		}
	}
	axis := make([]float64, 20)
	axis[9] = 1
	if lost(axis) < .5 {
		t.Error("a direction without any mean is kept")
	}
}

// [KSSU19] Theorem 3.3 at epsilon 5, n = 10000, d = 4: two spheres in parallel.
func TestPSGE(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		at := corners(2, 4, 60, 1)
		c := trial{rows: blobs(8, 10000, at, 1, 2), d: 4, eps: 5, relation: relation}
		r := c.alone(t, Practical(), psgeSteps("", 1), goodCenterSteps("", 1, 1, 1)[1:2])
		near := []*ball{{shifted(whole(4), at[0]), 15}, {shifted(whole(4), at[1]), 15}}
		parts := []part{c.table(0).and(near[0].within(15)), c.table(0).and(near[0].beyond(15))}
		spheres, err := r.psge("", parts, near, r.a.Left())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range spheres {
			want := []float64{1, 4}[i]
			if s == nil || distance(s.mean, at[i]) > .2 || math.Abs(s.variance/want-1) > .15 || math.Abs(s.rows-5000) > 100 {
				t.Errorf("sphere %d: got %+v, want %v, %v", i, s, at[i], want)
			}
		}
		r = c.alone(t, Practical(), psgeSteps("", 1), goodCenterSteps("", 1, 1, 1)[1:2])
		away := &ball{shifted(whole(4), []float64{500, 500, 500, 500}), 15}
		if spheres, err = r.psge("", parts[:1], []*ball{away}, r.a.Left()); err != nil || spheres[0] != nil {
			t.Errorf("a ball that holds no row: got %+v, %v", spheres[0], err)
		}
	})
}

// [KSSU19] Section B.7 at epsilon 20, n = 40000, d = 3, condition numbers 1 and 400, with and
// without bounds: two Gaussians in parallel.
func TestPGE(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		var truth []model.Gaussian
		rng := rand.New(rand.NewPCG(9, 9))
		for i, axes := range [][]float64{{1, 1, 1}, {1, 5, 20}} {
			turn := paper.Rotation(rng, 3)
			turn.Mul(turn, mat.NewDiagDense(3, axes))
			cov, err := model.FullFromFactor(turn)
			if err != nil {
				t.Fatal(err)
			}
			truth = append(truth, model.Gaussian{Mean: []float64{1000 * float64(i), 50, -3}, Cov: cov})
		}
		c := trial{d: 3, eps: 20, relation: relation}
		for i := range 40000 {
			c.rows = append(c.rows, drawn(t, truth[i%2], rng))
		}
		bounds := Practical()
		bounds.SigmaMin, bounds.SigmaMax = .5, 40
		for _, constants := range []Constants{Practical(), bounds} {
			r := c.alone(t, constants, constants.pgeSteps("", 3, 1))
			divide := ball{frame: whole(3), radius: 500}
			parts := []part{c.table(0).and(divide.within(500)), c.table(0).and(divide.beyond(500))}
			parts[0].rows, parts[1].rows = 20000, 20000
			found, err := r.pge("", parts, r.a.Left())
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range found {
				if g == nil {
					t.Errorf("component %d is not found", i)
					continue
				}
				cov, err := model.NewFull(g.cov)
				if err != nil {
					t.Fatal(err)
				}
				got := model.Gaussian{Mean: g.mean, Cov: cov}
				if m, s := madeup.Distances(truth[i], got); m > .1 || s > .5 {
					t.Errorf("known bounds %v: component %d is %v off in mean, %v in covariance", constants.known(), i, m, s)
				}
			}
		}
	})
}

// A part that is said to have fewer rows than columns gets a mean and a sphere: epsilon 100, n =
// 400, d = 50.
func TestPGEOfFewRows(t *testing.T) {
	at := make([]float64, 50)
	for j := range at {
		at[j] = float64(j)
	}
	c := trial{rows: blobs(12, 400, [][]float64{at}, 3), d: 50, eps: 100}
	r := c.alone(t, Practical(), Practical().pgeSteps("", 50, 1))
	few := c.table(0)
	few.rows = 30
	found, err := r.pge("", []part{few}, r.a.Left())
	if err != nil || found[0] == nil {
		t.Fatalf("got %v, %v", found, err)
	}
	g := found[0]
	if v := g.cov.At(0, 0); !g.round || v < 4 || v > 25 || g.cov.At(1, 1) != v || g.cov.At(0, 1) != 0 || distance(g.mean, at) > 15 {
		t.Errorf("got round %v, variance %v, %v off in mean, want a sphere of variance about 9", g.round, v, distance(g.mean, at))
	}
}

// KSSU19 Algorithm 1 at epsilon 20, n = 20000, d = 4, k = 3, components of sd 1, 1 and 20: every
// component has a leaf of its own.
//
// Shows: [KSSU19] Algorithm 1.
func TestRPGMP(t *testing.T) {
	both(t, func(t *testing.T, relation privacy.Relation) {
		at := [][]float64{{0, 0, 0, 0}, {60, 0, 0, 0}, {0, 5000, 0, 0}}
		c := trial{rows: blobs(10, 20000, at, 1, 1, 20), d: 4, eps: 20, relation: relation, noise: kerneltest.Options{Seed: 4}}
		constants := Practical()
		constants.LeastWeight = .3
		r := c.alone(t, constants, rpgmpSteps(3, 1, 1))
		leaves, err := r.rpgmp(context.Background(), c.table(0), float64(len(c.rows)), 3, r.a.Left())
		if err != nil {
			t.Fatal(err)
		}
		held := make([]map[int]int, len(leaves))
		in := 0
		for i, x := range c.rows {
			leaf := -1
			for j, l := range leaves {
				if meets(l.where, x) {
					if leaf >= 0 {
						t.Fatal("a row is in two leaves")
					}
					leaf = j
				}
			}
			if leaf < 0 {
				continue
			}
			if in++; held[leaf] == nil {
				held[leaf] = map[int]int{}
			}
			held[leaf][i%3]++
		}
		if in < 19500 {
			t.Errorf("only %d of 20000 rows are in a leaf", in)
		}
		own := map[int]bool{}
		for _, h := range held {
			for j, n := range h {
				if n > 6000 && len(h) == 1 {
					own[j] = true
				}
			}
		}
		if len(own) != 3 {
			t.Errorf("the leaves hold %v", held)
		}
	})
}

// drawn is a row of one Gaussian.
func drawn(t testing.TB, g model.Gaussian, rng *rand.Rand) []float64 {
	m, err := model.New(nil, nil, []model.Gaussian{g})
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, g.Dim())
	s.Row(row, rng)
	return row
}
