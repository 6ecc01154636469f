package gaussian

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A need is a number of rows for d columns.
type need struct{ d, n float64 }

// section7 is the table of [TYLERPRESS] Section 7 as its CHECKED notes correct it: the rows for an
// error within twice the non-private one in 85 % of runs.
var section7 = []need{{1, 1300}, {2, 950}, {5, 2290}, {10, 4700}, {20, 13500}}

// relationRows is n, or what add-or-remove-one needs in its place by Section 0.3.
func relationRows(n float64, rel privacy.Relation) int {
	if rel == privacy.AddRemoveOne {
		n *= .75
	}
	return int(n)
}

// TestSection7: at 1.1 times the table, at least 85 % of the runs are within twice the non-private
// error, whatever the condition number: of all runs, and of each line's in the long form.
//
// Shows: [TYLERPRESS] Section 7.
func TestSection7(t *testing.T) {
	good, all := 0, 0
	for _, need := range section7 {
		d, runs := int(need.d), 4
		if long() {
			runs = map[int]int{1: 150, 2: 150, 5: 100, 10: 60, 20: 24}[d]
		} else if d > 2 {
			continue
		}
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			for _, kappa := range []float64{1, 1e4, 1e8, 1e12} {
				if !long() && kappa != 1e8 {
					continue
				}
				n := relationRows(1.1*need.n, rel)
				r := simulate(t, gaussianSetting(d, n, rel, kappa, 10), runs)
				t.Logf("d=%d n=%d %v kappa=%g: %v", d, n, rel, kappa, r)
				if good, all = good+r.good, all+r.runs; long() {
					stattest.GoodAtLeast(t, r.good, r.runs, .85, alarm)
				}
			}
		}
	}
	stattest.GoodAtLeast(t, good, all, .85, alarm)
	stattest.BadAtLeast(t, all/5, all, .85, alarm)
}

// TestLongTable: at n = 1e5 and a condition number of 1e8 privacy costs at most 15 % of the error:
// the sum of the errors over the sum of those of the rows' own covariance. Errors of one table have
// a relative sd of 1/d or so and the two go together, so that the ratio is known to 2 % or better;
// the bar is missed only beyond 5 of the sds that the runs themselves show.
//
// Shows: [TYLERPRESS] Section 7.
func TestLongTable(t *testing.T) {
	if !long() {
		t.Skip("takes a minute; set GAUZE_LONG=1")
	}
	const n = 100000
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, d := range []int{1, 2, 5, 10, 20} {
			var mu sync.Mutex
			var own, plain []float64
			s := setting{d: d, n: n, rel: rel, sample: func(rng *rand.Rand) ([][]float64, func(estimate.Outcome) float64) {
				w := newWorld(rng, d, 1e8, 10, d)
				rows := w.rows(rng, n)
				return rows, func(o estimate.Outcome) float64 {
					cov, _, _ := w.errors(o)
					least := w.ownError(rows)
					mu.Lock()
					defer mu.Unlock()
					own, plain = append(own, cov), append(plain, least)
					return cov / least
				}
			}}
			runs := 24
			if d >= 10 {
				runs = 10
			}
			r := simulate(t, s, runs)
			ratio := meanOf(own) / meanOf(plain)
			spread := 0.0
			for i, e := range own {
				spread += math.Pow(e-ratio*plain[i], 2)
			}
			sd := math.Sqrt(spread) / float64(len(own)) / meanOf(plain)
			t.Logf("d=%d %v: %.3f times the non-private error, sd %.3f; released %d of %d", d, rel, ratio, sd, r.ok, r.runs)
			if r.ok < r.runs || !(ratio <= 1.15+5*sd) {
				t.Errorf("d=%d %v: %.3f times the non-private error (sd %.3f), want 1.15 at most; %v", d, rel, ratio, sd, r)
			}
		}
	}
}

// ownError is the error of the rows' own covariance.
func (w world) ownError(rows [][]float64) float64 {
	d := w.d
	sum, second := make([]float64, d), mat.NewSymDense(d, nil)
	z := mat.NewVecDense(d, nil)
	for _, x := range rows {
		for i := range d { // in the coordinates in which the truth is N(0, I)
			v := 0.0
			for j := range d {
				v += w.q.At(j, i) * (x[j]/w.scale[j] - w.mean[j])
			}
			z.SetVec(i, v/w.sd[i])
			sum[i] += v / w.sd[i]
		}
		second.SymRankOne(second, 1, z)
	}
	n, e := float64(len(rows)), 0.0
	for i := range d {
		for j := range d {
			v := second.At(i, j)/n - sum[i]/n*sum[j]/n
			if i == j {
				v--
			}
			e += v * v
		}
	}
	return math.Sqrt(e)
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// middleMean is the mean of the middle 80 %, as in the experiments published with CoinPress.
func middleMean(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	cut := len(v) / 10
	return meanOf(v[cut : len(v)-cut])
}

// TestBesideCoinPress: at rho = .5 and without bounds, covariance at d = 10 from 3000 rows around 0
// within .225 (published .306 with bounds, non-private .191), and the mean at d = 50 from 1000 rows
// of a spherical Gaussian within .285 (.281 with tight bounds). Over 60 runs the mean of the middle
// has an sd of 1 %; the bars are missed only beyond 5 of these.
//
// Shows: [TYLERPRESS] Section 4.
func TestBesideCoinPress(t *testing.T) {
	runs := 8
	if long() {
		runs = 60
	}
	for _, c := range []struct {
		name  string
		d, n  int
		shape estimate.CovarianceType
		bar   float64
		far   float64 // of the mean
	}{{"covariance", 10, 3000, estimate.Full, .225, 0}, {"mean", 50, 1000, estimate.Spherical, .285, 10}} {
		var mu sync.Mutex
		var found []float64
		s := setting{d: c.d, n: c.n, rel: privacy.ReplaceOne, rho: .5, cov: c.shape, sample: func(rng *rand.Rand) ([][]float64, func(estimate.Outcome) float64) {
			w := newWorld(rng, c.d, 1, c.far, c.d)
			return w.rows(rng, c.n), func(o estimate.Outcome) float64 {
				e, mean, _ := w.errors(o)
				if c.name == "mean" {
					e = mean
				}
				mu.Lock()
				defer mu.Unlock()
				found = append(found, e)
				return e
			}
		}}
		r := simulate(t, s, runs)
		e, sd := middleMean(found), .08*c.bar/math.Sqrt(float64(runs))
		t.Logf("%s d=%d n=%d: %.4f (all: %.4f), released %d of %d %v", c.name, c.d, c.n, e, meanOf(found), r.ok, r.runs, r.reasons)
		if !(e <= c.bar+5*sd) || r.ok < r.runs*9/10 {
			t.Errorf("%s d=%d n=%d: error %.4f, want %v; released %d of %d", c.name, c.d, c.n, e, c.bar, r.ok, r.runs)
		}
	}
}

// TestRank: in the settings of [TYLERPRESS] Section 4.4 the rank is exact: no spread in the
// directions that have none, and the others within a factor of four. A fit misses a dependence with
// a probability of 1e-3 at most (see TestDependence; of 1,000 of rank 1 and 3 none did), so that
// three of the 12 do with 2e-7, and nine of the 288 of the long form with less.
//
// Shows: [TYLERPRESS] Section 4.4.
func TestRank(t *testing.T) {
	lost := 0
	for _, c := range []struct {
		d, rank, constant, n int
		units                float64
	}{{5, 3, 0, 4000, 1}, {5, 5, 1, 4000, 1}, {10, 7, 0, 8000, 1}, {10, 7, 2, 12000, 1}, {10, 7, 0, 8000, 1e3}, {20, 15, 0, 30000, 1}} {
		runs := 3
		if long() {
			runs = 24
		} else if c.d > 5 {
			continue
		}
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			s := setting{d: c.d, n: c.n, rel: rel, sample: func(rng *rand.Rand) ([][]float64, func(estimate.Outcome) float64) {
				k := c.d - c.constant
				w := newWorld(rng, k, 1e4, 10, min(c.rank, k))
				for j := range w.scale {
					w.scale[j] = math.Pow(c.units, 2*rng.Float64()-1)
				}
				rows := w.rows(rng, c.n)
				for i := range rows {
					for j := range c.constant {
						rows[i] = append(rows[i], 7*float64(j+1))
					}
				}
				return rows, func(o estimate.Outcome) float64 {
					cov, null, rank := w.errorsAmong(o, c.d)
					for j := range c.constant {
						if g := o.Model.Components[0]; g.Cov.At(k+j, k+j) != 0 || g.Mean[k+j] != 7*float64(j+1) {
							return math.Inf(1)
						}
					}
					if rank != min(c.rank, k) || null > 1e-8 {
						return math.Inf(1)
					}
					return cov / math.Sqrt(float64(rank*(rank+1))/float64(c.n))
				}
			}}
			r := simulate(t, s, runs)
			t.Logf("%+v %v: %v", c, rel, r)
			if lost += r.runs - r.ok + r.bad; lost > 2+runs/4 {
				t.Errorf("%+v %v: %d fits so far without a release, of a wrong rank or beyond four times the error: %v", c, rel, lost, r)
			}
			stattest.GoodAtLeast(t, r.good, r.runs, .85, alarm)
		}
	}
}

// errorsAmong are the errors of the first w.d of all columns, and the numerical rank of the model.
func (w world) errorsAmong(o estimate.Outcome, all int) (cov, null float64, rank int) {
	g := o.Model.Components[0]
	f := mat.DenseCopyOf(g.Cov.Factor())
	for j := range w.d {
		for i := range f.RawRowView(j) {
			f.Set(j, i, f.At(j, i)/w.scale[j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(f, mat.SVDNone) {
		return math.Inf(1), math.Inf(1), -1
	}
	values := svd.Values(nil)
	for _, s := range values {
		rank += b2i(s > 1e-8*values[0])
	}
	var rel mat.Dense
	rel.Mul(w.q.T(), f.Slice(0, w.d, 0, f.RawMatrix().Cols))
	for i, sd := range w.sd {
		row := rel.RawRowView(i)
		if sd == 0 {
			null = math.Max(null, mat.Norm(mat.NewVecDense(len(row), row), 2))
			continue
		}
		for j := range row {
			row[j] /= sd
		}
	}
	for i := range w.d {
		for j := range w.d {
			if w.sd[i] > 0 && w.sd[j] > 0 {
				v := mat.Dot(rel.RowView(i), rel.RowView(j))
				cov += math.Pow(v-float64(b2i(i == j)), 2)
			}
		}
	}
	return math.Sqrt(cov), null, rank
}

// TestNoFalseRelease: at half the rows, of the table of Section 7 and of this package's own, a
// released covariance is within four times the non-private error. Of 1000 runs none may be beyond:
// at most 2 are let pass, which a true rate of 1e-4 exceeds with probability 1.5e-4.
//
// Shows: [TYLERPRESS] Section 4.2.
func TestNoFalseRelease(t *testing.T) {
	runs := 10
	if long() {
		runs = 1000
	}
	own := []need{{2, float64(tableRows(2))}, {5, float64(tableRows(5))}, {10, float64(tableRows(10))}}
	for _, table := range [][]need{section7[1:4], own} {
		for _, need := range table {
			d := int(need.d)
			if !long() && d > 5 {
				continue
			}
			for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
				for _, kappa := range []float64{1, 1e12} {
					n := relationRows(need.n/2, rel)
					r := simulate(t, gaussianSetting(d, n, rel, kappa, 10), runs/4)
					t.Logf("d=%d n=%d %v kappa=%g: %v", d, n, rel, kappa, r)
					if r.bad > 2 {
						t.Errorf("d=%d n=%d %v kappa=%g: released beyond four times the error: %v", d, n, rel, kappa, r)
					}
				}
			}
		}
	}
}
