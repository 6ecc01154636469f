package tables

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
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
