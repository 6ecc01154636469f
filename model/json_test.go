package model_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
)

func TestJSONRoundTripIsExact(t *testing.T) {
	rng := seeded(30)
	for range 50 {
		d := 1 + rng.IntN(5)
		o := small{K: 1 + rng.IntN(4), D: d, Kind: estimate.CovarianceType(rng.IntN(3)), Condition: 1e10, Rank: 1 + rng.IntN(d)}
		m := drawn(t, rng, o)
		m.Columns[0] = `a "quoted", <odd> name`
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back model.Mixture
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := json.Marshal(&back)
		if err != nil || string(again) != string(text) {
			t.Fatalf("%v\nwrote %s\nthen  %s", err, text, again)
		}
		if back.CovarianceType() != m.CovarianceType() {
			t.Errorf("type %s became %s", m.CovarianceType(), back.CovarianceType())
		}
		for i, g := range m.Components {
			if !mat.Equal(g.Cov.Dense(), back.Components[i].Cov.Dense()) {
				t.Error("a covariance changed")
			}
		}
	}
}

func TestJSONIsTheContract(t *testing.T) {
	m := mixture(t, []float64{0.6, 0.4}, model.Gaussian{Mean: []float64{40, 0.1}, Cov: full(t, 2, 2, 1, 1, 2)},
		model.Gaussian{Mean: []float64{1e-30, 1e30}, Cov: diagonal(t, 1, 0)})
	m.Columns = []string{"age", "bmi"}
	text, err := json.Marshal(m)
	want := `{"kind":"gaussian-mixture","columns":["age","bmi"],"weights":[0.6,0.4],"means":[[40,0.1],[1e-30,1e+30]],` +
		`"covariances":[[[2,1],[1,2]],[[1,0],[0,0]]],"covariance_type":"full"}`
	if err != nil || string(text) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, text, want)
	}
	if _, err := json.Marshal(&model.Mixture{}); err == nil {
		t.Error("an empty mixture was written")
	}
}

func TestJSONTolerates(t *testing.T) {
	for name, text := range map[string]string{
		"no columns, unknown field": `{"kind":"gaussian-mixture","note":{"a":[1]},"weights":[1],"means":[[1,2]],"covariances":[[[1,0],[0,1]]]}`,
		"weights off by rounding":   `{"kind":"gaussian-mixture","weights":[0.3333333,0.6666666],"means":[[1],[2]],"covariances":[[[1]],[[0]]]}`,
		"rounded matrix":            `{"kind":"gaussian-mixture","weights":[1],"means":[[0,0]],"covariances":[[[1,1.0000000001],[1,1]]]}`,
		"constrained":               `{"kind":"gaussian-mixture","weights":[1],"means":[[0,0]],"covariances":[[[2,0],[0,2]]],"covariance_type":"full","constraint":"spherical"}`,
		"spherical":                 `{"kind":"gaussian-mixture","weights":[1],"means":[[0,0]],"covariances":[[[2,0],[0,2]]],"covariance_type":"spherical"}`,
	} {
		var m model.Mixture
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sum := 0.0
		for _, w := range m.Weights {
			sum += w
		}
		near(t, name+": sum of weights", sum, 1, 1e-15)
		if text, err := json.Marshal(&m); m.CovarianceType() == "spherical" && !strings.Contains(string(text), `"covariance_type":"full","constraint":"spherical"`) {
			t.Errorf("%s: written as %s, %v", name, text, err)
		}
		if m.Columns[0] != "x1" {
			t.Errorf("%s: columns %v", name, m.Columns)
		}
	}
}

func TestJSONRefuses(t *testing.T) {
	const good = `{"kind":"gaussian-mixture","columns":["a","b"],"weights":[0.5,0.5],"means":[[1,2],[3,4]],"covariances":[[[1,0],[0,3]],[[1,0.5],[0.5,1]]]}`
	var m model.Mixture
	if err := json.Unmarshal([]byte(good), &m); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, `null`, "model: wanted a JSON object"},
		{good, `[1]`, "model: wanted a JSON object"},
		{`"kind":"gaussian-mixture",`, ``, "kind: wanted"},
		{`gaussian-mixture`, `histogram`, `kind: wanted "gaussian-mixture", got "histogram"`},
		{`"gaussian-mixture"`, `3`, "kind: wanted"},
		{`"weights":[0.5,0.5],`, ``, "weights: wanted an array of numbers, got nothing; add the field"},
		{`[0.5,0.5],"m`, `[0.5,0.6],"m`, "weights: wanted a sum of 1"},
		{`[0.5,0.5],"m`, `[1.5,-0.5],"m`, "weights[1]: wanted"},
		{`[0.5,0.5],"m`, `[1],"m`, "means: wanted 1 mean"},
		{`[0.5,0.5],"m`, `[],"m`, "weights: wanted at least one"},
		{`[0.5,0.5],"m`, `[1,null],"m`, "weights: wanted an array of numbers, got null"},
		{`[0.5,0.5],"m`, `["1",0],"m`, "weights: wanted an array of numbers"},
		{`[0.5,0.5],"m`, `null,"m`, "weights: wanted an array of numbers, got null"},
		{`[3,4]`, `[3]`, "means[1]: wanted 2 numbers"},
		{`[3,4]`, `[3,1e999]`, "within float64's range"},
		{`[3,4]`, `[3,1e301]`, "means[1][1]: wanted"},
		{`[1,2]`, `[]`, "means[0]: wanted"},
		{`["a","b"]`, `["a"]`, "columns: wanted 2 names"},
		{`["a","b"]`, `["a","a"]`, "columns[1]: wanted a name of its own"},
		{`["a","b"]`, `["a",""]`, "columns[1]: wanted a name"},
		{`["a","b"]`, `["a",null]`, "columns[1]: wanted a name"},
		{`[0.5,1]]`, `[0.6,1]]`, "covariances[1][1][0]: wanted the same"},
		{`[[1,0.5],[0.5,1]]`, `[[1,2],[2,1]]`, "covariances[1]: wanted a positive semi-definite matrix"},
		{`[[1,0.5],[0.5,1]]`, `[[1,0],[0,-1]]`, "covariances[1][1][1]: wanted a variance >= 0"},
		{`[[1,0.5],[0.5,1]]`, `[[1,0.5]]`, "covariances[1]: wanted 2 rows"},
		{`[[1,0.5],[0.5,1]]`, `[1,1]`, "covariances: wanted an array of matrices"},
		{`[[1,0.5],[0.5,1]]`, `[[1,0.5],[0.5]]`, "covariances[1][1]: wanted 2 numbers"},
		{`[[1,0.5],[0.5,1]]`, `[[1,0.5],null]`, "covariances: wanted an array of matrices, each an array of rows, got null"},
		{`,[[1,0.5],[0.5,1]]`, ``, "covariances: wanted 2 arrays"},
		{`"covariances"`, `"covariance_type":"diagonal","covariances"`, "covariances[1][1][0]: wanted 0"},
		{`"covariances":[[[1,0],[0,3]],[[1,0.5],[0.5,1]]]`, `"covariance_type":"spherical","covariances":[[[1,0],[0,3]],[[1,0],[0,1]]]`, "covariances[0][1][1]: wanted 1"},
		{`"covariances"`, `"covariance_type":"round","covariances"`, "covariance_type: wanted"},
		{`"covariances"`, `"Covariances"`, "covariances: wanted"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%s does not occur", c.old)
		}
		back := m
		err := json.Unmarshal([]byte(text), &back)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error %v, want %q", c.new, c.old, err, c.want)
		}
		if len(back.Components) != 2 || back.Components[1].Mean[1] != 4 {
			t.Errorf("%s: a failed read changed the model", c.new)
		}
	}
}

// FuzzUnmarshal: whatever is read can be scored, sampled, compared and written, without panic or
// NaN.
func FuzzUnmarshal(f *testing.F) {
	rng := seeded(31)
	for n := range 200 {
		d := 1 + n%3
		m := drawn(f, rng, small{K: 1 + n%3, D: d, Rank: 1 + rng.IntN(d), Condition: 1e6, Kind: estimate.CovarianceType(n % 3)})
		text, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		for range n % 4 { // damage a few bytes, mostly into other digits and signs
			const bytes = `0123456789eE.-+[],"{}n `
			text[rng.IntN(len(text))] = bytes[rng.IntN(len(bytes))]
		}
		f.Add(text)
	}
	f.Add([]byte(`{"kind":"gaussian-mixture","weights":[1,0],"means":[[1e300,-1e300],[-1e300,1e300]],"covariances":[[[1e-320,0],[0,1e300]],[[0,0],[0,0]]]}`))
	f.Add([]byte(`{"kind":"gaussian-mixture","weights":[0.5,0.5],"means":[[1e300,0],[-1e300,5e-324]],"covariances":[[[0,0],[0,0]],[[0,0],[0,5e-324]]]}`))
	f.Add([]byte(`{"kind":"gaussian-mixture","weights":[0.5,0.5],"means":[[1e300,0],[-1e300,0]],"covariances":[[[1e308,1e308],[1e308,1e308]],[[1e-308,0],[0,1e308]]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m model.Mixture
		if json.Unmarshal(text, &m) != nil || m.Dim() > 8 || len(m.Components) > 8 {
			return
		}
		if _, err := json.Marshal(&m); err != nil {
			t.Fatal(err)
		}
		s, rng, row := scorer(t, &m), seeded(1), make([]float64, m.Dim())
		sampler, err := model.NewSampler(&m)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			sampler.Row(row, rng)
			if v := s.LogDensity(row); math.IsNaN(v) {
				t.Fatalf("log-density NaN at %v", row)
			}
		}
		c, err := model.Compare(t.Context(), &m, &m, 8, rng)
		if err != nil || math.IsNaN(float64(c.TV+c.Hellinger+c.KLAB)) {
			t.Fatalf("%v: %+v", err, c)
		}
	})
}

// TestLargeNumbersAreFloats: 64-bit integers elsewhere end at 9.2e18, so no number may be a longer
// row of digits.
func TestLargeNumbersAreFloats(t *testing.T) {
	cov, err := model.NewDiagonal([]float64{123456789012345678901, 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: []float64{-3e17, 999}, Cov: cov}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.2345678901234568e+20", "-3e+17", "999"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("want %s in %s", want, text)
		}
	}
}

// TestBackground: components that are marked as background are in densities and in the file, are no
// partner of a component, and can be left out; a model of nothing else is as it was.
func TestBackground(t *testing.T) {
	at := func(x, v float64) model.Gaussian { return model.Gaussian{Mean: []float64{x}, Cov: diagonal(t, v)} }
	a := &model.Mixture{Columns: []string{"x"}, Weights: []float64{.1, .6, .3}, Background: []bool{true, false, false},
		Components: []model.Gaussian{at(5, 900), at(0, 1), at(10, 1)}}
	b := &model.Mixture{Columns: []string{"x"}, Weights: []float64{.3, .7}, Components: []model.Gaussian{at(10, 1), at(0, 1)}}
	rest, share := a.WithoutBackground()
	if math.Abs(share-.1) > 1e-12 || len(rest.Components) != 2 || math.Abs(rest.Weights[0]-2./3) > 1e-12 || rest.Validate() != nil {
		t.Errorf("without background: %v, share %v", rest, share)
	}
	if a.K() != 2 || b.K() != 2 || rest.K() != 2 {
		t.Errorf("want two components beside the background in each, got %d, %d and %d", a.K(), b.K(), rest.K())
	}
	c, err := model.Compare(t.Context(), a, b, 1000, seeded(1))
	if err != nil || !reflect.DeepEqual(c.Matching, [][2]int{{1, 1}, {2, 0}}) || len(c.UnmatchedA)+len(c.UnmatchedB)+len(c.BackgroundB) > 0 ||
		!reflect.DeepEqual(c.BackgroundA, []int{0}) || c.TV < .05 {
		t.Errorf("compared: %+v, %v", c, err)
	}
	var again model.Mixture
	if text, err := json.Marshal(a); err != nil || json.Unmarshal(text, &again) != nil || !reflect.DeepEqual(again.Background, a.Background) {
		t.Errorf("read back: %v, %v", again.Background, err)
	}
	for _, all := range [][]bool{nil, {false, false}, {true, true}} {
		b.Background = all
		if rest, share := b.WithoutBackground(); rest != b || share != 0 || b.K() != 2 {
			t.Errorf("%v: got %v, share %v", all, rest, share)
		}
	}
	if b.Background = []bool{true}; b.Validate() == nil {
		t.Error("one mark for two components: wanted an error")
	}
}
