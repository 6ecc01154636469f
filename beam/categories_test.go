package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/sharded"
)

// TestCategories: with workers, categories beside numbers are those of gauze fit, declared or
// found, also where rows lack cells: codes and texts stay where the fit runs.
func TestCategories(t *testing.T) {
	rng, folder := rand.New(rand.NewPCG(1, 21)), t.TempDir()
	for i := range 2 {
		var text bytes.Buffer
		text.WriteString("x,ward,y\n")
		for range 12_000 {
			at, ward := 0., "aaaaaaaabc"[rng.IntN(10)]
			if rng.IntN(2) == 0 {
				at, ward = 20, "abcccccccc"[rng.IntN(10)]
			}
			y := fmt.Sprint(at + rng.NormFloat64())
			if rng.IntN(10) == 0 {
				y = ""
			}
			fmt.Fprintf(&text, "%v,%c,%s\n", at+rng.NormFloat64(), ward, y)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".csv")), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, values := range []string{"a,b,c", "find"} {
		runs := 0
		counting := func(s store) sharded.Scheduler {
			return schedule(func(ctx context.Context, items []string) error { runs++; return alone{s}.Run(ctx, items) })
		}
		code, stdout, stderr := run(t, t.Context(), counting, filepath.Join(folder, "*.csv"), "--columns", "x,ward:category("+values+"),y", "--unit", "none")
		if code != shell.CodeOK || runs == 0 {
			t.Fatalf("%s: code %d, workers were asked %d times: %s", values, code, runs, stderr)
		}
		m := read(t, stdout).Model
		for i, w := range m.Weights {
			if w < .2 {
				continue
			}
			own := map[bool]string{false: "a", true: "c"}[m.Components[i].Mean[0] > 10]
			if p := m.Categories[0].Probabilities[i][slices.Index(m.Categories[0].Values, own)]; math.Abs(p-.8) > .1 {
				t.Errorf("%s: the component at %v has %s in %v of its rows, want .8", values, m.Components[i].Mean, own, p)
			}
		}
	}
}
