package tables

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

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// A file of two numbers, a label and a word, with a missing value: the fit finds about the
// likelihood that is there, -ln(2 pi e) nats of two standardised Gaussian columns.
func TestFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("id,x,word,y\n1,,a,2\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,%g,a,%g\n", i, 5+3*rng.NormFloat64(), 100*rng.NormFloat64())
	}
	name := filepath.Join(t.TempDir(), "file.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o, out := enginetest.Options(t), new(bytes.Buffer)
	o.Out, o.Stdout, o.Methods = "", out, []string{"gaussian"}
	if err := Study.Run(context.Background(), o, []string{name}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| file.csv | gaussian | 2.4k | 2/2") || strings.Count(out.String(), "| -2.8")+strings.Count(out.String(), "| -2.9") < 3 {
		t.Errorf("got\n%s", out)
	}
	for _, args := range [][]string{nil, {"no-such-file.csv"}} {
		if err := Study.Run(context.Background(), o, args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// Releases of Gaussian columns, one of which is the sum of the others and one constant: nearly the
// rows' own moments, and nearly their likelihood. A wrong model is told from a right one.
func TestMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("x,y,sum,same\n")
	for range 3000 {
		x, y := math.Round(50+10*rng.NormFloat64()), math.Round(20*rng.NormFloat64())
		fmt.Fprintf(&b, "%g,%g,%g,7\n", x, y, x+y)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "file.csv"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o, out := enginetest.Options(t), new(bytes.Buffer)
	o.Out, o.Stdout, o.Only = "", out, []string{"file/epsilon=10"}
	if err := Moments.Run(context.Background(), o, []string{folder}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| one   | 2 ") || !strings.Contains(out.String(), "| yes        | 2        | 0      | 0 ") {
		t.Errorf("got\n%s", out)
	}
	rows, err := read(filepath.Join(folder, "file.csv"))
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(rows))
	for i := range all {
		all[i] = i
	}
	m, err := gaussian(rows.pick(all))
	if err != nil {
		t.Fatal(err)
	}
	got := engine.Values{}
	if err := compare(got, m, true, rows.pick(all), rows.pick(all[:1000]), 50); err != nil {
		t.Fatal(err)
	}
	for name, most := range map[string]float64{meanOff: 1e-9, ratioOff: 1e-3, correlationOff: 1e-9, nobody: 0, nearly: 1e-3, nearlyMost: 1e-3} {
		if !(got[name] <= most) {
			t.Errorf("%s of the rows' own moments: %v", name, got[name])
		}
	}
	wide, err := madeup.Affine(m, []float64{1.5, 1, 1, 1}, []float64{3, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if err := compare(got, wide, true, rows.pick(all), rows.pick(all[:1000]), 50); err != nil || !(got[meanOff] > 2) || !(got[ratioOff] > .4) || !(got[nearly] > .3) {
		t.Errorf("a wrong model: %v, %v", got, err)
	}
}

// Two clusters of rows in whole numbers, a column that is mostly zero and one that is constant: the
// default is better than one Gaussian, and hardly worse than EM without privacy.
func TestFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var b strings.Builder
	b.WriteString("x,y,same\n")
	for i := range 6000 {
		x, y := math.Round(float64(i%2*400)+10*rng.NormFloat64()), 0.0
		if i%5 == 0 {
			y = math.Round(1000 * rng.ExpFloat64())
		}
		fmt.Fprintf(&b, "%g,%g,7\n", x, y)
	}
	name := filepath.Join(t.TempDir(), "file.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := read(name)
	if err != nil {
		t.Fatal(err)
	}
	o := enginetest.Options(t)
	ours, err := rows.beside(o, "file", 10).Make(context.Background(), 4800, 1)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := rows.learned(o, "file").Make(context.Background(), 4800, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, em := ours.Values, theirs.Values; !(v[under] < -1) || !(v[score] > em[score]-2) || v[nobodys] > 1 {
		t.Errorf("default %v, EM %v", v, em)
	}
}
