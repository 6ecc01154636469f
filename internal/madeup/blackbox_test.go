package madeup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// blackBoxes are some of every kind.
var blackBoxes = []BlackBox{
	{Columns: 1, Components: 1}, {Columns: 10, Components: 1}, {Columns: 1, Components: 2, Separation: 6}, {Columns: 2, Components: 3, Separation: 6},
	{Columns: 5, Components: 3, Separation: 4}, {Columns: 2, Components: 5, Separation: 6, Arrangement: Crowded}, {Columns: 3, Components: 2, Separation: 12, LeastWeight: .1},
	{Columns: 2, Components: 3, Separation: 6, LeastWeight: .1, Condition: 100}, {Columns: 2, Components: 3, Separation: 6, Sizes: 100},
	{Columns: 3, Components: 3, Separation: 6, Arrangement: Parallel}, {Columns: 2, Components: 3, Arrangement: Crossing}, {Columns: 1, Components: 2, Arrangement: Nested},
	{Columns: 2, Components: 2, Arrangement: Nested, Growth: math.Sqrt(3), Condition: 1},
	{Columns: 2, Components: 2, Separation: 6, Wide: true}, {Columns: 3, Components: 2, Separation: 6, Turned: true}, {Columns: 2, Components: 2, Separation: 6, Law: "t5"},
}

// units divides means and factors by the columns' standard deviations under the first component:
// what is left is of ordinary size.
func units(m *model.Mixture) (means [][]float64, factors []*mat.Dense) {
	for _, g := range m.Components {
		mean, factor := slices.Clone(g.Mean), mat.DenseCopyOf(g.Cov.Factor())
		for j := range mean {
			own := sd(m.Components[0], j)
			mean[j] = (mean[j] - m.Components[0].Mean[j]) / own
			for a := range mean {
				factor.Set(j, a, factor.At(j, a)/own)
			}
		}
		means, factors = append(means, mean), append(factors, factor)
	}
	return means, factors
}

// The closest two components lie at the separation, which no change of units, origin or axes
// changes; weights and shapes are as asked.
func TestBlackBoxPromises(t *testing.T) {
	for _, b := range blackBoxes {
		for seed := range uint64(30) {
			m, err := b.Truth(seed)
			if err != nil {
				t.Fatalf("%+v: %v", b, err)
			}
			if len(m.Components) != b.Components || m.Dim() != b.Columns {
				t.Fatalf("%+v: %d components in %d columns", b, len(m.Components), m.Dim())
			}
			means, factors := units(m)
			if b.Components > 1 && b.Separation > 0 {
				// A mean of 1e6 with a standard deviation of 1e-3 keeps seven digits of that.
				if far := nearest(means, factors); math.Abs(far/b.Separation-1) > 1e-5 {
					t.Errorf("%+v seed %d: the closest two are %v apart", b, seed, far)
				}
			}
			least, most := slices.Min(m.Weights), slices.Max(m.Weights)
			if b.LeastWeight > 0 && math.Abs(least-b.LeastWeight) > 1e-9 || b.LeastWeight == 0 && most > unevenWeights*least {
				t.Errorf("%+v seed %d: weights %v", b, seed, m.Weights)
			}
			b.checkShapes(t, seed, factors)
		}
	}
}

// checkShapes checks condition numbers before the affine change, and the sizes of nested
// components: relative shapes survive the change.
func (b BlackBox) checkShapes(t *testing.T, seed uint64, factors []*mat.Dense) {
	t.Helper()
	for _, f := range b.factors(rngOf(seed, b)) {
		var svd mat.SVD
		svd.Factorize(f, mat.SVDNone)
		v := svd.Values(nil)
		condition := math.Pow(v[0]/v[len(v)-1], 2)
		low, high := 1.0, b.condition()
		if b.Arrangement == Crossing || b.Arrangement == Parallel {
			low, high = longCondition/usualCondition, longCondition*usualCondition
		}
		if b.Columns > 1 && (condition < low-1e-9 || condition > high*(1+1e-9)) {
			t.Errorf("%+v seed %d: condition %v", b, seed, condition)
		}
	}
	for i := range factors[1:] {
		var relative mat.Dense
		if err := relative.Solve(factors[i], factors[i+1]); err != nil {
			t.Fatal(err)
		}
		var svd mat.SVD
		svd.Factorize(&relative, mat.SVDNone)
		v := svd.Values(nil)
		wide := math.Sqrt(usualCondition)
		if b.Growth > 0 && (math.Abs(v[0]/b.Growth-1) > 1e-5 || math.Abs(v[len(v)-1]/b.Growth-1) > 1e-5) {
			t.Errorf("%+v seed %d: the next size is %v", b, seed, v)
		}
		if b.Arrangement == Nested && b.Growth == 0 && (v[len(v)-1] < 4/wide || v[0] > 10*wide) {
			t.Errorf("%+v seed %d: the next size is %v", b, seed, v)
		}
		if b.Arrangement == Crossing && v[0] < 3 { // crossing at 60° at least
			t.Errorf("%+v seed %d: they do not cross: %v", b, seed, v)
		}
	}
}

// rngOf is the state of the generator in which Truth draws the factors.
func rngOf(seed uint64, b BlackBox) *rand.Rand {
	rng := rand.New(rand.NewPCG(seed, truthStream))
	b.weights(rng)
	return rng
}

// Units are log-uniform over their range, and change with the seed.
func TestBlackBoxUnits(t *testing.T) {
	for _, c := range []struct {
		b         BlackBox
		low, high float64
	}{{BlackBox{Columns: 2, Components: 1}, 1e-3, 1e3}, {BlackBox{Columns: 2, Components: 1, Wide: true}, 1e-9, 1e12}} {
		var logs []float64
		for seed := range uint64(100) {
			m, err := c.b.Truth(seed)
			if err != nil {
				t.Fatal(err)
			}
			for j := range 2 {
				logs = append(logs, math.Log10(sd(m.Components[0], j)))
			}
		}
		slices.Sort(logs)
		low, high := math.Log10(c.low), math.Log10(c.high)
		// Of 200 logarithms the least is above the first twentieth of the range with probability
		// .95^200 < 4e-5, the median within a tenth of the range of the middle but for one in 200.
		room := (high - low) / 20
		if logs[0] < low-.01 || logs[0] > low+room || logs[199] > high+.5 || logs[199] < high-room || math.Abs(logs[100]-(low+high)/2) > 2*room {
			t.Errorf("%+v: units from 1e%.1f to 1e%.1f, median 1e%.1f", c.b, logs[0], logs[199], logs[100])
		}
	}
}

// Rows have the means and covariances of their components, whatever their law, in the frame of the
// component. The seeds are fixed.
func TestBlackBoxRows(t *testing.T) {
	const n, d = 40_000, 2
	for _, law := range []string{"", "uniform", "gamma3", "t5"} {
		b := BlackBox{Columns: d, Components: 2, Separation: 6, Law: law}
		in, err := b.Draw(7, n)
		if err != nil {
			t.Fatal(err)
		}
		for c, g := range in.Truth.Components {
			total, sum, square := 0.0, make([]float64, d), mat.NewSymDense(d, nil)
			for i, label := range in.Labels {
				if label != c {
					continue
				}
				z := mat.NewVecDense(d, nil)
				for j, x := range in.Rows.RawRowView(i) {
					z.SetVec(j, x-g.Mean[j])
				}
				if err := z.SolveVec(g.Cov.Factor(), z); err != nil {
					t.Fatal(err)
				}
				total++
				for j := range d {
					sum[j] += z.AtVec(j)
				}
				square.SymRankOne(square, 1, z)
			}
			rate := 1 / math.Sqrt(total)
			if w := math.Abs(total/n - in.Truth.Weights[c]); w > 5*.5/math.Sqrt(n) {
				t.Errorf("%q: the weight is %v off", law, w)
			}
			for j := range d {
				if math.Abs(sum[j]/total) > 5*rate || math.Abs(square.At(j, j)/total-1) > 20*rate || math.Abs(square.At(0, 1)/total) > 5*rate {
					t.Errorf("%q: component %d has mean %v, second moments %v", law, c, sum[j]/total, mat.Formatted(square))
				}
			}
		}
	}
}

// A mixture of a seed is the same for all numbers of rows, longer tables begin with shorter ones,
// and rows held out are others.
func TestBlackBoxDraw(t *testing.T) {
	for _, b := range blackBoxes {
		short, err := b.Draw(5, 50)
		if err != nil {
			t.Fatal(err)
		}
		long, err := b.Draw(5, 100)
		if err != nil {
			t.Fatal(err)
		}
		held, err := b.Held(5, 100)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if row := short.Rows.RawRowView(i); !slices.Equal(row, long.Rows.RawRowView(i)) || slices.Equal(row, held.Rows.RawRowView(i)) {
				t.Fatalf("%+v: row %d", b, i)
			}
		}
		if !slices.Equal(held.Truth.Components[0].Mean, long.Truth.Components[0].Mean) {
			t.Errorf("%+v: another mixture", b)
		}
	}
	for _, b := range []BlackBox{{}, {Columns: 1}, {Columns: 1, Components: 2}, {Columns: 1, Components: 2, Arrangement: Crossing}, {Columns: 1, Components: 1, Law: "no"},
		{Columns: 2, Components: 2, Separation: 6, Arrangement: Nested}, {Columns: 1, Components: 3, Separation: 6, LeastWeight: .4}} {
		if _, err := b.Draw(1, 10); err == nil {
			t.Errorf("%+v: no error", b)
		}
	}
}

// Outliers are rare, marked, and far out; Cauchy rows are wilder than any.
func TestBlackBoxOutliers(t *testing.T) {
	const n = 20_000
	in, err := BlackBox{Columns: 2, Components: 2, Separation: 6, Outliers: .01}.Draw(3, n)
	if err != nil {
		t.Fatal(err)
	}
	centre, cov := in.Truth.Mean(), Covariance(in.Truth)
	stray, far := 0, 0
	for i, label := range in.Labels {
		if math.Abs(in.Rows.At(i, 0)-centre[0]) > 6*math.Sqrt(cov.At(0, 0)) || math.Abs(in.Rows.At(i, 1)-centre[1]) > 6*math.Sqrt(cov.At(1, 1)) {
			far++
			if label != strayRow {
				t.Errorf("row %d is far and not stray", i)
			}
		}
		if label == strayRow {
			stray++
		}
	}
	if stray < n/100-60 || stray > n/100+60 || far < stray*8/10 { // four standard deviations
		t.Errorf("%d of %d stray, %d of them far", stray, n, far)
	}
	wild, err := BlackBox{Columns: 2, Components: 1, Law: "cauchy"}.Draw(3, n)
	if err != nil {
		t.Fatal(err)
	}
	beyond := 0.0
	for i := range n {
		if math.Abs(wild.Rows.At(i, 0)-wild.Truth.Components[0].Mean[0]) > sd(wild.Truth.Components[0], 0) {
			beyond++
		}
	}
	// a Cauchy variable is beyond its scale half of the time
	if math.Abs(beyond/n-.5) > 5*.5/math.Sqrt(n) {
		t.Errorf("%v beyond the scale", beyond/n)
	}
}
