package tableone

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/release"
)

// TestLine: a table with many rows for its budget has eight looks, most of them told, with small
// errors of ranks and missing shares.
func TestLine(t *testing.T) {
	got, err := lineOf(enginetest.Options(t), "", 3, nil, draw).Make(context.Background(), 30_000, 4)
	if err != nil || !got.Success {
		t.Fatalf("%+v, %v", got, err)
	}
	runs := []engine.Result{{Outcome: got}}
	if shares := all(runs, missing); len(shares) != perTable || engine.Quantile(shares, 1) > .05 {
		t.Errorf("missing shares %v", shares)
	}
	if ranks := all(runs, rank); len(ranks) < perTable/2 || engine.Median(ranks) > .1 {
		t.Errorf("ranks %v", ranks)
	}
}

// TestJudge: what is wrong is counted, and what is right is not.
func TestJudge(t *testing.T) {
	var rows [][]float64
	for i := range 1000 {
		rows = append(rows, []float64{float64(i % 100), math.NaN()})
	}
	right := &release.ColumnProfile{Cells: 1, Quantiles: map[string]float64{"0.5": 49.5}, Mean: &release.Noisy{Value: 49.5, Noise: 1}, SD: &release.Noisy{Value: 28.9, Noise: 1}, Within: []float64{0, 99}}
	out := engine.Values{}
	judge(out, 0, 100, right, rows)
	if out[of(rank, 0)] > .011 || out[of(mean, 0)] > .01 || out[of(absurd, 0)] != 0 || out[of(covered, 0)] != 1 {
		t.Errorf("a right column: %v", out)
	}
	wrong := *right
	wrong.Mean, wrong.Quantiles, wrong.Cells = &release.Noisy{Value: 2e100, Noise: 1}, map[string]float64{"0.5": 90}, .7
	judge(out, 0, 100, &wrong, rows)
	if out[of(rank, 0)] < .3 || out[of(absurd, 0)] != 1 || out[of(covered, 0)] != 0 || math.Abs(out[of(missing, 0)]-.3) > 1e-9 {
		t.Errorf("a wrong column: %v", out)
	}
	honest := *right
	honest.Mean = &release.Noisy{Value: 200, Noise: 100}
	if judge(out, 0, 100, &honest, rows); out[of(absurd, 0)] != 0 {
		t.Error("a mean whose noise covers the truth is absurd")
	}
	wrong.Mean, wrong.SD = &release.Noisy{Value: 5}, &release.Noisy{}
	if judge(out, 0, 100, &wrong, rows); out[of(invented, 0)] != 1 {
		t.Errorf("an invented constant: %v", out)
	}
}

// TestFile: the columns of a file are looked at one by one, as many as it has; one that is no
// number is none.
func TestFile(t *testing.T) {
	text := []byte("a,b,c\n")
	for i := range 3000 {
		text = fmt.Appendf(text, "%d,x,%d\n", i%70, i%7)
	}
	name := filepath.Join(t.TempDir(), "file.csv")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := custom([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := e.Lines(enginetest.Options(t))
	if len(lines) != 3 || lines[2].Name != "file/epsilon=3" || !slices.Equal(lines[2].Rows, []int{500, 2000, 3000}) {
		t.Fatalf("lines %+v", lines)
	}
	got, err := lines[2].Make(context.Background(), 3000, 1)
	if runs := []engine.Result{{Outcome: got}}; err != nil || !got.Success || len(all(runs, missing)) != 2 || engine.Quantile(all(runs, missing), 1) > .1 {
		t.Errorf("%+v, %v", got, err)
	}
}
