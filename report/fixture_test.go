package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
)

// fixtures are releases of every shape that a page has to survive.
func fixtures(t testing.TB) map[string]*release.Release {
	t.Helper()
	return map[string]*release.Release{
		"typical":    typical(t),
		"single":     certified(mixture(t, []string{"height"}, []float64{1}, gaussian(t, []float64{171.25}, []float64{88.2}))),
		"wide":       certified(random(t, 10, 8)),
		"many":       certified(random(t, 2, 24)),
		"scales":     certified(scales(t)),
		"degenerate": certified(degenerate(t)),
		"constant":   certified(mixture(t, []string{"c"}, []float64{1}, gaussian(t, []float64{-5.25}, []float64{0}))),
		"hostile":    hostile(t),
		"bare":       {Model: random(t, 3, 3)},
		"extreme":    certified(extreme(t)),
		"masked":     masked(t),
	}
}

func mixture(t testing.TB, columns []string, weights []float64, parts ...model.Gaussian) *model.Mixture {
	t.Helper()
	m, err := model.New(columns, weights, parts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gaussian takes the covariance as d d numbers, or as d variances.
func gaussian(t testing.TB, mean, cov []float64) model.Gaussian {
	t.Helper()
	var c model.Covariance
	var err error
	if len(cov) == len(mean) {
		c, err = model.NewDiagonal(cov)
	} else {
		c, err = model.NewFull(mat.NewSymDense(len(mean), cov))
	}
	if err != nil {
		t.Fatal(err)
	}
	return model.Gaussian{Mean: mean, Cov: c}
}

// certified gives m a consistent certificate of three Gaussian steps.
func certified(m *model.Mixture) *release.Release {
	n := 15892
	r := &release.Release{Format: release.Format, Model: m, Certificate: release.Certificate{
		Relation: release.ReplaceOne, Epsilon: 1, Delta: 1e-6, Rows: &n, Schema: release.SchemaDeclared, Method: "separated", Version: "0.1.0",
		Plan: []release.PlanStep{
			{Step: "rough centre", Query: "clipped moments", Count: 1, Sensitivity: 2, Noise: 40, Mu: 0.05, Source: "KSSU19 Algorithm 2"},
			{Step: "split", Query: "count", Count: 6, Sensitivity: math.Sqrt2, Noise: math.Sqrt2 / 0.04, Mu: 0.04, Source: "KSSU19 Algorithm 4"},
			{Step: "moments", Query: "clipped moments", Count: 3, Sensitivity: 12.5, Noise: 12.5 / 0.1, Mu: 0.1},
		},
	}}
	mu2 := 0.0
	for _, s := range r.Certificate.Plan {
		mu2 += float64(s.Count) * s.Mu * s.Mu
	}
	r.Certificate.Spent = release.Spent{Epsilon: privacy.EpsilonOfMu(1e-6, math.Sqrt(mu2)), Delta: 1e-6, Mu: math.Sqrt(mu2), Rho: mu2 / 2}
	return r
}

func typical(t testing.TB) *release.Release {
	r := certified(mixture(t, []string{"age", "bmi", "blood pressure"}, []float64{0.55, 0.3, 0.1, 0.05},
		gaussian(t, []float64{38, 23.5, 118}, []float64{90, 4, 20, 4, 6, 5, 20, 5, 110}),
		gaussian(t, []float64{66, 27.8, 141}, []float64{60, -3, 12, -3, 9, 8, 12, 8, 180}),
		gaussian(t, []float64{12, 17.9, 101}, []float64{9, 2, 8, 2, 3, 2, 8, 2, 60}),
		gaussian(t, []float64{45, 26, 125}, []float64{2500, 0, 0, 0, 400, 0, 0, 0, 3600})))
	r.Model.Background = []bool{false, false, false, true}
	r.Diagnostics = release.Diagnostics{
		Components: []release.ComponentNote{{EffectiveNoise: 0.012, EffectiveRows: 8741.3, Misfit: .9}, {EffectiveNoise: 0.021, EffectiveRows: 4768},
			{EffectiveNoise: 0.19, EffectiveRows: 1588.4, Flags: []release.Flag{{Code: flags.FewRows, Text: "noise above a tenth"}}}, {EffectiveRows: 795}},
		Flags:      []release.Flag{{Code: flags.FewRows, Text: "one component is noisy"}},
		Unresolved: []release.Direction{{Direction: []float64{0.8, -0.6, 0}, StdAtMost: 0.35}},
		Notes:      []string{"4 components were found of at most 10."},
		Number:     &release.Number{Found: 3, Confidence: .93, Or: 4},
		Undescribed: &release.Undescribed{Share: .061, Noise: .002, Where: "they are in no component",
			Columns: []release.UndescribedColumn{{Column: "bmi", Share: .04, Noise: .002, Beyond: []float64{8, 70}}}},
	}
	return r
}

// masked is a release of a test of blocks, a mask, and rounds of private EM, by somebody's own
// learner.
func masked(t testing.TB) *release.Release {
	r := typical(t)
	c := &r.Certificate
	c.Method, c.Learner = "black-box", &release.Learner{Name: release.OwnLearner}
	c.Plan = []release.PlanStep{
		{Step: "agreement", Query: "of blocks: stable mean", Count: 1, Sensitivity: 1, Noise: 1 / .12, Mu: .12, Delta: 1e-7, Source: "PPE Section B3"},
		{Step: "agreement", Query: "of blocks: stable mean", Count: 1, Source: "PPE Section B4",
			Mask: &release.Mask{Kind: release.MaskLifted, Dimension: 4, Gamma: .03, Eta: .2}},
		{Step: "rounds", Query: "clipped moments", Count: 7, Sensitivity: 2, Noise: 2 / .04, Mu: .04, Source: "PPE Section B6"},
	}
	mu := math.Sqrt(.12*.12 + 7*.04*.04)
	curve := privacy.CovarianceMask{Dimension: 4, Gamma: .03, Eta: .2}.Curve().Compose(privacy.GaussianCurve(mu))
	c.Spent = release.Spent{Epsilon: curve.Epsilon(1e-6 - 1e-7), Delta: 1e-6, Mu: mu}
	if err := c.Complete(); err != nil {
		t.Fatal(err)
	}
	return r
}

// random is a mixture of k Gaussians over d columns, the same for the same shape.
func random(t testing.TB, d, k int) *model.Mixture {
	rng := rand.New(rand.NewPCG(uint64(d), uint64(k)))
	columns, weights := make([]string, d), make([]float64, k)
	for j := range columns {
		columns[j] = fmt.Sprintf("column_%d", j+1)
	}
	parts, total := make([]model.Gaussian, k), 0.0
	for i := range parts {
		mean, f := make([]float64, d), mat.NewDense(d, d, nil)
		for j := range mean {
			mean[j] = 40 * rng.NormFloat64()
			for l := range d {
				f.Set(j, l, 4*rng.NormFloat64()/math.Sqrt(float64(d)))
			}
			f.Set(j, j, f.At(j, j)+3)
		}
		cov, err := model.FullFromFactor(f)
		if err != nil {
			t.Fatal(err)
		}
		parts[i] = model.Gaussian{Mean: mean, Cov: cov}
		weights[i] = 0.2 + rng.ExpFloat64()
		total += weights[i]
	}
	for i := range weights {
		weights[i] /= total
	}
	return mixture(t, columns, weights, parts...)
}

func scales(t testing.TB) *model.Mixture {
	return mixture(t, []string{"tiny", "huge", "unix time", "price", "negative"}, []float64{0.6, 0.4},
		gaussian(t, []float64{2e-30, 1e30, 1.7320508e9, 40250, -2.5e6}, []float64{1e-60, 4e58, 9, 4e6, 1e-4}),
		gaussian(t, []float64{5e-30, 4e30, 1.7320508e9 + 12, 52500, -2.5e6 + 0.02}, []float64{2e-60, 1e59, 4, 9e6, 4e-5}))
}

// degenerate has a constant column, a column that is constant in one component, and exactly related
// columns.
func degenerate(t testing.TB) *model.Mixture {
	return mixture(t, []string{"fixed", "x", "twice x", "sometimes"}, []float64{0.5, 0.3, 0.2},
		gaussian(t, []float64{7, 0, 0, 1}, []float64{0, 0, 0, 0, 0, 1, 2, 0, 0, 2, 4, 0, 0, 0, 0, 0}),
		gaussian(t, []float64{7, 5, 10, 4}, []float64{0, 0, 0, 0, 0, 4, 8, 0, 0, 8, 16, 0, 0, 0, 0, 1}),
		gaussian(t, []float64{7, -4, -8, 2}, []float64{0, 0, 0, 0}))
}

// extreme goes to the ends of float64.
func extreme(t testing.TB) *model.Mixture {
	return mixture(t, []string{"ends", "denormal", "one wide"}, []float64{0.5, 0.5},
		gaussian(t, []float64{-9.9e299, 5e-324, 0}, []float64{1e298, 0, 1e-60}),
		gaussian(t, []float64{9.9e299, 1e-323, 0}, []float64{1e298, 0, 1e60}))
}

const script = `<script>alert("x")</script>`

func hostile(t testing.TB) *release.Release {
	columns := []string{script, `"><img src=x onerror=alert(1)> '&amp; {{.}}`, strings.Repeat("very_long_name_", 40),
		"体重（キログラム）", "a\u202eb\x1b[31mred\x00", " "}
	m := mixture(t, columns, []float64{0.5, 0.5},
		gaussian(t, []float64{1, 2, 3, 4, 5, 6}, []float64{1, 1, 1, 1, 1, 1}), gaussian(t, []float64{4, 1, 3, 9, 5, 1}, []float64{1, 2, 1, 2, 1, 2}))
	r := certified(m)
	c := &r.Certificate
	c.Rows, c.Relation, c.Schema, c.Simulated = nil, release.AddRemoveOne, release.SchemaInferred, true
	c.Method, c.Version, c.Plan[0].Step, c.Plan[0].Source = script, "</style>"+script, script, "]]>"+script
	c.Plan[1] = release.PlanStep{Step: "aggregate", Query: "masked", Count: 1, Renyi: map[string]float64{"2": 0.1, "16": 0.4}}
	r.Diagnostics = release.Diagnostics{Flags: []release.Flag{{Code: script, Text: script}}, Notes: []string{script}, ConstantColumns: columns[:2],
		Unresolved: []release.Direction{{Direction: []float64{1, -1, 0.5, 0.2, 0.1, 0.1}, StdAtMost: 2}},
		Components: []release.ComponentNote{{Flags: []release.Flag{{Code: script, Columns: columns[:1], Text: script}}}}}
	return r
}
