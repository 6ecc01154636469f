package privacy

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

// reference is testdata/reference.json, made by reference.py: rows of arguments, then the exact
// value.
type reference struct {
	MuOf        [][]string `json:"mu_of"`
	DeltaOfMu   [][]string `json:"delta_of_mu"`
	EpsilonOfMu [][]string `json:"epsilon_of_mu"`
	LogTail     [][]string `json:"log_tail"`
}

func load(t *testing.T) (ref reference) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

func numbers(t *testing.T, row []string) []float64 {
	t.Helper()
	out := make([]float64, len(row))
	for i, s := range row {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}

// above checks want <= got <= want (1+tol); below checks want (1-tol) <= got <= want.
func above(t *testing.T, what string, args []float64, got, want, tol float64) {
	t.Helper()
	if !(got >= want && got <= want*(1+tol)) {
		t.Errorf("%s%v = %.17g, want at least %.17g by at most a share of %g, got %g", what, args, got, want, tol, got/want-1)
	}
}

func below(t *testing.T, what string, args []float64, got, want, tol float64) {
	t.Helper()
	if !(got <= want && got >= want*(1-tol)) {
		t.Errorf("%s%v = %.17g, want at most %.17g by at most a share of %g, got %g", what, args, got, want, tol, got/want-1)
	}
}

func TestMuOfReference(t *testing.T) {
	rows := load(t).MuOf
	if len(rows) < 150 {
		t.Fatal("reference numbers are missing")
	}
	for _, row := range rows {
		v := numbers(t, row)
		tol := 1e-11
		if v[1] >= 0.9 {
			tol = 1e-9 // delta is flat in mu there
		}
		below(t, "MuOf", v[:2], MuOf(v[0], v[1]), v[2], tol)
	}
}

// The forward bound lies above the truth, and its margin is at least four times the error it stands
// for.
func TestDeltaOfMuReference(t *testing.T) {
	rows := load(t).DeltaOfMu
	if len(rows) < 50 {
		t.Fatal("reference numbers are missing")
	}
	worst := 0.0
	for _, row := range rows {
		v := numbers(t, row)
		l := math.Log(v[2])
		above(t, "DeltaOfMu", v[:2], DeltaOfMu(v[0], v[1]), v[2], math.Expm1(2*Safety(l)))
		worst = math.Max(worst, math.Abs(logDeltaOfMu(v[0], v[1])-l)/Safety(l))
	}
	t.Logf("largest error: %.3f of the margin", worst)
	if worst > 0.25 {
		t.Errorf("largest error of ln δ is %g of the margin, want at most 1/4", worst)
	}
}

func TestEpsilonOfMuReference(t *testing.T) {
	for _, row := range load(t).EpsilonOfMu {
		v := numbers(t, row)
		above(t, "EpsilonOfMu", v[:2], EpsilonOfMu(v[0], v[1]), v[2], 1e-10)
	}
}

func TestLogUpperTailReference(t *testing.T) {
	for _, row := range load(t).LogTail {
		v := numbers(t, row)
		if got := logUpperTail(v[0]); math.Abs(got-v[1]) > Safety(v[1])/4 {
			t.Errorf("logUpperTail(%g) = %.17g, want %.17g to a quarter of %g", v[0], got, v[1], Safety(v[1]))
		}
		if v[0] >= 0.5 {
			// The quantile of that tail is the point itself, rounded up.
			above(t, "ThresholdQuantile", v[1:], ThresholdQuantile(v[1]), v[0], 1e-11)
		}
	}
}

// The figures that the specification of the project states, to the digits it states.
func TestKnownFigures(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
		half      float64 // of the last digit
	}{
		{"mu(1, 1e-6)", MuOf(1, 1e-6), .236704, .5e-6},
		{"mu(.5, 1e-6)", MuOf(.5, 1e-6), .1241, .5e-4},
		{"mu(2, 1e-6)", MuOf(2, 1e-6), .4483, .5e-4},
		{"mu(4, 1e-6)", MuOf(4, 1e-6), .8379, .5e-4},
		{"mu(8, 1e-6)", MuOf(8, 1e-6), 1.5315, .5e-4},
		{"mu(1, 1e-9)", MuOf(1, 1e-9), .18197, .6e-5},
		{"mu(1, .95e-6)", MuOf(1, .95e-6), .2361, .5e-4},
		{"ten Gaussians", EpsilonOfMu(1e-6, math.Sqrt(10)), 19.4237, .5e-4},
	} {
		if math.Abs(c.got-c.want) > c.half {
			t.Errorf("%s = %.8g, want %g", c.what, c.got, c.want)
		}
	}
}
