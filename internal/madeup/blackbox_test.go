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
	{Columns: 5, Components: 3, Separation: 4}, {Columns: 2, Components: 3, Arrangement: Crossing}, {Columns: 1, Components: 2, Arrangement: Nested},
	{Columns: 2, Components: 3, Arrangement: Nested},
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
			if most > unevenWeights*least {
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
		low, high := 1.0, usualCondition+0.0
		if b.Arrangement == Crossing {
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
		if b.Arrangement == Nested && (v[len(v)-1] < 4/wide || v[0] > 10*wide) {
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
	var logs []float64
	for seed := range uint64(100) {
		m, err := BlackBox{Columns: 2, Components: 1}.Truth(seed)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			logs = append(logs, math.Log10(sd(m.Components[0], j)))
		}
	}
	slices.Sort(logs)
	// Of 200 logarithms the least is above the first twentieth of the range with probability
	// .95^200 < 4e-5, the median within a tenth of the range of the middle but for one in 200.
	if logs[0] < -3.01 || logs[0] > -2.7 || logs[199] > 3.5 || logs[199] < 2.7 || math.Abs(logs[100]) > .6 {
		t.Errorf("units from 1e%.1f to 1e%.1f, median 1e%.1f", logs[0], logs[199], logs[100])
	}
}

// Rows have the means and covariances of their components, in the frame of the component. The seeds
// are fixed.
func TestBlackBoxRows(t *testing.T) {
	const n, d = 40_000, 2
	b := BlackBox{Columns: d, Components: 2, Separation: 6}
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
			t.Errorf("the weight is %v off", w)
		}
		for j := range d {
			if math.Abs(sum[j]/total) > 5*rate || math.Abs(square.At(j, j)/total-1) > 20*rate || math.Abs(square.At(0, 1)/total) > 5*rate {
				t.Errorf("component %d has mean %v, second moments %v", c, sum[j]/total, mat.Formatted(square))
			}
		}
	}
}

// A mixture of a seed is the same for all numbers of rows, and longer tables begin with shorter
// ones.
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
		for i := range 50 {
			if row := short.Rows.RawRowView(i); !slices.Equal(row, long.Rows.RawRowView(i)) {
				t.Fatalf("%+v: row %d", b, i)
			}
		}
	}
	for _, b := range []BlackBox{{}, {Columns: 1}, {Columns: 1, Components: 2}, {Columns: 1, Components: 2, Arrangement: Crossing},
		{Columns: 2, Components: 2, Separation: 6, Arrangement: Nested}} {
		if _, err := b.Draw(1, 10); err == nil {
			t.Errorf("%+v: no error", b)
		}
	}
}
