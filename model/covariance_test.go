package model_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// Every covariance passes the same list: F F^T = Sigma, symmetry, type name, scaling of its own
// type.
func TestCovarianceContract(t *testing.T) {
	rng := seeded(10)
	type namedCovariance struct {
		name string
		c    model.Covariance
	}
	sph, _ := model.NewSpherical(3, 2)
	list := []namedCovariance{{"spherical", sph}, {"diagonal", diagonal(t, 1e-60, 0, 1e60)}, {"full", full(t, 2, 1, 1, 1, 1)},
		{"full", factor(t, 2, 5, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1)}, {"full", factor(t, 3, 1, 1e20, 1, 1e-20)}}
	for range 20 {
		d := 1 + rng.IntN(6)
		c := drawnCovariance(t, rng, small{D: d, Condition: 1e8, Rank: 1 + rng.IntN(d)})
		list = append(list, namedCovariance{"full", c})
		again, err := model.NewFull(c.Dense())
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(again.Dense(), c.Dense()) {
			t.Errorf("NewFull changed a matrix that needed no repair")
		}
		list = append(list, namedCovariance{"full", again})
	}
	for _, n := range list {
		if n.c.TypeName() != n.name {
			t.Errorf("type %q, want %q", n.c.TypeName(), n.name)
		}
		d, dense, f := n.c.Dim(), n.c.Dense(), n.c.Factor()
		for i := range d {
			for j := range d {
				got := mat.Dot(f.RowView(i), f.RowView(j))
				scale := math.Sqrt(dense.At(i, i)) * math.Sqrt(dense.At(j, j))
				if math.Abs(got-dense.At(i, j)) > 1e-13*scale || n.c.At(i, j) != dense.At(j, i) {
					t.Errorf("%s: F Fᵀ = %v at (%d, %d), want %v", n.name, got, i, j, dense.At(i, j))
				}
			}
		}
		dense.SetSym(0, 0, -1)
		f.Set(0, 0, math.NaN())
		if n.c.At(0, 0) < 0 || math.IsNaN(n.c.Factor().At(0, 0)) {
			t.Errorf("%s: the covariance shares memory with its caller", n.name)
		}
	}
}

func TestNewFullRepairsRoundingOnly(t *testing.T) {
	accepted := [][]float64{
		{1, 1 + 5e-10, 1 + 5e-10, 1}, {1, 0.5, 0.5 + 1e-12, 1}, {1, 0, 0, -1e-12}, {1, 1e-11, 1e-11, 0}, {0, 0, 0, 0}, {1e-60, 1, 1, 1e60},
	}
	for _, e := range accepted {
		c, err := model.NewFull(mat.NewDense(2, 2, e))
		if err != nil {
			t.Errorf("%v: %v", e, err)
			continue
		}
		if again, err := model.NewFull(c.Dense()); err != nil || !mat.Equal(again.Dense(), c.Dense()) {
			t.Errorf("%v: the repaired matrix is repaired again (%v)", e, err)
		}
		if c.At(0, 1) != c.At(1, 0) || c.At(0, 0) < 0 || c.At(1, 1) < 0 {
			t.Errorf("%v: repaired to %v", e, mat.Formatted(c.Dense()))
		}
	}
	refused := map[string][]float64{
		"eigenvalue": {1, 1.001, 1.001, 1},
		"symmetric":  {1, 0.5, 0.50001, 1},
		"a variance": {1, 0, 0, -0.1},
		"variance 0": {1, 0.1, 0.1, 0},
		"finite":     {1, math.NaN(), math.NaN(), 1},
		"got +Inf":   {math.Inf(1), 0, 0, 1},
	}
	for want, e := range refused {
		if _, err := model.NewFull(mat.NewDense(2, 2, e)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one about %q", e, err, want)
		}
	}
	if _, err := model.NewFull(mat.NewDense(2, 3, nil)); err == nil {
		t.Error("a 2×3 matrix was accepted")
	}
}

func TestConstructorsRefuse(t *testing.T) {
	bad := []float64{-1, math.NaN(), math.Inf(1)}
	for _, v := range bad {
		if _, err := model.NewSpherical(1, v); err == nil {
			t.Errorf("NewSpherical accepted %v", v)
		}
		if _, err := model.NewDiagonal([]float64{1, v}); err == nil {
			t.Errorf("NewDiagonal accepted %v", v)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e200} {
		for _, m := range []int{1, 2} {
			f := mat.NewDense(2, m, nil)
			f.Set(1, 0, v)
			if _, err := model.FullFromFactor(f); err == nil {
				t.Errorf("FullFromFactor accepted %v", v)
			}
		}
	}
	if _, err := model.NewSpherical(0, 1); err == nil {
		t.Error("NewSpherical accepted dimension 0")
	}
	if _, err := model.NewDiagonal(nil); err == nil {
		t.Error("NewDiagonal accepted no column")
	}
}

// Sampled moments against Mean and Covariance. Each z-score is Gaussian to a good approximation at
// n = 20000, and |z| > 6.5 has probability 8e-11; some 200 are looked at, so the false-alarm rate
// is below 1e-7.
func TestSampleMoments(t *testing.T) {
	const n = 20000
	rng := seeded(11)
	for _, o := range []small{{K: 3, D: 3, Condition: 100, Separation: 3}, {K: 2, D: 2, Kind: estimate.Diagonal, Condition: 100},
		{K: 4, D: 2, Kind: estimate.Spherical, Separation: 5}, {K: 1, D: 4, Rank: 2}, {K: 1, D: 70, Kind: estimate.Diagonal}} {
		m := drawn(t, rng, o)
		rows := mat.NewDense(n, o.D, nil)
		if err := m.Sample(rows, rng); err != nil {
			t.Fatal(err)
		}
		mean, cov := m.Mean(), m.Covariance()
		for i := range o.D {
			checkMean(t, "mean", func(r int) float64 { return rows.At(r, i) }, n, mean[i])
			for j := i; j < min(o.D, 4); j++ {
				checkMean(t, "covariance", func(r int) float64 { return (rows.At(r, i) - mean[i]) * (rows.At(r, j) - mean[j]) }, n, cov.At(i, j))
			}
		}
	}
}

func checkMean(t *testing.T, what string, x func(int) float64, n int, want float64) {
	t.Helper()
	sum, squares := 0.0, 0.0
	for r := range n {
		sum += x(r)
		squares += (x(r) - want) * (x(r) - want)
	}
	se := math.Sqrt(squares) / float64(n)
	if got := sum / float64(n); math.Abs(got-want) > 6.5*se {
		t.Errorf("%s: %v from rows, want %v ± %v", what, got, want, se)
	}
}

func TestOverallMomentsAndAffine(t *testing.T) {
	m := mixture(t, []float64{0.25, 0.75}, model.Gaussian{Mean: []float64{0, 1}, Cov: full(t, 2, 1, 0.5, 0.5, 2)},
		model.Gaussian{Mean: []float64{4, 1}, Cov: diagonal(t, 3, 0)})
	near(t, "mean 0", m.Mean()[0], 3, 1e-15)
	near(t, "mean 1", m.Mean()[1], 1, 1e-15)
	want := mat.NewSymDense(2, []float64{0.25 + 2.25 + 3, 0.125, 0.125, 0.5})
	if !mat.EqualApprox(m.Covariance().Dense(), want, 1e-14) {
		t.Errorf("covariance %v", mat.Formatted(m.Covariance().Dense()))
	}
	a, err := madeup.Affine(m, []float64{2, -1}, []float64{1, 10})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mapped log-density", a.LogDensity([]float64{1, 9.5}), m.LogDensity([]float64{0, 0.5})-math.Log(2), 1e-12)
	s, _ := model.NewSpherical(2, 4)
	c := mixture(t, nil, model.Gaussian{Mean: []float64{0, 0}, Cov: s})
	for want, scale := range map[string][]float64{"spherical": {3, -3}, "diagonal": {3, 1}} {
		if got, _ := madeup.Affine(c, scale, []float64{0, 0}); got.CovarianceType() != want {
			t.Errorf("scaled by %v: %s, want %s", scale, got.CovarianceType(), want)
		}
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	m := &model.Mixture{Columns: []string{"a", "a"}, Weights: []float64{0.5, -1},
		Components: []model.Gaussian{{Mean: []float64{1}, Cov: diagonal(t, 1)}, {Mean: []float64{1, math.Inf(1)}}}}
	err := m.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"columns[1]", "weights[1]", "means[0]", "covariances[0]", "means[1][1]", "covariances[1]"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word about %s in:\n%v", want, err)
		}
	}
	if (&model.Mixture{}).Validate() == nil || (model.Gaussian{}).Validate() == nil {
		t.Error("a zero value was accepted")
	}
	if _, err := model.NewScorer(m); err == nil {
		t.Error("NewScorer accepted it")
	}
}
