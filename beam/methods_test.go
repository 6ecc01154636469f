package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/model"
)

// Every method fits what `gauze fit` does, from many files: at an epsilon at which the noise is a
// small part of what is compared, two releases are as near each other as two of `gauze fit` are.
//
// Their distance (total variation, itself known to .002) was .0005 to .0012 on average of 15 pairs
// of each method, and .0017 at most. The bound is 15 times that average: with a tail no heavier
// than exponential one test in half a million fails.
func TestMethods(t *testing.T) {
	const most = .02
	for _, c := range []struct {
		method, columns string
		components      int
		apart           float64
	}{
		{"gaussian", "x,y", 1, 0}, {"general", "x,y", 2, 4}, {"separated", "x,y", 2, 12}, {"univariate", "x", 2, 12}, {"axis-aligned", "x,y", 2, 12}, {"black-box", "x,y", 2, 12},
	} {
		t.Run(c.method, func(t *testing.T) {
			input := clusters(t, 64, 500, c.components, c.apart)
			args := []string{"--columns", c.columns, "--components", fmt.Sprint(c.components), "--method", c.method, "--epsilon", "20"}
			runs := 0
			code, stdout, stderr := run(t, t.Context(), func(s store) sharded.Scheduler {
				return schedule(func(ctx context.Context, items []string) error { runs++; return scheduler(s).Run(ctx, items) })
			}, input, args...)
			if code != shell.CodeOK || runs == 0 && c.method != "univariate" { // which sorts
				t.Fatalf("code %d, workers were asked %d times: %s", code, runs, stderr)
			}
			byWorkers := read(t, stdout)

			var out, said bytes.Buffer
			command := fit.Command{Rows: &fit.Memory{}, Now: time.Now, Getenv: os.Getenv}
			alone := &shell.Program{Name: "gauze", Help: help, Commands: []shell.Command{command.Entry()}}
			if code := alone.Run(t.Context(), append([]string{"fit", input, "--delta", "1e-6"}, args...), strings.NewReader(""), &out, &said); code != shell.CodeOK {
				t.Fatalf("alone: code %d: %s", code, said.String())
			}
			here := read(t, out.String())
			near, err := model.Compare(t.Context(), byWorkers.Model, here.Model, 100_000, rand.New(rand.NewPCG(1, 20)))
			if err != nil {
				t.Fatal(err)
			}
			a, b := byWorkers.Certificate, here.Certificate
			if float64(near.TV) > most || a.Method != b.Method || *a.Rows != *b.Rows || *a.Rows != 32_000 || a.Epsilon != b.Epsilon {
				t.Errorf("distance %v, at most %v is wanted; %s and %s, %d and %d rows", near.TV, most, a.Method, b.Method, *a.Rows, *b.Rows)
			}
			t.Logf("workers were asked %d times; distance %.4f", runs, near.TV)
		})
	}
}

// clusters writes CSV files with rows of two columns in so many clusters of equal sizes.
func clusters(t *testing.T, files, rows, clusters int, apart float64) (pattern string) {
	t.Helper()
	rng, folder := rand.New(rand.NewPCG(2, 20)), t.TempDir()
	for i := range files {
		var text bytes.Buffer
		text.WriteString("x,y\n")
		for range rows {
			at := apart * float64(rng.IntN(clusters))
			fmt.Fprintf(&text, "%v,%v\n", at+rng.NormFloat64(), at+2*rng.NormFloat64())
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".csv")), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "*.csv")
}
