package amn24

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/literal/paper"
)

// rate is the constant of Lemmas H.3 to H.7, which the text calls universal: 3 here. That of one
// direction tends to 2, or to sqrt 2 for means.
const rate = 3

// off are eta ln(1/eta) and eta sqrt(ln(1/eta)): what a part eta of a Gaussian's rows can do to a
// mean of squares and to a mean.
func off(eta float64) (squares, means float64) {
	return eta * math.Log(1/eta), eta * math.Sqrt(math.Log(1/eta))
}

// corrupted are ways to replace r rows of p, chosen after all were seen: none, far away, zeros for
// those farthest along a direction, a clump at 2.5 sd for those on the other side, one row many
// times.
func corrupted(rng *rand.Rand, p pair, x [][]float64, r int) (all [][][]float64) {
	d := len(p.Mean)
	v := directions(d, tested)[rng.IntN(len(directions(d, tested)))]
	order := slices.Clone(x)
	z := func(row []float64) float64 { return along(whitened([][]float64{row}, p), v)[0] }
	slices.SortFunc(order, func(a, b []float64) int {
		if z(a) < z(b) {
			return -1
		}
		return 1
	})
	at := func(scale float64) []float64 {
		row := slices.Clone(p.Mean)
		for i := range d {
			for j := range d {
				row[i] += scale * p.L.At(i, j) * v[j]
			}
		}
		return row
	}
	for _, c := range []struct {
		to  float64
		low bool
	}{{to: 1e6}, {to: 0}, {to: 2.5, low: true}, {to: 1.2, low: true}, {to: -40}} {
		y := slices.Clone(order)
		if !c.low {
			slices.Reverse(y)
		}
		for i := range r {
			y[i] = at(c.to)
		}
		rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
		all = append(all, y)
	}
	return append(all, x)
}

// centred is p with mean 0.
func centred(p pair) pair { return paper.FromFactor(make([]float64, len(p.Mean)), p.L) }

// Where part eta of the rows is arbitrary, the covariance of Lemma H.2 is within O(eta) of the
// truth along all directions that are looked along: within 26 eta here, and exactly what
// the quantiles at 1/2 - 4 eta and 1/2 + 4 eta say. That holds unless some direction's part of rows
// is off by eta: 1e-9 for each table by the inequality of Dvoretzky, Kiefer and Wolfowitz, whose n
// it is; 4 tables. Sample moments are off by more.
//
// Shows: [AMN24] Lemma H.2.
func TestLemmaH2(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, eta := range []float64{.04, .02} {
		for d := 1; d <= 2; d++ {
			n := int(math.Log(2*tested/1e-9) / (2 * eta * eta))
			p, cov := randomPair(rng, d)
			p = centred(p)
			high := math.Pow(math.Sqrt2*math.Erfinv(.5+4*eta)/median, 2) - 1
			low := 1 - math.Pow(math.Sqrt2*math.Erfinv(.5-4*eta)/median, 2)
			if high > 26*eta {
				t.Fatalf("eta %v: the bound is %v", eta, high)
			}
			worst, broken := 0., 0
			for _, x := range corrupted(rng, p, drawn(rng, p, n), int(eta*float64(n))) {
				s := enumerated{Eta: eta}.spectral(x)
				_, sample := moments(x)
				bad := false
				for _, v := range directions(d, tested) {
					q := formOf(s, v)/formOf(cov, v) - 1
					worst = math.Max(worst, math.Abs(q))
					if q > high || q < -low {
						t.Errorf("eta %v, d %d: off by %v along %v, the bound is %v and %v", eta, d, q, v, -low, high)
					}
					bad = bad || math.Abs(formOf(sample, v)/formOf(cov, v)-1) > high
				}
				if bad {
					broken++
				}
			}
			t.Logf("eta %v, d %d: off by %.3f at most, the bound is %.3f; sample moments break it %d times of 6", eta, d, worst, high, broken)
			if broken == 0 {
				t.Errorf("eta %v, d %d: sample moments are as good", eta, d)
			}
		}
	}
}

// For all P of rank 1 or 2 and Frobenius norm 1 and all subsets of a part 1-eta of the rows, the
// mean of <x x^t - I, P> is at most 3 eta ln(1/eta); for the worst of them it is more than .7
// of eta ln(1/eta), and more than proportional to eta. At 40,000 rows the bounds are 5.6 standard
// errors away at least.
//
// Shows: [AMN24] Lemma H.3.
func TestLemmaH3(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const n = 40000
	for _, c := range []struct{ d, rank int }{{1, 1}, {2, 1}, {2, 2}} {
		x := drawn(rng, unitPair(c.d), n)
		var worst []float64
		for _, eta := range []float64{.08, .02} {
			w := 0.
			for _, p := range matrices(c.d, c.rank) {
				if math.Abs(mat.Norm(p, 2)-1) > 1e-9 || c.rank == 1 && c.d == 2 && math.Abs(mat.Det(p)) > 1e-9 {
					t.Fatalf("%v: want rank %d and norm 1", mat.Formatted(p), c.rank)
				}
				w = math.Max(w, farthest(x, p, nil, int(eta*n)))
			}
			squares, _ := off(eta)
			t.Logf("%+v, eta %v: %.4f is %.2f eta ln(1/eta)", c, eta, w, w/squares)
			if w > rate*squares || w < .7*squares {
				t.Errorf("%+v, eta %v: %v, want .7 to %d times %v", c, eta, w, rate, squares)
			}
			worst = append(worst, w/eta)
		}
		if worst[1] < worst[0] {
			t.Errorf("%+v: proportional to eta: %v", c, worst)
		}
	}
}

// Where S' is off by rho in Frobenius norm and by at most 1/2 in spectral norm, some P of rank k
// shows it in all subsets of a part 1-eta of the rows: the mean of <S'^-1/2 x x^t S'^-1/2 - I, P>
// is at least sqrt(k/d) rho/2, less what Lemma H.3 allows times 1 plus the spectral distance. P is
// of the k largest eigenvalues. In half of the cases that is more than the identity may show. The
// bounds are 10 standard errors away.
//
// Shows: [AMN24] Lemma H.4.
func TestLemmaH4(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const d, n, eta = 3, 6000, .01
	x := drawn(rng, unitPair(d), n) // S = I; any other S is a change of units
	squares, _ := off(eta)
	shown, all := 0, 0
	for range 40 {
		spread := make([]float64, d)
		for i := range spread {
			spread[i] = 1 + .5*(2*rng.Float64()-1)
		}
		u := frame(rng, d, d)
		rho := 0.
		lambda, order := make([]float64, d), []int{0, 1, 2}
		for i, s := range spread {
			rho, lambda[i] = math.Hypot(rho, s-1), 1/s-1
		}
		slices.SortFunc(order, func(a, b int) int {
			if math.Abs(lambda[a]) > math.Abs(lambda[b]) {
				return -1
			}
			return 1
		})
		for k := 1; k <= d; k++ {
			norm, y := 0., make([]float64, n)
			for _, i := range order[:k] {
				norm = math.Hypot(norm, lambda[i])
			}
			for _, i := range order[:k] {
				for j, a := range along(x, mat.Col(nil, i, u)) {
					y[j] += lambda[i] / norm * (a*a/spread[i] - 1)
				}
			}
			slices.Sort(y)
			got := mean(y[:n-int(eta*n)])
			signal, noise := math.Sqrt(float64(k)/d)*rho/2, rate*squares*(1+math.Abs(lambda[order[0]]))
			if got < signal-noise {
				t.Errorf("k %d, spread %v: %v, want at least %v - %v", k, spread, got, signal, noise)
			}
			if all++; got > rate*squares {
				shown++
			}
		}
	}
	t.Logf("%d of %d are shown to be wrong", shown, all)
	if 2*shown < all {
		t.Errorf("%d of %d covariances are shown to be wrong", shown, all)
	}
}

// What Lemma H.5 returns is within 6 eta ln(1/eta) of the truth in one column, whichever rows were
// replaced: 3 for the threshold that is met and 3 for the clean rows. At 3000 rows the worst case
// is 10 standard errors away. In two columns, on 12 rows of which one is replaced and all sets S
// are looked at: along each P it is off by no more than the threshold that was met plus what the
// clean rows, two of them left out, show along J^t P J. That has no chance in it.
//
// Shows: [AMN24] Lemma H.5.
func TestLemmaH5(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, eta := range []float64{.08, .03} {
		const n = 3000
		p, cov := randomPair(rng, 1)
		p = centred(p)
		squares, _ := off(eta)
		for i, x := range corrupted(rng, p, drawn(rng, p, n), int(eta*n)) {
			s, _ := enumerated{Eta: eta}.frobenius(x, nil)
			v := math.Abs(s.At(0, 0)/cov.At(0, 0) - 1)
			t.Logf("eta %v, case %d: off by %.2f eta ln(1/eta)", eta, i, v/squares)
			if v > 2*rate*squares {
				t.Errorf("eta %v, case %d: off by %v", eta, i, v)
			}
		}
	}
	for range 50 { // in one column the rows to set aside are the least and the largest
		x := drawn(rng, unitPair(1), 8)
		e, least := enumerated{Eta: .25}, math.Inf(1)
		eachKept(8, 2, func(keep []bool) {
			var y []float64
			for i, k := range keep {
				if k {
					y = append(y, x[i][0]*x[i][0])
				}
			}
			slices.Sort(y)
			low, high := mean(y[:4]), mean(y[2:])
			least = math.Min(least, (high-low)/(high+low))
		})
		if _, met := e.line(x); math.Abs(met-least) > 1e-12 {
			t.Fatalf("%v: the least threshold is %v, not %v", x, least, met)
		}
	}
	for trial := range 4 {
		e := enumerated{Eta: 1. / 12, Rank: 1 + trial%2}
		p, _ := randomPair(rng, 2)
		p = centred(p)
		clean := drawn(rng, p, 12)
		for _, x := range corrupted(rng, p, clean, 1) {
			s, met := e.frobenius(x, e.spectral(x))
			covarianceWithin(t, e, p, s, clean, met)
		}
	}
}

// covarianceWithin is the guarantee of Lemma H.5 on one table: S and T in its proof are the rows
// kept and those of them that are clean.
func covarianceWithin(t *testing.T, e enumerated, truth pair, s *mat.SymDense, clean [][]float64, met float64) {
	t.Helper()
	d := len(truth.Mean)
	z := whitened(clean, truth)
	var j mat.Dense // J J^t = S'^-1/2 S S'^-1/2
	j.Mul(paper.NewGaussian(truth.Mean, s).Inverse, truth.L)
	far := shifted(gram(&j))
	for _, p := range matrices(d, e.Rank) {
		q := mat.NewSymDense(d, nil)
		pulled := product(j.T(), p, &j)
		for a := range d {
			for b := range a + 1 {
				q.SetSym(a, b, pulled.At(a, b))
			}
		}
		var m mat.Dense
		m.Mul(far, p)
		if got, most := math.Abs(mat.Trace(&m)), met+farthest(z, q, nil, 2*e.aside(len(clean))); got > most+1e-9 {
			t.Errorf("rank %d: off by %v, the bound is %v", e.Rank, got, most)
		}
	}
}
