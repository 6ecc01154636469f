package paper

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/model"
)

func (g Gaussian) model(t *testing.T) model.Gaussian {
	t.Helper()
	cov, err := model.NewFull(symmetric.Congruence(g.L, symmetric.Identity(len(g.Mean))))
	if err != nil {
		t.Fatal(err)
	}
	return model.Gaussian{Mean: g.Mean, Cov: cov}
}

// TestNetLine: whatever Gaussian is allowed, one of the net is within zeta, with room: sqrt2 H
// bounds the total variation.
//
// Shows: [AMN24] Lemma D.1.
func TestNetLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	around := Line(40, 3)
	const g, zeta = 4, .2
	net, err := collect(NetLine(around, g, zeta))
	if want := NetLineSize(g, zeta); float64(len(net)) != want {
		t.Errorf("%d Gaussians, counted %v", len(net), want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range net {
		if s := v.L.At(0, 0); math.Abs(v.Mean[0]-40) > g*3*(1+1e-12) || s < 1.5*(1-1e-12) || s > 6*(1+zeta) {
			t.Fatalf("N(%v, %v^2) is outside", v.Mean, s)
		}
	}
	worst := 0.0
	for range 300 {
		target := Line(40+3*g*(2*rng.Float64()-1), 3*math.Pow(g, rng.Float64()-.5)).model(t)
		best := 1.0
		for _, v := range net {
			best = math.Min(best, math.Sqrt2*model.GaussianHellinger(v.model(t), target))
		}
		worst = math.Max(worst, best)
	}
	if worst > zeta || worst < zeta/20 {
		t.Errorf("the worst of 300 is within %v of the net, want %v", worst, zeta)
	}
	t.Logf("%d Gaussians, worst %v", len(net), worst)
}

func TestNetPlane(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	around := NewGaussian([]float64{5, -5}, mat.NewSymDense(2, []float64{4, 1, 1, 9}))
	const g, zeta = 1.5, .4
	net, err := collect(NetPlane(around, g, zeta))
	if err != nil {
		t.Fatal(err)
	}
	var all []model.Gaussian
	for _, v := range net {
		all = append(all, v.model(t))
	}
	worst := 0.0
	for range 30 {
		angle, r := math.Pi*rng.Float64(), g*math.Sqrt(rng.Float64())
		l1, l2 := math.Pow(g, 2*rng.Float64()-1), math.Pow(g, 2*rng.Float64()-1)
		c, s := math.Cos(angle), math.Sin(angle)
		var axes mat.Dense
		axes.Mul(around.L, mat.NewDense(2, 2, []float64{c, -s, s, c}))
		direction := 2 * math.Pi * rng.Float64()
		u, v := r*math.Cos(direction), r*math.Sin(direction)
		mean := []float64{5 + around.L.At(0, 0)*u, -5 + around.L.At(1, 0)*u + around.L.At(1, 1)*v}
		target := NewGaussian(mean, symmetric.Congruence(&axes, mat.NewSymDense(2, []float64{l1, 0, 0, l2}))).model(t)
		best := 1.0
		for _, v := range all {
			best = math.Min(best, math.Sqrt2*model.GaussianHellinger(v, target))
		}
		worst = math.Max(worst, best)
	}
	if worst > 1.5*zeta {
		t.Errorf("the worst of 30 is within %v of the net, want %v", worst, 1.5*zeta)
	}
	t.Logf("%d Gaussians, worst %v", len(net), worst)
}

// TestMixtures compares the list with all k-tuples of Gaussians and all weights, made equal where
// they are.
func TestMixtures(t *testing.T) {
	var base []Gaussian
	for i := range 4 {
		base = append(base, Line(float64(i), 1))
	}
	for k := 1; k <= 3; k++ {
		for units := 1; units <= 4; units++ {
			want := map[string]bool{}
			var tuples func(k, left int, weights [4]int)
			tuples = func(k, left int, weights [4]int) {
				if k == 0 {
					if left == 0 {
						want[fmt.Sprint(weights)] = true
					}
					return
				}
				for g := range 4 {
					for v := 0; v <= left; v++ {
						next := weights
						next[g] += v
						tuples(k-1, left-v, next)
					}
				}
			}
			tuples(k, units, [4]int{})
			l, err := Mixtures(base, k, units)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for i := range l.Len() {
				var weights [4]int
				index, share := l.Terms(i)
				for j, g := range index {
					weights[g] += int(math.Round(share[j] * float64(units)))
				}
				got[fmt.Sprint(weights)] = true
			}
			if l.Len() != len(want) || len(got) != len(want) || float64(l.Len()) != CountMixtures(4, k, units) {
				t.Errorf("k = %d, %d units: %d mixtures, %d distinct, %v counted, want %d", k, units, l.Len(), len(got), CountMixtures(4, k, units), len(want))
			}
			for w := range want {
				if !got[w] {
					t.Errorf("k = %d, %d units: %s is missing", k, units, w)
				}
			}
		}
	}
}

// TestTooMany: lists end where they must, before they are made.
func TestTooMany(t *testing.T) {
	many := make([]Gaussian, 3000)
	for i := range many {
		many[i] = Line(float64(i), 1)
	}
	lists := [][]Gaussian{many, many, many}
	n := 0
	for g := range Products(lists) {
		if n++; n == 5 {
			if !slices.Equal(g.Mean, []float64{0, 0, 4}) || g.L.At(2, 2) != 1 || g.LogVolume != 0 {
				t.Errorf("the fifth product is %v", g)
			}
			break
		}
	}
	if _, err := collect(Products(lists)); !errors.Is(err, ErrTooMany) {
		t.Errorf("products: %v", err)
	}
	if _, err := collect(NetLine(Line(0, 1), 1e9, .1)); !errors.Is(err, ErrTooMany) {
		t.Errorf("net of the line: %v", err)
	}
	if _, err := collect(NetPlane(Product([]float64{0, 0}, []float64{1, 1}), 1e4, .1)); !errors.Is(err, ErrTooMany) {
		t.Errorf("net of the plane: %v", err)
	}
	if _, err := Mixtures(many, 2, 10); !errors.Is(err, ErrTooMany) {
		t.Errorf("mixtures: %v", err)
	}
	if _, err := Mixtures(nil, 2, 10); err == nil || errors.Is(err, ErrTooMany) {
		t.Errorf("mixtures of nothing: %v", err)
	}
	if _, err := queryOf(NewList(many, 1), Options{}); err == nil {
		t.Error("an empty list can be asked about")
	}
	l := NewList(many, 2)
	for _, c := range []struct {
		index []int
		share []float64
	}{{nil, nil}, {[]int{1, 2, 3}, []float64{1, 1, 1}}, {[]int{1}, []float64{1, 2}}, {[]int{-1}, []float64{1}}, {[]int{3000}, []float64{1}}, {[]int{1}, []float64{math.NaN()}}} {
		if l.Add(c.index, c.share) == nil {
			t.Errorf("%v was added", c)
		}
	}
	for i := range 1025 {
		if err := l.Add([]int{i}, []float64{1}); err != nil {
			t.Fatal(err)
		}
	}
	for _, form := range []Form{AllPairs, Tournament} {
		if _, err := queryOf(l, Options{Form: form, Accuracy: .1}); !errors.Is(err, ErrTooMany) {
			t.Errorf("all pairs of %d mixtures: %v", l.Len(), err)
		}
	}
}

// mixtureDensity is that of mixture i of a list on the line.
func mixtureDensity(l *List, i int, x float64) (f float64) {
	index, share := l.Terms(i)
	for t, g := range index {
		f += share[t] * math.Exp(l.Gaussians[g].logDensity([]float64{x})) / math.Sqrt(2*math.Pi)
	}
	return f
}

// randomList has count mixtures of up to parts Gaussians of the line, whose means have the given
// sd.
func randomList(rng *rand.Rand, count, parts int, spread float64) *List {
	var base []Gaussian
	for range count {
		base = append(base, Line(spread*rng.NormFloat64(), math.Exp(rng.NormFloat64()/3)))
	}
	l := NewList(base, parts)
	for range count {
		n := 1 + rng.IntN(parts)
		index, share, sum := rng.Perm(count)[:n], make([]float64, n), 0.0
		for i := range share {
			share[i] = .2 + rng.Float64()
			sum += share[i]
		}
		for i := range share {
			share[i] /= sum
		}
		if err := l.Add(index, share); err != nil {
			panic(err)
		}
	}
	return l
}

// tv is the total variation between two densities on the line that live within 40 of 0.
func tv(f, g func(x float64) float64) (v float64) {
	const step = .02
	for x := -40.0; x < 40; x += step {
		v += math.Abs(f(x)-g(x)) / 2 * step
	}
	return v
}

// TestLineMasses compares with sums over a fine grid, and Scheffe's sets give back the total
// variation.
func TestLineMasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	l := randomList(rng, 12, 3, 4)
	q := distances(t, l, Options{Form: AllPairs})
	if len(q.Sets) != 66 {
		t.Fatalf("%d sets", len(q.Sets))
	}
	worst := 0.0
	for j, pair := range q.Sets {
		a, b := pair[0], pair[1]
		var of [2]float64
		for side, i := range pair {
			index, share := l.Terms(i)
			for s, g := range index {
				of[side] += share[s] * q.Mass[g][j]
			}
		}
		want := tv(func(x float64) float64 { return mixtureDensity(l, a, x) }, func(x float64) float64 { return mixtureDensity(l, b, x) })
		worst = math.Max(worst, math.Abs(of[0]-of[1]-want))
	}
	if worst > 2e-4 {
		t.Errorf("the masses differ by %v more or less than the total variation", worst)
	}
	t.Log(worst)
}

// TestPlaneMasses: Gaussians of equal covariance are parted by a line, so masses have a closed
// form.
func TestPlaneMasses(t *testing.T) {
	cov := mat.NewSymDense(2, []float64{2, 1, 1, 3})
	base := []Gaussian{NewGaussian([]float64{0, 0}, cov), NewGaussian([]float64{1, 1}, cov), NewGaussian([]float64{-2, 1}, cov), NewGaussian([]float64{0, 4}, cov)}
	l := NewList(base, 1)
	for i := range base {
		if err := l.Add([]int{i}, []float64{1}); err != nil {
			t.Fatal(err)
		}
	}
	q := distances(t, l, Options{})
	for j, pair := range q.Sets {
		a, b := base[pair[0]], base[pair[1]]
		var d, y mat.VecDense
		d.SubVec(mat.NewVecDense(2, b.Mean), mat.NewVecDense(2, a.Mean))
		y.MulVec(a.Inverse, &d)
		length := mat.Norm(&y, 2)
		for i, g := range base {
			var e, z mat.VecDense // how far g's mean is from a's, along the whitened difference
			e.SubVec(mat.NewVecDense(2, g.Mean), mat.NewVecDense(2, a.Mean))
			z.MulVec(a.Inverse, &e)
			along := mat.Dot(&z, &y) / length
			want := math.Erfc((along-length/2)/math.Sqrt2) / 2
			if math.Abs(q.Mass[i][j]-want) > .004 {
				t.Errorf("Gaussian %d in set %v: mass %v, want %v", i, pair, q.Mass[i][j], want)
			}
		}
	}
}

// TestMaximin: of tight groups of mixtures it takes one each first.
func TestMaximin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var base []Gaussian
	for i := range 300 {
		base = append(base, Line(10*float64(i%5)+.01*rng.NormFloat64(), 1))
	}
	l := NewList(base, 1)
	for i := range base {
		if err := l.Add([]int{i}, []float64{1}); err != nil {
			t.Fatal(err)
		}
	}
	var groups []int
	for _, i := range l.maximin(5) {
		groups = append(groups, i%5)
	}
	sort.Ints(groups)
	if !slices.Equal(groups, []int{0, 1, 2, 3, 4}) {
		t.Errorf("took the groups %v", groups)
	}
	same := NewList(base[:1], 1)
	for range 300 {
		if err := same.Add([]int{0}, []float64{1}); err != nil {
			t.Fatal(err)
		}
	}
	if got := same.maximin(5); len(got) != 1 {
		t.Errorf("of equal mixtures it took %v", got)
	}
	if q, err := queryOf(same, Options{}); err != nil || q.Validate(1) != nil {
		t.Errorf("a list of equal mixtures: %v, %v", err, q.Validate(1))
	}
}

func TestMixtureModel(t *testing.T) {
	l := NewList([]Gaussian{NewGaussian([]float64{1, 2}, mat.NewSymDense(2, []float64{4, 1, 1, 2})), Product([]float64{0, 0}, []float64{1, 3})}, 3)
	if err := l.Add([]int{1, 0}, []float64{.25, .75}); err != nil {
		t.Fatal(err)
	}
	m, err := l.Mixture(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{.3, -1}
	index, share := l.Terms(0)
	f := 0.0
	for i, g := range index {
		f += share[i] * math.Exp(l.Gaussians[g].logDensity(x)) / (2 * math.Pi)
	}
	s, err := model.NewScorer(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.LogDensity(x); math.Abs(got-math.Log(f)) > 1e-9 {
		t.Errorf("density %v, want %v", got, math.Log(f))
	}
}

// A net with so large a g as the printed n^3 begins at once: whoever has had enough ends it.
func TestNetPlaneOfAnySize(t *testing.T) {
	listed := 0
	for range NetPlane(NewGaussian(make([]float64, 2), mat.NewSymDense(2, []float64{1, 0, 0, 1})), 1e45, .01) {
		if listed++; listed == 1000 {
			break
		}
	}
}
