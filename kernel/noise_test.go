package kernel_test

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var noisePlan = kernel.Plan{Method: "noise", Steps: []kernel.Step{
	{Name: "directions", Query: "directions", Share: 1, Most: 1 << 30},
	{Name: "moments", Query: "clipped moments", Share: 1, Most: 1 << 30},
	{Name: "pairs", Query: "pair octaves", Share: 1, Most: 1 << 30},
}}

// TestNoiseLaw: on a table of null rows every released value over its claimed sigma (times 1/sqrt2
// off the diagonals) is standard Gaussian: the part beyond one is .317. A claim that is 7 % off, an
// off-diagonal without its weight, and noise that is half of what is claimed are rejected.
// False-alarm rate 8e-9.
func TestNoiseLaw(t *testing.T) {
	nan := math.NaN()
	component := query.Component{Map: frame(2), Radius: 3}
	const diagonal = "100101"
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		table := kerneltest.Table([][]float64{{nan, nan}, {nan, nan}, {nan, nan}}, 2, relation)
		for _, factor := range []float64{1, .5} {
			s := kerneltest.Open(t, table, noisePlan, kernel.Terms{Relation: relation, Budget: privacy.Budget{Rho: 1e6}},
				kerneltest.Options{Seed: stattest.Seed(t), NoiseFactor: factor})
			beyond, wrong, n := 0, 0, 0
			offBeyond, offN := 0, 0
			for range 4000 {
				a, err := s.SubBudget().Sum("directions", query.Directions{Map: frame(2), Lift: 1}, .1)
				if err != nil {
					t.Fatal(err)
				}
				b, err := s.SubBudget().Sum("moments", query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{component, component}}, .1)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range append(a.Values, b.Values...) {
					x := math.Abs(v / a.Sigma)
					if i >= len(a.Values) {
						x = math.Abs(v / b.Sigma)
					}
					if diagonal[i%6] == '0' {
						if offN++; x > 1 {
							offBeyond++
						}
						x *= math.Sqrt2
					}
					if n++; x > 1 {
						beyond++
					}
					if x > 1/1.07 {
						wrong++
					}
				}
			}
			p := math.Erfc(1 / math.Sqrt2)
			if factor != 1 {
				stattest.BadProportion(t, beyond, n, p, stattest.FalseAlarm)
				continue
			}
			stattest.GoodProportion(t, beyond, n, p, stattest.FalseAlarm)
			stattest.BadProportion(t, wrong, n, p, stattest.FalseAlarm)
			stattest.BadProportion(t, offBeyond, offN, p, stattest.FalseAlarm)
		}
	}
}

// TestSigmaIsSensitivityOverMu: what an answer claims is what the certificate says, in the answer's
// unit.
func TestSigmaIsSensitivityOverMu(t *testing.T) {
	s := kerneltest.Open(t, kerneltest.Table(nil, 2, terms.Relation), noisePlan, terms, kerneltest.Options{})
	q := query.Directions{Map: frame(2), Lift: 1}
	a, err := s.SubBudget().Sum("directions", q, .01)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Measurements()[0]
	if want := q.Sensitivity(terms.Relation) * q.Unit() / .01; math.Abs(a.Sigma/want-1) > 1e-15 || m.Noise != a.Sigma || m.Count != 1 {
		t.Errorf("sigma %v, want %v; certificate %+v", a.Sigma, want, m)
	}
}
