package blocks

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/dense"
)

// replay returns draws one after another, and fails the test unless all have been taken in the end.
func replay(t *testing.T, draws []float64) func() *big.Float {
	next := 0
	t.Cleanup(func() {
		if next != len(draws) {
			t.Errorf("%d draws taken of %d", next, len(draws))
		}
	})
	return func() *big.Float {
		next++
		return new(big.Float).SetPrec(576).SetFloat64(draws[next-1])
	}
}

func drawn(r *rand.Rand, n int) []float64 {
	z := make([]float64, n)
	for i := range z {
		z[i] = r.NormFloat64()
	}
	return z
}

// anyRoot is a well-conditioned d x d matrix, its rows on scales up to that factor apart.
func anyRoot(r *rand.Rand, d int, scales float64) []float64 {
	a := drawn(r, d*d)
	for i := range d {
		s := math.Pow(scales, r.Float64()-.5)
		for j := range d {
			a[i*d+j] *= .4 * s
		}
		a[i*d+i] += 2 * s
	}
	return a
}

func gram(a []float64, n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for l := range n {
				m[i*n+j] += a[i*n+l] * a[j*n+l]
			}
		}
	}
	return m
}

// maskedPlainly is Masked for one component in float64, by the formulas of its comment and without
// rounding.
func maskedPlainly(f Component, x []float64, eta float64, z []float64) Component {
	d := len(f.Mean)
	n := d + 1
	s, h := make([]float64, n*n), make([]float64, n*n)
	at := func(i int) int { return (i + d) % n }
	for i := range n {
		for j := range n {
			s[i*n+j], h[j*n+i] = x[at(i)*n+at(j)], eta*z[i*n+j]
		}
		h[i*n+i]++
	}
	dense.Cholesky(s, n)
	m := gram(dense.Mul(s, h, n, n, n), n)
	mean, cov := make([]float64, d), make([]float64, d*d)
	for i := range d {
		mean[i] = m[(i+1)*n] / m[0]
		for j := range d {
			cov[i*d+j] = (m[(i+1)*n+j+1] - m[(i+1)*n]*m[(j+1)*n]/m[0]) / m[0]
		}
	}
	dense.Cholesky(cov, d)
	root := gram(dense.Mul(f.Root, cov, d, d, d), d)
	dense.Cholesky(root, d)
	place := dense.Mul(f.Root, mean, d, d, 1)
	for i := range place {
		place[i] += f.Mean[i]
	}
	return Component{Weight: f.Weight * m[0], Mean: place, Root: root}
}

// apart is the largest difference of two components, entries of row i being compared with the
// diagonal of the root there.
func apart(a, b Component) float64 {
	d := len(a.Mean)
	worst := math.Abs(a.Weight/b.Weight - 1)
	for i := range d {
		scale := math.Abs(b.Root[i*d+i])
		worst = math.Max(worst, math.Abs(a.Mean[i]-b.Mean[i])/scale)
		for j := range d {
			worst = math.Max(worst, math.Abs(a.Root[i*d+j]-b.Root[i*d+j])/scale)
		}
	}
	return worst
}

// TestMaskedPlainly: Masked agrees with float64, draw by draw.
func TestMaskedPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		k, d, eta := 1+r.IntN(3), 1+r.IntN(5), .02+.2*r.Float64()
		n := d + 1
		var frames, want []Component
		var means [][]float64
		var draws []float64
		for range k {
			f := Component{Weight: .1 + r.Float64(), Mean: drawn(r, d), Root: anyRoot(r, d, 1e4)}
			x := gram(anyRoot(r, n, 2), n)
			z := drawn(r, n*n)
			frames, means, draws = append(frames, f), append(means, x), append(draws, z...)
			want = append(want, maskedPlainly(f, x, eta, z))
		}
		for c, got := range Masked(frames, means, eta, replay(t, draws)) {
			if off := apart(got, want[c]); !(off < 1e-9) {
				t.Fatalf("k = %d, d = %d, eta = %g: component %d is off by %g: %v, want %v", k, d, eta, c, off, got, want[c])
			}
		}
	}
}

// TestMaskedParametersPlainly is the same for the parameters by themselves.
func TestMaskedParametersPlainly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		d := 1 + r.IntN(5)
		c := Component{Weight: r.Float64(), Mean: drawn(r, d), Root: anyRoot(r, d, 1e4)}
		z := drawn(r, 1+d+d*d)
		h := make([]float64, d*d)
		for i := range d {
			for j := range d {
				h[j*d+i] = .2 * z[1+d+i*d+j]
			}
			h[i*d+i]++
		}
		want := Component{Weight: c.Weight + .1*z[0], Mean: dense.Mul(c.Root, z[1:1+d], d, d, 1), Root: gram(dense.Mul(c.Root, h, d, d, d), d)}
		dense.Cholesky(want.Root, d)
		for i := range want.Mean {
			want.Mean[i] = c.Mean[i] + .3*want.Mean[i]
		}
		if got := MaskedParameters([]Component{c}, .1, .3, .2, replay(t, z))[0]; !(apart(got, want) < 1e-9) {
			t.Fatalf("d = %d: got %v, want %v", d, got, want)
		}
	}
}

// moved is the image under x -> Bx + b.
func moved(c Component, b, shift []float64) Component {
	d := len(c.Mean)
	m := dense.Mul(b, c.Mean, d, d, 1)
	for i := range m {
		m[i] += shift[i]
	}
	return Component{Weight: c.Weight, Mean: m, Root: dense.Mul(b, c.Root, d, d, d)}
}

// TestMaskedMoves: with the same draws, lower triangular maps of the table, on any scales, move
// what is released alike.
func TestMaskedMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 100 {
		d := 1 + r.IntN(5)
		n := d + 1
		f := Component{Weight: .3, Mean: drawn(r, d), Root: anyRoot(r, d, 1)}
		b, shift := anyRoot(r, d, 1e12), drawn(r, d)
		for i := range d {
			for j := i + 1; j < d; j++ {
				b[i*d+j] = 0
			}
			b[i*d+i], shift[i] = math.Abs(b[i*d+i]), shift[i]*b[i*d+i]
		}
		x := gram(anyRoot(r, n, 2), n)
		z, y := drawn(r, n*n), drawn(r, 1+d+d*d)
		got := Masked([]Component{moved(f, b, shift)}, [][]float64{x}, .1, replay(t, z))[0]
		if want := moved(Masked([]Component{f}, [][]float64{x}, .1, replay(t, z))[0], b, shift); !(apart(got, want) < 1e-9) {
			t.Fatalf("d = %d: got %v, want %v", d, got, want)
		}
		got = MaskedParameters([]Component{moved(f, b, shift)}, .1, .2, .3, replay(t, y))[0]
		if want := moved(MaskedParameters([]Component{f}, .1, .2, .3, replay(t, y))[0], b, shift); !(apart(got, want) < 1e-9) {
			t.Fatalf("d = %d, parameters: got %v, want %v", d, got, want)
		}
	}
}

// TestMaskedFarAway: a place of 1e12 with an sd of 1e-2 costs the mean what float64 cannot hold,
// and the rest nothing.
func TestMaskedFarAway(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, place := range []float64{1e12, -1e12, 1e300, 0} {
		for range 30 {
			d := 1 + r.IntN(4)
			n := d + 1
			f := Component{Weight: .3, Mean: make([]float64, d), Root: anyRoot(r, d, 10)}
			for i := range f.Root {
				f.Root[i] *= 1e-2
			}
			far := Component{Weight: .3, Mean: make([]float64, d), Root: f.Root}
			for i := range far.Mean {
				far.Mean[i] = place
			}
			x := gram(anyRoot(r, n, 2), n)
			z := drawn(r, n*n)
			near, got := Masked([]Component{f}, [][]float64{x}, .1, replay(t, z))[0], Masked([]Component{far}, [][]float64{x}, .1, replay(t, z))[0]
			if near.Weight != got.Weight || !reflect.DeepEqual(near.Root, got.Root) {
				t.Fatalf("place %g: weight and root depend on it", place)
			}
			for i, m := range got.Mean {
				if want := place + near.Mean[i]; math.Abs(m-want) > math.Nextafter(math.Abs(want), math.Inf(1))-math.Abs(want)+1e-11 {
					t.Errorf("place %g: mean %v, want %v", place, m, want)
				}
			}
		}
	}
}

// TestMaskedIsRounded: 40 bits of the weight and of the root's diagonal, and everything else in
// units of it; a triangular root.
func TestMaskedIsRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 200 {
		d := 1 + r.IntN(4)
		n := d + 1
		f := Component{Weight: .3, Mean: drawn(r, d), Root: anyRoot(r, d, 10)}
		for _, c := range append(Masked([]Component{f}, [][]float64{gram(anyRoot(r, n, 2), n)}, .1, replay(t, drawn(r, n*n))),
			MaskedParameters([]Component{f}, .1, .1, .1, replay(t, drawn(r, 1+d+d*d)))...) {
			whole := func(x, scale float64) bool {
				_, e := math.Frexp(scale)
				y := math.Ldexp(x, 40-e)
				return y == math.Trunc(y)
			}
			if !whole(c.Weight, c.Weight) {
				t.Errorf("weight %v has more than 40 bits", c.Weight)
			}
			for i := range d {
				diagonal := c.Root[i*d+i]
				if !(diagonal > 0) || !whole(c.Mean[i], diagonal) {
					t.Fatalf("row %d of %v", i, c)
				}
				for j := range d {
					if x := c.Root[i*d+j]; !whole(x, diagonal) || j > i && x != 0 {
						t.Fatalf("row %d of %v", i, c)
					}
				}
			}
		}
	}
}

// TestMaskDigits: as the bound of Masked's proof has it, for the worst frames, matrices and draws
// that are let in, 500 digits of the draws and 360 decide alike; and 50 do not.
func TestMaskDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	differ := map[int]int{}
	for range 150 {
		d := 1 + r.IntN(4)
		n := d + 1
		f := Component{Weight: .3, Mean: drawn(r, d), Root: make([]float64, d*d)}
		x := make([]float64, n*n)
		for i := range d { // Skeel condition up to 1e6, on scales of 1e-100 to 1e100
			f.Root[i*d+i] = math.Pow(10, 200*r.Float64()-100)
			for j := range i {
				f.Root[i*d+j] = f.Root[i*d+i] * math.Pow(1e6, 1/float64(d)) * (2*r.Float64() - 1)
			}
		}
		root := make([]float64, n*n)
		for i := range n {
			for j := range i {
				root[i*n+j] = r.NormFloat64()
			}
			root[i*n+i] = math.Exp(12 * (r.Float64() - .5))
		}
		copy(x, gram(root, n))
		digits := make([]*big.Float, n*n)
		for i := range digits {
			digits[i] = new(big.Float).SetPrec(500)
			for range 16 { // a float64's own digits, and more behind them
				digits[i].SetMantExp(digits[i], -32)
				digits[i].Add(digits[i], big.NewFloat(r.Float64()))
			}
			digits[i].Add(digits[i], big.NewFloat(r.NormFloat64()))
		}
		if r.IntN(2) == 0 { // I + eta G almost singular: two columns alike to 2^-80
			for i := range n {
				one, other := new(big.Float).SetInt64(int64(max(0, 1-i))), new(big.Float).SetInt64(int64(max(0, 1-(n-1-i))))
				shift := new(big.Float).SetPrec(500).Quo(one.Sub(one, other), big.NewFloat(.125))
				tiny := new(big.Float).SetMantExp(big.NewFloat(r.Float64()), -80)
				digits[(n-1)*n+i].Add(digits[i], shift.Add(shift, tiny))
			}
		}
		run := func(bits int) []Component {
			next := 0
			return Masked([]Component{f}, [][]float64{x}, .125, func() *big.Float {
				next++
				y := new(big.Float).SetMantExp(digits[next-1], bits)
				whole, _ := y.Int(nil)
				return new(big.Float).SetPrec(576).SetMantExp(new(big.Float).SetPrec(576).SetInt(whole), -bits)
			})
		}
		want := run(500)
		for _, bits := range []int{360, 50} {
			if !reflect.DeepEqual(run(bits), want) {
				differ[bits]++
			}
		}
	}
	if differ[360] != 0 || differ[50] < 20 {
		t.Errorf("of 150 results %d change with 360 digits, %d with 50", differ[360], differ[50])
	}
}

// TestMaskedDegenerate: what has probability 0, or no float64, does not panic and shows itself.
func TestMaskedDegenerate(t *testing.T) {
	constant := func(x float64) func() *big.Float { return func() *big.Float { return big.NewFloat(x) } }
	one := Component{Weight: .5, Mean: []float64{1, 2}, Root: []float64{1, 0, 0, 1}}
	identity := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	bad := func(c Component) bool {
		sum := c.Weight * c.Root[0] * c.Root[3]
		return !(sum > 0) || math.IsInf(sum, 0)
	}
	negative := 0
	minus := func() *big.Float { // G = -I
		negative++
		return big.NewFloat(float64(min(0, (negative-1)%4*9-1)))
	}
	for name, out := range map[string][]Component{
		"M = 0":             Masked([]Component{one}, [][]float64{identity}, 1, minus),
		"X = 0":             Masked([]Component{one}, [][]float64{make([]float64, 9)}, 1, constant(0)),
		"X of rank 1":       Masked([]Component{one}, [][]float64{{1, 1, 1, 1, 1, 1, 1, 1, 1}}, 1, constant(0)),
		"no root":           Masked([]Component{{Weight: .5, Mean: []float64{1, 2}, Root: make([]float64, 4)}}, [][]float64{identity}, 1, constant(0)),
		"no spread":         MaskedParameters([]Component{{Weight: .5, Mean: []float64{1, 2}, Root: []float64{0, 0, 1, 1}}}, 1, 1, 1, constant(0)),
		"overflow":          Masked([]Component{{Weight: .5, Mean: []float64{1, 2}, Root: []float64{1e308, 0, 0, 1}}}, [][]float64{identity}, 20, constant(1)),
		"parameters beyond": MaskedParameters([]Component{{Weight: .5, Mean: []float64{1, 2}, Root: []float64{1e308, 0, 0, 1}}}, 1, 1, 20, constant(3)),
	} {
		if len(out) != 1 || !bad(out[0]) {
			t.Errorf("%s: %v", name, out)
		}
	}
	if out := Masked([]Component{one}, [][]float64{identity}, .1, constant(0))[0]; !reflect.DeepEqual(out, one) {
		t.Errorf("without noise: %v, want %v", out, one)
	}
}
