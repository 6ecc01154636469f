package blocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// spread are random roots, n x n, of which each is at the given distance from I, in a random
// direction.
func spread(g *rand.Rand, count, n int, far float64) [][]float64 {
	out := make([][]float64, count)
	for i := range out {
		s := normals(g, n*n, 1)
		for a := range n {
			for b := range a {
				s[a*n+b] = s[b*n+a]
			}
		}
		length := math.Sqrt(dense.Dot(s, s))
		out[i] = exp(s, far/length/2, n)
	}
	return out
}

func evenly(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 / float64(n)
	}
	return out
}

// gradientTwin is |G| at X by the book.
func gradientTwin(x []float64, factors [][]float64, weights []float64, n int) float64 {
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(n, x), true)
	var v, root, inverse mat.Dense
	e.VectorsTo(&v)
	build := func(to *mat.Dense, f func(float64) float64) {
		d := mat.NewDiagDense(n, nil)
		for i, value := range e.Values(nil) {
			d.SetDiag(i, f(value))
		}
		to.Product(&v, d, v.T())
	}
	build(&root, math.Sqrt)
	build(&inverse, func(x float64) float64 { return 1 / math.Sqrt(x) })
	total := mat.NewDense(n, n, nil)
	for i, b := range factors {
		var m mat.Dense
		m.Product(&inverse, symmetric(b, n), &inverse)
		s := mat.NewSymDense(n, nil)
		for r := range n {
			for c := range n {
				s.SetSym(r, c, (m.At(r, c)+m.At(c, r))/2)
			}
		}
		var e mat.EigenSym
		e.Factorize(s, true)
		var v, log mat.Dense
		e.VectorsTo(&v)
		d := mat.NewDiagDense(n, nil)
		for i, value := range e.Values(nil) {
			d.SetDiag(i, math.Log(value))
		}
		log.Product(&v, d, v.T())
		log.Scale(weights[i], &log)
		total.Add(total, &log)
	}
	return mat.Norm(total, 2)
}

// TestKarcher: the gradient vanishes by another computation, for spreads up to twice what the rules
// allow for the mean's distance from a member; commuting matrices have their geometric mean, two
// matrices the middle of their geodesic.
func TestKarcher(t *testing.T) {
	g := seeded(9)
	for _, n := range []int{2, 3, 6, 11} {
		for _, far := range []float64{.1, 2, 4, 8} {
			for range 5 {
				factors := append(spread(g, 12, n, far), spread(g, 1, n, 0)...)
				weights := evenly(13)
				x, ok := karcher(factors, weights, n)
				if !ok {
					t.Fatalf("n = %d, radius %v: no certificate", n, far)
				}
				if e := gradientTwin(x, factors, weights, n); e > 2e-9*math.Exp(far) {
					t.Errorf("n = %d, radius %v: gradient %v", n, far, e)
				}
			}
		}
		diagonals, logs := make([][]float64, 5), make([]float64, n)
		weights := []float64{.1, .2, .3, .15, .25}
		for i := range diagonals {
			diagonals[i] = make([]float64, n*n)
			for a := range n {
				v := 2 * g.NormFloat64()
				diagonals[i][a*n+a] = math.Exp(v)
				logs[a] += 2 * v * weights[i]
			}
		}
		x, ok := karcher(diagonals, weights, n)
		for a, v := range logs {
			if !ok || math.Abs(math.Log(x[a*n+a])-v) > 1e-8 {
				t.Errorf("n = %d: mean of diagonal matrices has %v for log, want %v", n, math.Log(x[a*n+a]), v)
			}
		}
	}
	half := spread(g, 1, 4, 3)
	// I and S^2 for a symmetric root S: the middle is S
	x, _ := karcher([][]float64{half[0], spread(g, 1, 4, 0)[0]}, []float64{.5, .5}, 4)
	for i, v := range half[0] {
		if math.Abs(x[i]-v) > 1e-8 {
			t.Errorf("the middle of I and S^2 is %v from S", x[i]-v)
		}
	}
}

// TestKarcherAlwaysArrives: far within its cap of iterations for cores of any shape that the rules
// let through, and beyond: clusters of unequal weight at the ends of long axes, with the start at
// one of them.
func TestKarcherAlwaysArrives(t *testing.T) {
	g := seeded(10)
	for round := range 100 {
		n := 2 + g.IntN(5)
		ends := append(spread(g, 1, n, 0), spread(g, 1+g.IntN(4), n, 2*MaxRadius)...)
		weights := make([]float64, len(ends))
		total := 0.0
		for i := range weights {
			weights[i] = math.Exp(4 * g.NormFloat64())
			total += weights[i]
		}
		for i := range weights {
			weights[i] /= total
		}
		if _, ok := karcher(ends, weights, n); !ok {
			t.Fatalf("round %d: no certificate with n = %d, weights %v", round, n, weights)
		}
	}
}

// TestMeanOfTheCore: with all weights equal the mean of copies in other orders and with other roots
// is what was copied; the frame's order goes with it; and a map of the data maps it.
func TestMeanOfTheCore(t *testing.T) {
	g := seeded(11)
	for round := range 30 {
		k, d := 1+g.IntN(4), 1+g.IntN(6)
		m := randomMixture(g, k, d, 4)
		r := rulesFor(24, k, d, 2)
		table := make([][]Component, 24)
		for i := range table {
			table[i] = perturbed(g, m, 0)
		}
		a := r.compare(table)
		frame, means, ok := a.Mean()
		if !ok || a.H() != 24 {
			t.Fatalf("round %d: H = %d of 24 copies", round, a.H())
		}
		if x := between(absolute(t, frame, means), factorsOf(t, m), d+1); x > 1e-6 {
			t.Errorf("round %d: the mean of copies is %v from them", round, x)
		}
		for i := range table {
			table[i] = perturbed(g, m, .1)
		}
		far := carriedAll(g, table, d)
		var away [2]float64
		for i, table := range [][][]Component{table, far} {
			frame, means, ok := r.compare(table).Mean()
			if away[i] = -1; ok {
				away[i] = between(absolute(t, frame, means), factorsOf(t, table[0]), d+1)
			}
		}
		if math.Abs(away[0]-away[1]) > 1e-6 {
			t.Errorf("round %d: the mean is %v from the first estimate, %v after a map of the data", round, away[0], away[1])
		}
	}
}

// carriedAll is a table after one map of the data.
func carriedAll(g *rand.Rand, table [][]Component, d int) [][]Component {
	var all []Component
	for _, m := range table {
		all = append(all, m...)
	}
	all = carried(g, all, d)
	out := make([][]Component, len(table))
	for i, m := range table {
		out[i], all = all[:len(m)], all[len(m):]
	}
	return out
}

func factorsOf(t *testing.T, m []Component) [][]float64 {
	frame := slices.Clone(m)
	n := len(m[0].Mean) + 1
	means := make([][]float64, len(m))
	for c := range means {
		means[c] = make([]float64, n*n)
		for i := range n {
			means[c][i*n+i] = 1
		}
	}
	return absolute(t, frame, means)
}

// TestExactFrames: relative and relativeExactly agree as far as the condition of the roots lets the
// former.
func TestExactFrames(t *testing.T) {
	g := seeded(12)
	for range 200 {
		d := 1 + g.IntN(6)
		m := carried(g, randomMixture(g, 2, d, 3), d)
		x, ok := newFactor(m[0], d)
		y, ok2 := newFactor(m[1], d)
		if !ok || !ok2 {
			continue
		}
		p := newPair(1, d)
		Relative(p.d, p.forth, &x, &y)
		exact := relativeExactly(&x, &y, d)
		for i, v := range exact {
			if math.Abs(v-p.forth[i%(d+1)*(d+1)+i/(d+1)]) > 1e-9*(1+math.Abs(v)) {
				t.Fatalf("d = %d: entry %d should be %v", d, i, v)
			}
		}
	}
}

// TestFrameDoesNotMatter: whose frame the mean is computed in moves it by far less than Slack, for
// roots of nearly the worst condition, means that are far away and estimates as far apart as rules
// let through.
func TestFrameDoesNotMatter(t *testing.T) {
	g := seeded(16)
	most, compared := 0.0, 0
	for range 60 {
		d := 1 + g.IntN(5)
		base := Component{Weight: 1, Mean: normals(g, d, 1e6), Root: make([]float64, d*d)}
		for i := range d {
			base.Root[i*d] = 1
			base.Root[i*d+i] = math.Pow(10, -5*g.Float64()) // all columns nearly the same
		}
		base.Root[0] = 1
		r := rulesFor(24, 1, d, MaxRadius)
		table := make([][]Component, 24)
		for i := range table {
			table[i] = perturbed(g, []Component{base}, .4/math.Sqrt(float64(d)))
		}
		frame, means, ok := r.compare(table).Mean()
		slices.Reverse(table)
		frame2, means2, ok2 := r.compare(table).Mean()
		if !ok || !ok2 {
			continue
		}
		x, _ := newFactor(frame[0], d)
		y, _ := newFactor(frame2[0], d)
		f, f2, n := slices.Clone(means[0]), slices.Clone(means2[0]), d+1
		if !dense.Cholesky(f, n) || !dense.Cholesky(f2, n) {
			t.Fatal("a mean is not positive definite")
		}
		to := relativeExactly(&x, &y, d)
		for i := range n {
			for j := range i {
				to[i*n+j], to[j*n+i] = to[j*n+i], to[i*n+j]
			}
		}
		away := between([][]float64{f}, [][]float64{dense.Mul(to, f2, n, n, n)}, n)
		if most, compared = max(most, away), compared+1; away > Slack/10 {
			t.Errorf("d = %d: means in two frames are %v apart", d, away)
		}
	}
	t.Logf("%d compared, at most %v apart", compared, most)
	if compared < 20 {
		t.Errorf("%d of 60 tables have a mean: this test is too easy", compared)
	}
}

// nasty are mixtures of two components in two columns that are not valid.
func nasty() map[string][]Component {
	good := func() []Component {
		return []Component{{Weight: .5, Mean: []float64{0, 0}, Root: []float64{1, 0, 0, 1}}, {Weight: .5, Mean: []float64{4, 0}, Root: []float64{1, 0, 0, 1}}}
	}
	with := func(change func(m []Component)) []Component { m := good(); change(m); return m }
	out := map[string][]Component{
		"nothing": nil, "empty": {}, "one component": good()[:1], "three": append(good(), good()[0]), "no slices": {{Weight: .5}, {Weight: .5}},
		"equal components":        with(func(m []Component) { m[1] = m[0] }),
		"nearly equal components": with(func(m []Component) { m[1].Mean = []float64{1e-4, 0} }),
		"equal but for weights":   with(func(m []Component) { m[1] = m[0]; m[1].Weight = .1 }),
		"singular root":           with(func(m []Component) { m[0].Root = []float64{1, 1, 1, 1} }),
		"zero root":               with(func(m []Component) { m[0].Root = []float64{0, 0, 0, 0} }),
		"nearly singular root":    with(func(m []Component) { m[0].Root = []float64{1, 0, 1, 1e-7} }),
		"the same, turned":        with(func(m []Component) { m[0].Root = []float64{.6, .8, .6 - .8e-7, .8 + .6e-7} }),
		"short mean":              with(func(m []Component) { m[0].Mean = []float64{0} }),
		"long root":               with(func(m []Component) { m[0].Root = make([]float64, 9) }),
		"zero weight":             with(func(m []Component) { m[0].Weight = 0 }),
		"negative weight":         with(func(m []Component) { m[0].Weight = -.5 }),
		"tiny weight":             with(func(m []Component) { m[0].Weight = 1e-9 }),
		"large weight":            with(func(m []Component) { m[0].Weight = 1.5 }),
		"lengths overflow": with(func(m []Component) {
			m[0].Root, m[1].Root, m[1].Mean = []float64{1e-80, 0, 0, 1e-80}, []float64{1e-80, 0, 0, 1e-80}, []float64{1e80, 0}
		}),
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 1e200} {
		out[fmt.Sprint(bad, " weight")] = with(func(m []Component) { m[1].Weight = bad })
		out[fmt.Sprint(bad, " mean")] = with(func(m []Component) { m[1].Mean = []float64{0, bad} })
		out[fmt.Sprint(bad, " root")] = with(func(m []Component) { m[1].Root = []float64{1, 0, bad, 1} })
		out[fmt.Sprint(bad, " roots")] = with(func(m []Component) { m[1].Root = []float64{bad, bad, bad, bad} })
	}
	return out
}

func TestNastyEstimatesAreInvalid(t *testing.T) {
	r := rulesFor(24, 2, 2, 2)
	m := randomMixture(seeded(13), 2, 2, 5)
	for name, bad := range nasty() {
		table := make([][]Component, 24)
		for i := range table {
			table[i] = m
		}
		table[5], table[6] = bad, bad
		a := r.compare(table)
		if a.popular[5] != 0 || a.popular[6] != 0 || a.popular[0] != 22 || a.H() != 22 {
			t.Errorf("%s: friends %v", name, a.popular)
		}
		if frame, means, ok := a.Mean(); !ok || between(absolute(t, frame, means), factorsOf(t, m), 3) > 1e-6 {
			t.Errorf("%s: the mean of the others is lost", name)
		}
		for i := range table {
			table[i] = bad
		}
		if a := r.compare(table); a.H() != 0 {
			t.Errorf("%s: H = %d for nothing but that", name, a.H())
		}
	}
	// a scale of the data is nothing bad
	for name, columns := range map[string]float64{"large": 1e12, "small": 1e-9} {
		scaled := carriedBy(m, columns)
		if a := rulesFor(10, 2, 2, 2).compare(slices.Repeat([][]Component{scaled}, 10)); a.H() != 10 {
			t.Errorf("%s scale: H = %d of 10", name, a.H())
		}
	}
}

// carriedBy scales the first column.
func carriedBy(m []Component, by float64) []Component {
	out := slices.Clone(m)
	for c := range out {
		out[c].Mean, out[c].Root = slices.Clone(m[c].Mean), slices.Clone(m[c].Root)
		out[c].Mean[0] *= by
		out[c].Root[0] *= by
		out[c].Root[1] *= by
	}
	return out
}

// TestNothingElseMatters: who is a friend of whom depends on those two alone; nothing depends on
// the number of processors, and no argument is changed.
func TestNothingElseMatters(t *testing.T) {
	g := seeded(14)
	for _, d := range []int{2, 5} {
		table := scatteredTable(g, 40, 3, d, 4, .12)
		was := fmt.Sprint(table)
		r := rulesFor(40, 3, d, 2.2)
		a := r.compare(table)
		frame, means, ok := a.Mean()
		for _, processors := range []int{1, 3, 16} {
			old := runtime.GOMAXPROCS(processors)
			b := r.compare(table)
			f, m, is := b.Mean()
			same := slices.Equal(a.friends, b.friends) && ok == is && fmt.Sprint(frame, means) == fmt.Sprint(f, m)
			runtime.GOMAXPROCS(old)
			if !same {
				t.Errorf("d = %d: another agreement with %d processors", d, processors)
			}
		}
		for i := 0; i < len(table); i += 3 {
			other := slices.Clone(table)
			other[i] = [][]Component{nil, table[0], perturbed(g, table[0], .5)}[i/3%3]
			b := r.compare(other)
			for x := range 40 {
				for y := range 40 {
					if x != i && y != i && a.friends[x*40+y] != b.friends[x*40+y] {
						t.Fatalf("d = %d: estimate %d decides whether %d and %d are friends", d, i, x, y)
					}
				}
			}
		}
		if fmt.Sprint(table) != was {
			t.Error("the estimates have been changed")
		}
	}
}

func TestDecode(t *testing.T) {
	got := Decode([][]float64{{.5, 1, 2, 3, 4, 5, 6}}, 2)
	if want := []Component{{Weight: .5, Mean: []float64{1, 2}, Root: []float64{3, 4, 5, 6}}}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, e := range map[string][][]float64{"none": nil, "null": {nil}, "short": {{.5, 1, 2, 3, 4, 5}}, "long": {{.5, 1, 2, 3, 4, 5, 6, 7}}, "NaN": {{.5, 1, 2, 3, 4, 5, math.NaN()}}, "Inf": {{math.Inf(1), 1, 2, 3, 4, 5, 6}}} {
		if got := Decode(e, 2); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRules(t *testing.T) {
	// the least a with 3(a-1) - 2(n-1) >= 1, for one component with 2(a-1) - (n-1) >= 1
	for n := 1; n < 2000; n++ {
		if a := Core(n, 2); 3*(a-1)-2*(n-1) < 1 || 3*(a-2)-2*(n-1) >= 1 || Core(n, 64) != a {
			t.Errorf("Core(%d, 2) = %d", n, a)
		}
		if a := Core(n, 1); 2*(a-1)-(n-1) < 1 || 2*(a-2)-(n-1) >= 1 {
			t.Errorf("Core(%d, 1) = %d", n, a)
		}
	}
	good := Rules{Estimates: 430, Components: 2, Columns: 2, Core: 288, Pass: 348, Radius: 1.5}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	one := Rules{Estimates: 430, Components: 1, Columns: 2, Core: 216, Pass: 220, Radius: 1.5}
	if err := one.Validate(); err != nil {
		t.Error(err)
	}
	if got, want := good.Gamma(), 1.5*(2+(1+142./348)*82/60)/348+1e-6; math.Abs(got-want) > 1e-15 {
		t.Errorf("gamma %v, want %v", got, want)
	}
	if got, want := one.Gamma(), 1.5*(2+(1+214./220)*210/4)/220+1e-6; math.Abs(got-want) > 1e-15 {
		t.Errorf("gamma %v, want %v", got, want)
	}
	for q, want := range map[int]float64{0: 0, 287: 0, 288: 1. / 60, 289: 2. / 60, 346: 59. / 60, 347: 1, 348: 1, 430: 1} {
		if got := good.weight(q); got != want {
			t.Errorf("weight of %d friends %v, want %v", q, got, want)
		}
	}
	for name, change := range map[string]func(r *Rules){
		"no estimates": func(r *Rules) { r.Estimates = 0 }, "no components": func(r *Rules) { r.Components = 0 }, "no columns": func(r *Rules) { r.Columns = 0 },
		"many columns": func(r *Rules) { r.Columns = 21 }, "many components": func(r *Rules) { r.Components = 65 }, "small core": func(r *Rules) { r.Core = 287 },
		"small pass": func(r *Rules) { r.Pass = 289 }, "large pass": func(r *Rules) { r.Pass = 431 }, "no radius": func(r *Rules) { r.Radius = 0 },
		"large radius": func(r *Rules) { r.Radius = 6.1 }, "NaN radius": func(r *Rules) { r.Radius = math.NaN() },
	} {
		r := good
		if change(&r); r.Validate() == nil {
			t.Errorf("%s: no fault found", name)
		}
	}
}
