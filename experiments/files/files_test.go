package files

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// written is a file of so many lines below a head.
func written(t *testing.T, head string, lines int, line func(i int, rng *rand.Rand) string) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 3))
	text := head + "\n"
	for i := range lines {
		text += line(i, rng) + "\n"
	}
	name := filepath.Join(t.TempDir(), "file.csv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Two clusters of rows in whole numbers, a column that is mostly zero, one that is constant, a word
// and an id: the default is better than one Gaussian, and its moments are those of the rows.
func TestFiles(t *testing.T) {
	name := written(t, "id,x,word,y,same", 6000, func(i int, rng *rand.Rand) string {
		y := 0.0
		if i%5 == 0 {
			y = math.Round(1000 * rng.ExpFloat64())
		}
		return fmt.Sprintf("%d,%g,a,%g,7", i, math.Round(float64(i%2*400)+10*rng.NormFloat64()), y)
	})
	rows, err := engine.ReadCSV(name)
	if err != nil || len(rows[0]) != 3 {
		t.Fatalf("%v: %v", rows[0], err)
	}
	ours, err := table(rows).line(enginetest.Options(t), "file", 10).Make(context.Background(), 4800, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v := ours.Values; !(v[under] < -1) || v[nobodys] > 1 || !(v[meanOff] < .2) {
		t.Errorf("default %v", v)
	}
	o, out := enginetest.Options(t), new(bytes.Buffer)
	o.Out, o.Stdout, o.Only = "", out, []string{"file/epsilon=10"}
	if err := Study.Run(context.Background(), o, []string{filepath.Dir(name)}); err != nil || !strings.Contains(out.String(), "| file/epsilon=10 | default | 4.8k | 2/2") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{nil, {"no-such-file.csv"}, {t.TempDir()}} {
		if err := Study.Run(context.Background(), o, args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// A model that is right is told from one that is not.
func TestCompare(t *testing.T) {
	rows, err := engine.ReadCSV(written(t, "x,y", 3000, func(_ int, rng *rand.Rand) string {
		return fmt.Sprintf("%g,%g", 50+10*rng.NormFloat64(), 20*rng.NormFloat64())
	}))
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	train := table(rows).pick(all)
	s := engine.MomentsOf(complete(train))
	cov, err := model.NewDiagonal([]float64{s.SD[0] * s.SD[0], s.SD[1] * s.SD[1]})
	if err != nil {
		t.Fatal(err)
	}
	right, err := model.New(nil, nil, []model.Gaussian{{Mean: s.Mean, Cov: cov}})
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := madeup.Affine(right, []float64{1.5, 1}, []float64{3, 0})
	if err != nil {
		t.Fatal(err)
	}
	got := engine.Values{}
	if compare(got, right, train, 5); !(got[meanOff] < 1e-9) || !(got[ratioOff] < 1e-9) {
		t.Errorf("the rows' own moments: %v", got)
	}
	if compare(got, wrong, train, 5); !(got[meanOff] > 2) || !(got[ratioOff] > .4) {
		t.Errorf("a wrong model: %v", got)
	}
}

// What is wrong of a column, and a component where no row is, are counted; what is right is not.
func TestJudgeColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	rows := mat.NewDense(3000, 2, nil)
	for i := range 3000 {
		rows.SetRow(i, []float64{50 + 10*rng.NormFloat64(), 20 * rng.NormFloat64()})
	}
	of := func(second, weight float64, variances ...float64) engine.Values {
		cov, err := model.NewDiagonal(variances)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.New(nil, []float64{1 - weight, weight}, []model.Gaussian{{Mean: []float64{50, 0}, Cov: cov}, {Mean: []float64{second, 0}, Cov: cov}})
		if err != nil {
			t.Fatal(err)
		}
		r, out := &release.Release{Model: m}, engine.Values{}
		r.Diagnostics.Components = make([]release.ComponentNote, 2)
		judgeColumns(out, r, rows, 5)
		return out
	}
	if v := of(50, .5, 100, 400); v[looks] != 2 || v["within"] != 2 || v["half"]+v["twice"]+v["ghosts"] != 0 || v[claims] != 2 {
		t.Errorf("right: %v", v)
	}
	if v := of(50, .5, 9, 9000); v["within"] != 0 || v["half"] != 1 || v["half_unsaid"] != 1 || v["twice"] != 1 || v["drawn_twice"] != 1 {
		t.Errorf("sds that are not: %v", v)
	}
	if v := of(900, .02, 100, 400); v["ghosts"] != 1 || v["ghosts_unsaid"] != 1 || v[claims] != 2 || !(v[fmt.Sprint(meanOf, 0)] > 1) {
		t.Errorf("a ghost: %v", v)
	}
}

// A part of the made-up tables, from the first row to the page.
func TestColumns(t *testing.T) {
	page, _ := enginetest.RunAndResume(t, Columns, engine.Options{Only: []string{"generated/epsilon=3/n=3000"}}, "madeup")
	if !strings.Contains(page, "| describe     | all") {
		t.Errorf("no line of describe in\n%s", page)
	}
}
