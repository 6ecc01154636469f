package amn24

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/literal/paper"
)

// square is a random matrix of d columns whose determinant is not near 0.
func square(rng *rand.Rand, d int) *mat.Dense {
	a := mat.NewDense(d, d, nil)
	for {
		a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
		if math.Abs(mat.Det(a)) > .05 {
			return a
		}
	}
}

// mapped is a s a^t.
func mapped(a mat.Matrix, s mat.Symmetric) *mat.SymDense {
	var left, all mat.Dense
	left.Mul(a, s)
	all.Mul(&left, a.T())
	d, _ := all.Dims()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			out.SetSym(i, j, all.At(i, j))
		}
	}
	return out
}

// The map S -> A S A^t of symmetric matrices has determinant det(A)^(d+1), in the coordinates above
// and on the diagonal.
//
// Shows: [AMN24] Lemma C.1.
func TestLemmaC1(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for _, d := range []int{1, 2, 3, 5} {
		a, size := square(rng, d), d*(d+1)/2
		jacobian, column := mat.NewDense(size, size, nil), 0
		for i := range d {
			for j := i; j < d; j++ {
				unit := mat.NewSymDense(d, nil)
				unit.SetSym(i, j, 1)
				image, row := mapped(a, unit), 0
				for r := range d {
					for c := r; c < d; c++ {
						jacobian.Set(row, column, image.At(r, c))
						row++
					}
				}
				column++
			}
		}
		if got, want := mat.Det(jacobian), math.Pow(mat.Det(a), float64(d+1)); math.Abs(got-want) > 1e-8*math.Abs(want) {
			t.Errorf("d %d: determinant %v, want %v", d, got, want)
		}
	}
}

// The normalised volume (1) of a set of pairs is that of its image under an affine map: in two
// columns both are drawn, each in a box about it, and agree within six standard errors (a false
// alarm at 1e-8). The volume that is not normalised
// does not.
//
// Shows: [AMN24] Lemma C.2.
func TestLemmaC2(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	unit, tol := paper.Product([]float64{0, 0}, []float64{1, 1}), tolerance{.4, .5, 1}
	a := mat.NewDense(2, 2, []float64{1.3, .4, -.2, .8})
	l := mat.NewDense(2, 2, nil)
	var qr mat.QR
	qr.Factorize(a.T()) // a = (qr)^t = r^t q^t: r^t is a factor of a a^t
	var r mat.Dense
	qr.RTo(&r)
	l.Copy(r.T())
	volume := func(base pair, wide float64) (normal, normalSE, plain float64) {
		const draws = 60_000
		s := gram(base.L)
		reach := [2]float64{wide * math.Sqrt(s.At(0, 0)), wide * math.Sqrt(s.At(1, 1))}
		box := 4 * reach[0] * reach[1] // of the means; then of the entries, within wide of s's
		spans := [3]float64{s.At(0, 0), math.Sqrt(s.At(0, 0) * s.At(1, 1)), s.At(1, 1)}
		for _, v := range spans {
			box *= 2 * .5 * v
		}
		sum, squares, inside := 0., 0., 0.
		for range draws {
			u := func(span float64) float64 { return span * (2*rng.Float64() - 1) }
			c := mat.NewSymDense(2, []float64{s.At(0, 0) + .5*u(spans[0]), s.At(0, 1) + .5*u(spans[1]), 0, s.At(1, 1) + .5*u(spans[2])})
			det := c.At(0, 0)*c.At(1, 1) - c.At(0, 1)*c.At(0, 1)
			mean := []float64{base.Mean[0] + u(reach[0]), base.Mean[1] + u(reach[1])}
			if det <= 0 || !tol.close(paper.NewGaussian(mean, c), base) {
				continue
			}
			w := math.Pow(det, -2) // (d+2)/2
			sum, squares, inside = sum+w, squares+w*w, inside+1
		}
		normal = sum / draws
		return box * normal, box * math.Sqrt((squares/draws-normal*normal)/draws), box * inside / draws
	}
	v, se, plain := volume(unit, 1)
	w, se2, plainMapped := volume(paper.FromFactor([]float64{5, -7}, l), 1)
	if math.Abs(v-w) > 6*math.Hypot(se, se2) || se > .03*v || se2 > .03*w {
		t.Errorf("volumes %.4f (%.4f) and %.4f (%.4f)", v, se, w, se2)
	}
	if math.Abs(plain/plainMapped-1) < .2 {
		t.Errorf("volumes without the weight %v and %v: the test sees nothing", plain, plainMapped)
	}
}

// For symmetric J of norm at most phi <= 1/2 and eta in [0, 1] the ratio of det(I + eta J) to
// det(I + J) is at most ((1 - eta phi)/(1 - phi))^d, where J = -phi I has it, and at least ((1 +
// eta phi)/(1 + phi))^d, so within e^(+-2 phi d). (The text has lost the exponent; this one is what
// the proof gives.)
//
// Shows: [AMN24] Lemma C.4.
func TestLemmaC4(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 4))
	ratio := func(j *mat.SymDense, eta float64) float64 {
		d := j.SymmetricDim()
		one, scaled := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
		for i := range d {
			for k := i; k < d; k++ {
				unit := 0.
				if i == k {
					unit = 1
				}
				one.SetSym(i, k, unit+j.At(i, k))
				scaled.SetSym(i, k, unit+eta*j.At(i, k))
			}
		}
		return mat.Det(scaled) / mat.Det(one)
	}
	for range 2000 {
		d, phi, eta := 1+rng.IntN(5), .5*rng.Float64(), rng.Float64()
		a := square(rng, d)
		j := mat.NewSymDense(d, nil)
		for i := range d {
			for k := i; k < d; k++ {
				j.SetSym(i, k, a.At(i, k))
			}
		}
		var e mat.EigenSym
		if !e.Factorize(j, false) {
			t.Fatal("no eigenvalues")
		}
		values := e.Values(nil)
		j.ScaleSym(phi/math.Max(-values[0], values[d-1]), j)
		n := float64(d)
		most, least := math.Pow((1-eta*phi)/(1-phi), n), math.Pow((1+eta*phi)/(1+phi), n)
		got := ratio(j, eta)
		if got > most*(1+1e-9) || got < least*(1-1e-9) || most > math.Exp(2*phi*n) || least < math.Exp(-2*phi*n) {
			t.Fatalf("d %d, phi %v, eta %v: %v, bounds %v and %v", d, phi, eta, got, least, most)
		}
		for i := range d {
			for k := i; k < d; k++ {
				j.SetSym(i, k, 0)
			}
			j.SetSym(i, i, -phi)
		}
		if got := ratio(j, eta); math.Abs(got/most-1) > 1e-9 {
			t.Fatalf("d %d, phi %v, eta %v: %v at -phi I, the bound is %v", d, phi, eta, got, most)
		}
	}
}

// volume is the normalised volume of what is close to (0, I), by quadrature over eigenvalues in one
// and two columns: |l1 - l2| dl1 dl2 is the measure of symmetric matrices by theirs, up to a
// constant; and so are areas of balls of means.
func volume(d int, tol tolerance, steps int) (sum float64) {
	step := 2 * tol.Gamma / float64(steps)
	at := func(i int) float64 { return -tol.Gamma + (float64(i)+.5)*step }
	for i := range steps {
		if d == 1 {
			if x := at(i); math.Abs(x) <= tol.Rho {
				sum += step * math.Pow(1+x, -1.5) * 2 * tol.Tau
			}
			continue
		}
		for j := range i {
			if x, y := at(i), at(j); math.Hypot(x, y) <= tol.Rho {
				sum += step * step * (x - y) * math.Pow((1+x)*(1+y), -2) * tol.Tau * tol.Tau
			}
		}
	}
	return sum
}

// A tolerance that is eta times another has eta^(d(d+3)/2) of its normalised volume, up to a factor
// of e^(gamma d(d+2)). In one column the volume is a closed form.
//
// Shows: [AMN24] Lemma C.5.
func TestLemmaC5(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 5))
	for range 60 {
		d, eta := 1+rng.IntN(2), .05+.95*rng.Float64()
		tol := tolerance{.5 * rng.Float64(), .7 * rng.Float64(), 3 * rng.Float64()}
		tol.Rho = math.Max(tol.Rho, .3*tol.Gamma)
		const steps = 600
		all := volume(d, tol, steps)
		got := math.Log(all / volume(d, tol.times(eta), steps))
		n := float64(d)
		want, slack := -n*(n+3)/2*math.Log(eta), tol.Gamma*n*(n+2)
		if math.Abs(got-want) > slack+.01 {
			t.Errorf("d %d, %v, eta %v: the volumes' ratio is e^%v, want e^%v, %v more or less", d, tol, eta, got, want, slack)
		}
		if d == 1 {
			g := math.Min(tol.Gamma, tol.Rho)
			if closed := 4 * tol.Tau * (1/math.Sqrt(1-g) - 1/math.Sqrt(1+g)); math.Abs(all/closed-1) > .01 {
				t.Errorf("%v: volume %v, closed form %v", tol, all, closed)
			}
		}
	}
}

// lowRank is the member of Lemma C.6's net that its proof takes for m: the largest `terms`
// eigenvalues, rounded to multiples of unit, with their eigenvectors, rounded to a lattice that is
// a net of the ball of spacing fine.
func lowRank(m *mat.SymDense, terms int, unit, fine float64) *mat.SymDense {
	d := m.SymmetricDim()
	var e mat.EigenSym
	e.Factorize(m, true)
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	order := make([]int, d)
	for i := range order {
		order[i] = i
	}
	for i := range order { // by size, few of them
		for j := i + 1; j < d; j++ {
			if math.Abs(values[order[j]]) > math.Abs(values[order[i]]) {
				order[i], order[j] = order[j], order[i]
			}
		}
	}
	out, grid := mat.NewSymDense(d, nil), 2*fine/math.Sqrt(float64(d))
	for _, i := range order[:min(terms, d)] {
		v := mat.NewVecDense(d, nil)
		for r := range d {
			v.SetVec(r, grid*math.Round(vectors.At(r, i)/grid))
		}
		out.SymRankOne(out, unit*math.Round(values[i]/unit), v)
	}
	return out
}

// With rank (2 rho/beta)^2 all symmetric matrices of Frobenius norm rho are within beta, in
// spectral norm, of a member of the net that rounds the largest eigenvalues and their vectors: of
// e^O(d (rho/beta)^2) members, where a net of all entries has e^O(d^2).
//
// Shows: [AMN24] Lemma C.6.
func TestLemmaC6(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 6))
	worst := 0.
	for range 2000 {
		d, rho := 1+rng.IntN(12), .2+2*rng.Float64()
		beta := rho * (.25 + .75*rng.Float64())
		a := square(rng, d)
		m := mat.NewSymDense(d, nil)
		m.SymOuterK(1, a)
		if rng.IntN(2) == 0 { // all eigenvalues alike, where least can be left out
			var q mat.QR
			q.Factorize(a)
			var turn mat.Dense
			q.QTo(&turn)
			signs := mat.NewSymDense(d, nil)
			for i := range d {
				signs.SetSym(i, i, float64(2*rng.IntN(2)-1))
			}
			m = mapped(&turn, signs)
		}
		m.ScaleSym(rho/mat.Norm(m, 2), m)
		terms := int(math.Ceil(4 * rho * rho / (beta * beta)))
		b := lowRank(m, terms, beta/4, beta/(8*rho*math.Sqrt(float64(terms))))
		b.ScaleSym(-1, b)
		b.AddSym(m, b)
		var e mat.EigenSym
		if !e.Factorize(b, false) {
			t.Fatal("no eigenvalues")
		}
		v := e.Values(nil)
		off := math.Max(-v[0], v[d-1])
		if worst = math.Max(worst, off/beta); off > beta {
			t.Fatalf("d %d, rho %v, beta %v: %v away", d, rho, beta, off)
		}
	}
	if worst < .4 {
		t.Errorf("at most %.2f beta away: the search is too weak to show anything", worst)
	}
	// ln of the number of members: terms (d ln(2 sqrt d/fine + 3) + ln(8 rho/beta + 3))
	size := func(d int) float64 {
		const terms = 16 // rho = 2 beta
		fine, n := 1/(8*2*math.Sqrt(terms)), float64(d)
		return terms * (n*math.Log(math.Sqrt(n)/fine+3) + math.Log(8*2+3))
	}
	if r := size(4000) / size(2000); r > 2.2 {
		t.Errorf("twice the columns: %v times the logarithm of the net's size", r)
	}
}

// What is close to what is still close when both pairs are mapped, and only then: the three numbers
// that closeness compares are those of the images under x -> A x + b.
//
// Shows: [AMN24] Lemma C.7.
func TestLemmaC7(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 7))
	image := func(p pair, s *mat.SymDense, a *mat.Dense, b []float64) pair {
		mean := mat.NewVecDense(len(b), nil)
		mean.MulVec(a, mat.NewVecDense(len(b), p.Mean))
		mean.AddVec(mean, mat.NewVecDense(len(b), b))
		return paper.NewGaussian(mean.RawVector().Data, mapped(a, s))
	}
	for range 1000 {
		d := 1 + rng.IntN(3)
		p, sp := randomPair(rng, d)
		q, sq := randomPair(rng, d)
		a, b := square(rng, d), make([]float64, d)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		off, values, ok := relate(p, q)
		imageOff, images, imageOK := relate(image(p, sp, a, b), image(q, sq, a, b))
		if !ok || !imageOK || math.Abs(off-imageOff) > 1e-6*(1+off) {
			t.Fatalf("d %d: means %v apart, mapped %v", d, off, imageOff)
		}
		for i, v := range values {
			if math.Abs(v-images[i]) > 1e-6*(1+values[d-1]) {
				t.Fatalf("d %d: eigenvalues %v, mapped %v", d, values, images)
			}
		}
	}
}

// What lies within rho in Frobenius norm of a pair, and then within gamma in spectral norm, has
// little more normalised volume than the spectral ball of gamma alone: at most one such ball, four
// times as wide, for each member of Lemma C.6's net. Volumes in one column are closed forms, in up
// to five means over eigenvalues, of 40,000 draws (within 10 per cent of each other in two halves,
// or the test says so; the bound is far more than that away).
//
// Shows: [AMN24] Lemma C.8.
func TestLemmaC8(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 8))
	// volume is that of all I + J, J of eigenvalues within reach that keep admits.
	volume := func(d int, reach float64, keep func([]float64) bool) float64 {
		const draws = 40_000
		v, halves := make([]float64, d), [2]float64{}
		for n := range draws {
			w := 1.
			for i := range v {
				v[i] = reach * (2*rng.Float64() - 1)
				w *= math.Pow(1+v[i], -float64(d+2)/2)
				for j := range i {
					w *= math.Abs(v[i] - v[j])
				}
			}
			if keep(v) {
				halves[n%2] += w
			}
		}
		if math.Abs(halves[0]/halves[1]-1) > .1 {
			t.Errorf("d %d: %v and %v in two halves of the draws", d, halves[0], halves[1])
		}
		return (halves[0] + halves[1]) / draws * math.Pow(2*reach, float64(d))
	}
	for _, d := range []int{1, 2, 3, 5} {
		for _, gamma := range []float64{.02, .1} {
			for _, rho := range []float64{gamma, 2 * gamma, .4} {
				small := volume(d, gamma, func([]float64) bool { return true })
				fat := volume(d, gamma+rho, func(v []float64) bool {
					beyond := 0. // of the eigenvalues, after the nearest spectral ball took its part
					for _, x := range v {
						beyond = math.Hypot(beyond, math.Max(0, math.Abs(x)-gamma))
					}
					return beyond <= rho
				})
				n, terms := float64(d), math.Min(float64(d), math.Ceil(4*rho*rho/(gamma*gamma)))
				members := terms * (n*math.Log(8*math.Sqrt(n*terms)*rho/gamma+3) + math.Log(8*rho/gamma+3))
				most := members + n*(n+1)/2*math.Log(4) + 4*gamma*n*(n+2)
				if got := math.Log(fat / small); got > most || got < 0 {
					t.Errorf("d %d, gamma %v, rho %v: the volumes' ratio is e^%v, want at most e^%v", d, gamma, rho, got, most)
				}
				if d == 1 {
					of := func(x float64) float64 { return 1/math.Sqrt(1-x) - 1/math.Sqrt(1+x) }
					if closed := of(gamma+rho) / of(gamma); math.Abs(fat/small/closed-1) > .03 {
						t.Errorf("gamma %v, rho %v: ratio %v, closed form %v", gamma, rho, fat/small, closed)
					}
				}
			}
		}
	}
}
