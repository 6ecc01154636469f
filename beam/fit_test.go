package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/shared"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	quiet()
	os.Exit(m.Run())
}

// files writes CSV files with rows of two columns, some cells of which are none.
func files(t *testing.T, files, rows int) (pattern string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 20))
	folder := t.TempDir()
	for i := range files {
		var text bytes.Buffer
		text.WriteString("x,y\n")
		for j := range rows {
			x := rng.NormFloat64()
			if j%1000 == 7 {
				fmt.Fprintf(&text, "%v,?\n", x)
				continue
			}
			fmt.Fprintf(&text, "%v,%v\n", 100+x, x+rng.NormFloat64())
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".csv")), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "*.csv")
}

func asked(t *testing.T, input string) *options {
	o := flagged(flag.NewFlagSet("fit", flag.ContinueOnError))
	o.input, o.columns, o.epsilon, o.delta, o.components, o.shards, o.trustNetwork = input, "x,y", 1, 1e-6, "1", t.TempDir(), true
	return o
}

// run fits, and leaves nothing behind in the folder of shards.
func run(t *testing.T, o *options) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = o.run(t.Context(), nil, &out, &err)
	if left, _ := os.ReadDir(o.shards); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return code, out.String(), err.String()
}

// Prism, in this process, hands out the work of a fit.
func TestPrism(t *testing.T) {
	o, runs := asked(t, files(t, 3, 10_000)), 0
	o.schedule = func(s *shared.Store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error { runs++; return beamed{s.Folder()}.Run(ctx, items) })
	}
	code, stdout, stderr := run(t, o)
	var r release.Release
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != codeOK {
		t.Fatalf("code %d, %v: %s", code, err, stderr)
	}
	if faults := release.Verify(&r); faults != nil {
		t.Error(faults)
	}
	// the noise is a thousandth of these
	if mean := r.Model.Components[0].Mean; len(mean) != 2 || mean[0] < 99 || mean[0] > 101 || mean[1] < -1 || mean[1] > 1 {
		t.Errorf("the mean is %v", mean)
	}
	if runs == 0 {
		t.Error("no worker was asked")
	}
}

type schedule func(ctx context.Context, items []string) error

func (s schedule) Run(ctx context.Context, items []string) error { return s(ctx, items) }

// Pipelines whose work fails, panics, comes twice or gets lost end in the sums of one that runs, or
// in an error that says what was spent.
func TestFaults(t *testing.T) {
	input := files(t, 1, 20_000)
	o, runs := asked(t, input), 0
	o.schedule = func(s *shared.Store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error {
			runs++
			own := beamed{s.Folder()}
			switch runs % 3 {
			case 1:
				return own.Run(ctx, append(items, "no work")) // Prism gives up
			case 2:
				return own.Run(ctx, append(items, items...))
			}
			return own.Run(ctx, items)
		})
	}
	if code, _, stderr := run(t, o); code != codeOK {
		t.Errorf("code %d: %s", code, stderr)
	}
	o = asked(t, input)
	o.schedule = func(s *shared.Store) sharded.Scheduler { return beamed{s.Folder() + ".not"} }
	code, stdout, stderr := run(t, o)
	if code != codeFailed || stdout != "" || !strings.Contains(stderr, "spent: epsilon 0.") {
		t.Errorf("code %d, %q: %s", code, stdout, stderr)
	}
}

// An interrupt ends a fit whose workers never answer.
func TestInterrupt(t *testing.T) {
	o := asked(t, files(t, 1, 20_000))
	ctx, cancel := context.WithCancel(t.Context())
	o.schedule = func(*shared.Store) sharded.Scheduler {
		return schedule(func(context.Context, []string) error { cancel(); select {} })
	}
	_, err := o.fit(ctx, nil, &bytes.Buffer{})
	if !errors.As(err, new(*gauze.RunError)) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What elements name is a store and work in it, or an error.
func TestElements(t *testing.T) {
	s, err := shared.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, odd := range []string{"", "1.1.0", s.Folder() + between, s.Folder() + between + "1.1.0", s.Folder() + "x" + between + "1.1.0"} {
		if _, err := work(odd); err == nil || strings.Contains(err.Error(), s.Folder()) {
			t.Errorf("%q: %v", odd, err)
		}
	}
}

// What cannot be fitted is refused before a row is read.
func TestRefused(t *testing.T) {
	input := files(t, 1, 10)
	unit := filepath.Join(t.TempDir(), "unit.json")
	if err := os.WriteFile(unit, []byte(`{"columns": [{"name": "x"}], "unit": "y"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*options){
		"budget":     func(o *options) { o.epsilon = 0 },
		"relation":   func(o *options) { o.relation = "none" },
		"components": func(o *options) { o.components = "many" },
		"no columns": func(o *options) { o.columns = "" },
		"both":       func(o *options) { o.schema = unit },
		"unit":       func(o *options) { o.columns, o.schema = "", unit },
		"method":     func(o *options) { o.method = "magic" },
		"folder":     func(o *options) { o.shards = filepath.Join(o.shards, "gone") },
		"input":      func(o *options) { o.input = "gone.csv" },
	} {
		o := asked(t, input)
		if change(o); o.run(t.Context(), nil, &bytes.Buffer{}, &bytes.Buffer{}) != codeInput {
			t.Errorf("%s: not refused", name)
		}
	}
}

// Prism is not started where others can reach it.
func TestNetwork(t *testing.T) {
	lo := net.Interface{Name: "lo", Flags: net.FlagUp | net.FlagLoopback}
	if err := enclosed([]net.Interface{lo, {Name: "off"}}); err != nil {
		t.Error(err)
	}
	if err := enclosed([]net.Interface{lo, {Name: "eth0", Flags: net.FlagUp}}); !errors.As(err, new(*source.Error)) {
		t.Error(err)
	}
}
