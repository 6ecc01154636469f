package blocks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// symmetric is L L' for a root L, n x n.
func symmetric(root []float64, n int) *mat.SymDense {
	l := mat.NewDense(n, n, root)
	var p mat.SymDense
	p.SymOuterK(1, l)
	return &p
}

// spectrumTwin are the logarithms of the eigenvalues of P^-1 P', by the book.
func spectrumTwin(p, q *mat.SymDense) []float64 {
	var c mat.Cholesky
	c.Factorize(p)
	var l mat.TriDense
	c.LTo(&l)
	var x, y mat.Dense
	_ = x.Solve(&l, q)
	_ = y.Solve(&l, x.T())
	n := p.SymmetricDim()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			s.SetSym(i, j, (y.At(i, j)+y.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	e.Factorize(s, false)
	values := e.Values(nil)
	for i, v := range values {
		values[i] = math.Log(v)
	}
	return values
}

// lifted is P of a component.
func lifted(c Component) *mat.SymDense {
	d := len(c.Mean)
	l := make([]float64, (d+1)*(d+1))
	for i := range d {
		for j := range d {
			l[i*(d+1)+j] = math.Sqrt(c.Weight) * c.Root[i*d+j]
		}
		l[i*(d+1)+d] = math.Sqrt(c.Weight) * c.Mean[i]
	}
	l[len(l)-1] = math.Sqrt(c.Weight)
	return symmetric(l, d+1)
}

func jointTwin(x, y []Component, labels []int) float64 {
	total := 0.0
	for a, b := range labels {
		for _, v := range spectrumTwin(lifted(x[a]), lifted(y[b])) {
			total += v * v
		}
	}
	return math.Sqrt(total)
}

// scaleTwin is S of a mixture by the book.
func scaleTwin(m []Component) *mat.SymDense {
	d, total := len(m[0].Mean), 0.0
	s := mat.NewSymDense(d, nil)
	for _, c := range m {
		part := symmetric(c.Root, d)
		part.ScaleSym(c.Weight, part)
		s.AddSym(s, part)
		total += c.Weight
	}
	s.ScaleSym(1/total, s)
	return s
}

// lengthTwin is |y - x| in S by the book.
func lengthTwin(s *mat.SymDense, x, y []float64) float64 {
	diff, d := mat.NewVecDense(len(x), slices.Clone(y)), len(x)
	diff.SubVec(diff, mat.NewVecDense(d, slices.Clone(x)))
	var solved mat.VecDense
	_ = solved.SolveVec(s, diff)
	return math.Sqrt(max(0, mat.Dot(diff, &solved)))
}

func levelTwin(c Component) float64 {
	d := len(c.Mean)
	return levelUnit / 2 * math.Log(mat.Det(symmetric(c.Root, d))) / math.Sqrt(float64(d))
}

// shapeTwin is the distance of two components' shapes by the book.
func shapeTwin(x, y Component) float64 {
	v := spectrumTwin(symmetric(x.Root, len(x.Mean)), symmetric(y.Root, len(y.Mean)))
	return (v[len(v)-1] - v[0]) / 2
}

// apartTwin is sep by the book.
func apartTwin(m []Component) float64 {
	least, s := math.Inf(1), scaleTwin(m)
	for a := range m {
		for b := range a {
			least = min(least, max(lengthTwin(s, m[a].Mean, m[b].Mean), math.Abs(levelTwin(m[a])-levelTwin(m[b])), shapeTwin(m[a], m[b])))
		}
	}
	return least
}

// distance is d of two components as the package computes it.
func distance(t *testing.T, x, y Component) float64 {
	t.Helper()
	n := len(x.Mean)
	p := newPair(1, n)
	a, ok := newFactor(x, n)
	b, ok2 := newFactor(y, n)
	if !ok || !ok2 {
		t.Fatalf("not valid: %v, %v", x, y)
	}
	Relative(p.d, p.forth, &a, &b)
	return math.Sqrt(p.distance2())
}

// read is the estimate a mixture is read as.
func read(t *testing.T, m []Component) estimate {
	t.Helper()
	e := rulesFor(24, len(m), len(m[0].Mean), 1).estimate(m)
	if e.parts == nil {
		t.Fatalf("not valid: %v", m)
	}
	return e
}

// TestDistanceIsThatOfTheBook, and a metric: symmetric, with the triangle inequality, and
// invariant.
func TestDistanceIsThatOfTheBook(t *testing.T) {
	g := seeded(3)
	for range 400 {
		d := 1 + g.IntN(7)
		m := randomMixture(g, 3, d, 3*g.Float64())
		var dist [3][3]float64
		for i := range 3 {
			for j := range 3 {
				dist[i][j] = distance(t, m[i], m[j])
				if want := jointTwin(m[i:i+1], m[j:j+1], []int{0}); math.Abs(dist[i][j]-want) > 1e-9*(1+want) {
					t.Errorf("d = %d: distance %v, want %v", d, dist[i][j], want)
				}
			}
		}
		for i := range 3 {
			j, l := (i+1)%3, (i+2)%3
			if dist[i][i] > 1e-7 || math.Abs(dist[i][j]-dist[j][i]) > 1e-9*(1+dist[i][j]) || dist[i][l] > dist[i][j]+dist[j][l]+1e-9 {
				t.Fatalf("d = %d: distances %v", d, dist)
			}
		}
		moved := carried(g, m, d)
		if x := distance(t, moved[0], moved[1]); math.Abs(x-dist[0][1]) > 1e-6*(1+x) {
			t.Errorf("d = %d: after a map of the data %v, before %v", d, x, dist[0][1])
		}
	}
}

// TestScaleAndLevels: lengths, levels and sep are those of the book; sep and lengths stay under
// maps of the data, other roots and another order, levels all move by the same.
func TestScaleAndLevels(t *testing.T) {
	g := seeded(2)
	for range 300 {
		k, d := 2+g.IntN(4), 1+g.IntN(7)
		m := randomMixture(g, k, d, .1+4*g.Float64())
		for c := range m {
			m[c] = stretched(m[c:c+1], g.NormFloat64())[0]
		}
		e, s := read(t, m), scaleTwin(m)
		for a := range m {
			for b := range m {
				if got, want := e.scale.length(m[a].Mean, m[b].Mean), lengthTwin(s, m[a].Mean, m[b].Mean); math.Abs(got-want) > 1e-9*(1+want) {
					t.Errorf("k = %d, d = %d: length %v, want %v", k, d, got, want)
				}
			}
			if want := levelTwin(m[a]); math.Abs(e.levels[a]-want) > 1e-9 {
				t.Errorf("k = %d, d = %d: level %v, want %v", k, d, e.levels[a], want)
			}
		}
		if want := apartTwin(m); math.Abs(e.apart-want) > 1e-9*(1+want) {
			t.Errorf("k = %d, d = %d: sep %v, want %v", k, d, e.apart, want)
		}
		moved := carried(g, m, d)
		f := read(t, moved)
		if again := read(t, permuted(g, moved)); math.Abs(f.apart-e.apart) > 1e-6*(1+e.apart) || math.Abs(again.apart-f.apart) > 1e-9*(1+f.apart) {
			t.Errorf("k = %d, d = %d: sep %v, after a map of the data %v, in another order %v", k, d, e.apart, f.apart, again.apart)
		}
		for a := range m {
			if got, want := f.scale.length(moved[0].Mean, moved[a].Mean), e.scale.length(m[0].Mean, m[a].Mean); math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("k = %d, d = %d: length %v, after a map of the data %v", k, d, want, got)
			}
			if got, want := f.levels[a]-f.levels[0], e.levels[a]-e.levels[0]; math.Abs(got-want) > 1e-6 {
				t.Errorf("k = %d, d = %d: levels differ by %v, after a map of the data by %v", k, d, want, got)
			}
		}
	}
	if (2+2*math.Exp(SameScale/2))*Share >= .99 || 4*Inner >= .97 {
		t.Error("a walk of four may join two components")
	}
	if _, ok := newScale([]Factor{{weight: 1, triangle: triangle{root: []float64{1, 0, 1, 1e-7}}}}, 2); ok {
		t.Error("a scale that is nearly singular is taken")
	}
}

// TestShapes: for roots of nearly the worst condition, in units of their own and far from one
// another, a shape is that of exact factors to 1e-7, symmetric, and obeys the triangle inequality;
// the bound that may stand for it is on the same side of what is enough.
func TestShapes(t *testing.T) {
	g := seeded(23)
	for round := range 300 {
		d := []int{1, 2, 5, 20}[round%4]
		units := 60 * g.Float64() * float64(g.IntN(2))
		var f [3]Factor
		for c := range f {
			for ok := false; !ok; f[c], ok = newFactor(roughRoot(g, d, units), d) {
			}
		}
		p := newPair(1, d)
		var shapes [3][3]float64
		for a := range f {
			for b := range f {
				want := 0.0
				for _, pair := range [][2]int{{a, b}, {b, a}} {
					exact, norms := relativeExactly(&f[pair[0]], &f[pair[1]], d), make([]float64, d+1)
					exact[len(exact)-1] = 0
					dense.Orthogonalize(exact, d+1, norms)
					want += math.Log(slices.Max(norms))
				}
				got := p.shape(&f[a].triangle, &f[b].triangle, -1)
				if shapes[a][b] = got; !(math.Abs(got-want) < 1e-7) {
					t.Errorf("d = %d: shape %v, exactly %v", d, got, want)
				}
				for _, enough := range []float64{got * .5, got * .99, got * 1.01, got * 2} {
					if x := p.shape(&f[a].triangle, &f[b].triangle, enough); got > 1e-9 && (x <= enough) != (got <= enough) {
						t.Errorf("d = %d: shape %v, with %v enough %v", d, got, enough, x)
					}
				}
			}
		}
		if x := shapes[0][1] - shapes[1][0]; math.Abs(x) > 1e-7 || shapes[0][2] > shapes[0][1]+shapes[1][2]+1e-6 || shapes[0][0] > 1e-7 {
			t.Errorf("d = %d: shapes %v", d, shapes)
		}
	}
}

// roughRoot is a component whose root is of nearly the worst condition, or beyond, in a unit up to
// half so many powers of ten up or down.
func roughRoot(g *rand.Rand, d int, units float64) Component {
	root, scale := normals(g, d*d, .01), math.Pow(10, units*(g.Float64()-.5))
	for i := range d {
		size := scale * math.Pow(10, -5.5*g.Float64())
		for j := range d {
			root[i*d+j] *= size
		}
		root[i*d] = max(root[i*d], .1*scale)
		root[i*d+i] = max(root[i*d+i], size)
	}
	return Component{Weight: .5, Mean: make([]float64, d), Root: root}
}

// TestAlike: by the spectrum of S^-1 S', for scales about the limit, in either order.
func TestAlike(t *testing.T) {
	g := seeded(17)
	yes, rounds := 0, 600
	for range rounds {
		k, d := 2, 1+g.IntN(6)
		m := randomMixture(g, k, d, 4)
		other := stretched(perturbed(g, m, .25*g.Float64()), 2*(g.Float64()-.5))
		moved := carried(g, append(slices.Clone(m), other...), d)
		values := spectrumTwin(scaleTwin(m), scaleTwin(other))
		want := max(-values[0], values[d-1]) <= SameScale
		for _, pair := range [][2][]Component{{m, other}, {other, m}, {moved[:k], moved[k:]}} {
			x, y := read(t, pair[0]), read(t, pair[1])
			if got := newPair(k, d).alike(&x.scale.triangle, &y.scale.triangle, SameScale); got != want {
				t.Errorf("d = %d, logarithms of eigenvalues %v: alike %v", d, values, got)
			}
		}
		if want {
			yes++
		}
	}
	if yes < rounds/4 || yes > rounds*3/4 {
		t.Errorf("%d of %d are alike: this test is too easy", yes, rounds)
	}
}

// carried is m after x -> Bx+b, with rows of B scaled by 1e-3 to 1e3 and b of 1e3, and with other
// roots.
func carried(g *rand.Rand, m []Component, d int) []Component {
	b := normals(g, d*d, .3)
	for i := range d {
		b[i*d+i]++
		scale := math.Pow(10, 6*g.Float64()-3)
		for j := range d {
			b[i*d+j] *= scale
		}
	}
	shift := normals(g, d, 1e3)
	out := make([]Component, len(m))
	for i, c := range m {
		out[i] = Component{Weight: c.Weight, Mean: dense.Mul(b, c.Mean, d, d, 1), Root: dense.Mul(dense.Mul(b, c.Root, d, d, d), rotation(g, d), d, d, d)}
		for j := range shift {
			out[i].Mean[j] += shift[j]
		}
	}
	return out
}

// TestFarMeans: means of 1e6 with standard deviations of 1e-3 lose no more than what rounding their
// difference costs.
func TestFarMeans(t *testing.T) {
	x := Component{Weight: .5, Mean: []float64{1e6, -1e6}, Root: []float64{1e-3, 0, 5e-4, 1e-3}}
	y := Component{Weight: .5, Mean: []float64{1e6 + 0x1p-10, -1e6}, Root: []float64{1e-3, 0, 5e-4, 1e-3}}
	near := x
	near.Mean = []float64{0x1p-10, 0}
	origin := x
	origin.Mean = []float64{0, 0}
	if far, want := distance(t, x, y), distance(t, origin, near); far != want || far == 0 {
		t.Errorf("far %v; at the origin %v", far, want)
	}
	x2, y2 := x, y
	x2.Mean, y2.Mean = []float64{1e6, 1e6}, []float64{1e6, 1e6}
	e, f := read(t, []Component{x, x2}), read(t, []Component{y, y2})
	if a, b := e.scale.length(x.Mean, y.Mean), e.scale.length(origin.Mean, near.Mean); a != b || a == 0 || !(min(e.apart, f.apart) > 1.9e9) {
		t.Errorf("far %v; at the origin %v; separations %v and %v", a, b, e.apart, f.apart)
	}
}

// friendsTwin decides by the definition, over all permutations.
func friendsTwin(x, y []Component, radius float64) (bool, []int) {
	if len(x) == 1 {
		return jointTwin(x, y, []int{0}) <= radius-roundRadius, []int{0}
	}
	s, other, least := scaleTwin(x), scaleTwin(y), min(apartTwin(x), apartTwin(y))
	if values := spectrumTwin(s, other); max(-values[0], values[len(values)-1]) > SameScale {
		return false, nil
	}
	for _, labels := range permutations(len(x)) {
		good := true
		for a, b := range labels {
			from, to := x[a].Mean, y[b].Mean
			good = good && max(lengthTwin(s, from, to), lengthTwin(other, from, to)) <= Share*least &&
				max(math.Abs(levelTwin(x[a])-levelTwin(y[b])), shapeTwin(x[a], y[b])) <= Inner*least
		}
		if good {
			return jointTwin(x, y, labels) <= radius-roundRadius, labels
		}
	}
	return false, nil
}

func permutations(k int) [][]int {
	if k == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, p := range permutations(k - 1) {
		for at := range k {
			out = append(out, slices.Insert(slices.Clone(p), at, k-1))
		}
	}
	return out
}

// TestFriendsAgainstTwin: friendship, labels, counts and H are those of the definition, on tables
// where about half of the pairs are friends.
func TestFriendsAgainstTwin(t *testing.T) {
	g := seeded(4)
	friendly, pairs := 0, 0
	for round := range 60 {
		k, d := 1+round%3, 1+round%6
		table := scatteredTable(g, 12, k, d, 1+4*g.Float64(), .02+.2*g.Float64())
		r := rulesFor(12, k, d, .3+2*g.Float64())
		a := r.compare(table)
		counts := make([]int, 12)
		for i := range table {
			for j := range table {
				want, labels := true, []int(nil)
				if i != j {
					want, labels = friendsTwin(table[i], table[j], r.Radius)
					pairs++
				}
				if got := a.friends[i*12+j]; got != want {
					t.Fatalf("round %d, k = %d, d = %d: friends %v, want %v", round, k, d, got, want)
				}
				if want {
					counts[i]++
					friendly++
					if got := a.matched(i, j, newPair(k, d)); i != j && !slices.Equal(got, labels) {
						t.Fatalf("labels %v, want %v", got, labels)
					}
				}
			}
		}
		h := 0
		for x := 1; x <= 12; x++ {
			many := 0
			for _, q := range counts {
				if q >= x {
					many++
				}
			}
			if many >= x {
				h = x
			}
		}
		if !slices.Equal(a.popular, counts) || a.H() != h {
			t.Errorf("counts %v and H %d, want %v and %d", a.popular, a.H(), counts, h)
		}
	}
	if friendly < pairs/5 || friendly > pairs*4/5 {
		t.Errorf("%d of %d are friends: this test is too easy", friendly, pairs)
	}
}

// TestFriendsAreWithinRadius: by exact factors, for roots of nearly the worst condition and pairs
// about the boundary of friendship.
func TestFriendsAreWithinRadius(t *testing.T) {
	g := seeded(18)
	for _, d := range []int{1, 2, 5, 20} {
		for _, radius := range []float64{leastRadius, .01, .1, 1, MaxRadius} {
			l, p := Rules{Columns: d, Radius: radius}.limits(), newPair(1, d)
			friends, strangers := 0, 0
			for range 100 {
				base := Component{Weight: .5, Mean: normals(g, d, 1), Root: make([]float64, d*d)}
				for i := range d {
					size := math.Pow(10, -5.4*g.Float64())
					for j := range i {
						base.Root[i*d+j] = .1 * size * g.NormFloat64()
					}
					base.Root[i*d] = 1
					base.Root[i*d+i] = size
				}
				x, ok := newFactor(base, d)
				other := perturbed(g, []Component{base}, radius*(.8+.4*g.Float64())/math.Sqrt(float64(2*d*d+2*d+1)))[0]
				y, ok2 := newFactor(other, d)
				if !ok || !ok2 {
					continue
				}
				exact, norms, total := relativeExactly(&x, &y, d), make([]float64, d+1), 0.0
				dense.Orthogonalize(exact, d+1, norms)
				for _, v := range norms {
					total += square(2 * math.Log(v))
				}
				switch is := l.friends(&estimate{parts: []Factor{x}}, &estimate{parts: []Factor{y}}, p); {
				case is && math.Sqrt(total) > radius || !is && math.Sqrt(total) < radius-2*roundRadius:
					t.Errorf("d = %d, radius %v: friends %v at a distance of %v", d, radius, is, math.Sqrt(total))
				case is:
					friends++
				default:
					strangers++
				}
			}
			if friends < 10 || strangers < 10 {
				t.Errorf("d = %d, radius %v: %d friends, %d not: this test is too easy", d, radius, friends, strangers)
			}
		}
	}
}
