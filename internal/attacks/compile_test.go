package attacks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/gauze-dp/gauze"

// refused are programs of packages outside the kernel, and what the compiler says of them.
var refused = []struct{ name, imports, body, says string }{
	{"rows", "kernel/internal/engine", "var _ engine.Table", "use of internal package"},
	{"noise", "kernel/internal/noise", "var _ = noise.NewSeeded", "use of internal package"},
	{"hook", "kernel/internal/core", "var _ = core.NewHook", "use of internal package"},
	{"core", "kernel/internal/core", "var _ = core.Measure", "use of internal package"},
	{"a test of agreement", "kernel/internal/agree", "var _ agree.Test", "use of internal package"},
	{"door", "kernel", "var _ = kernel.OpenForTest", "undefined: kernel.OpenForTest"},
	{"hooked", "kernel", "var _ = kernel.Hooked", "undefined: kernel.Hooked"},
	{"an epsilon for a mu^2", "kernel/privacy", "func r(f *privacy.Filter, e privacy.Epsilon) error { return f.Spend(e) }", "cannot use e"},
	{"a mu^2 for an epsilon", "kernel/privacy", "func r(c privacy.Calibration) error { return privacy.NewFilter(c).SpendPure(c.Cap) }", "cannot use c.Cap"},
	{"observed", "kernel kernel/kerneltest kernel/privacy", "func r(t *kernel.Table) any { return kerneltest.Observed(t, 1, privacy.ReplaceOne, nil) }", "cannot use t"},
	{"factor", "kernel/kerneltest", "var _ = kerneltest.observed", "undefined: kerneltest.observed|not exported by package"},
	{"relation", "kernel kernel/privacy", "func n(t *kernel.Table) { t.Rows(privacy.ReplaceOne) }", "too many arguments"},
	{"reach", "kernel", "func n(t *kernel.Table) any { return t.rows() }", "rows undefined|cannot refer to unexported"},
	{"table", "kernel", "func n(s *kernel.Session) *kernel.Table { return s.table }", "table undefined|cannot refer to unexported"},
	{"filter", "kernel", "func n(s *kernel.Session) any { return s.filter }", "filter undefined|cannot refer to unexported"},
	{"budget", "kernel", "var _ = kernel.SubBudget{left: 1}", "unknown field left|cannot refer to unexported"},
	{"learner", "kernel kernel/blocks", "func b(l kernel.Learner) blocks.Blocks { return blocks.Blocks{Own: l, Count: 1} }", "unknown field Own"},
	{"problem", "estimate learner", "func p(m learner.Mixture) estimate.Problem { return estimate.Problem{Own: m} }", "cannot use m"},
	{"terms", "kernel", "func o(s *kernel.Session, f func(int) kernel.Learner) { s.terms.Own = f }", "terms undefined|cannot refer to unexported"},
	{"builder", "kernel", "func b(b *kernel.Builder) any { return b.filling }", "filling undefined|cannot refer to unexported"},
}

// TestRefusedByTheCompiler: each fails, and says why.
func TestRefusedByTheCompiler(t *testing.T) {
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := "package p\n"
			for _, i := range strings.Fields(c.imports) {
				text += "import \"" + module + "/" + i + "\"\n"
			}
			out, err := build(t, text+c.body+"\n")
			ok := false
			for _, says := range strings.Split(c.says, "|") {
				ok = ok || strings.Contains(out, says)
			}
			if err == nil || !ok {
				t.Errorf("%v, want %q in\n%s", err, c.says, out)
			}
		})
	}
}

// TestBuilds: what is refused above is refused for what it does.
func TestBuilds(t *testing.T) {
	if out, err := build(t, "package p\nimport \""+module+"/kernel\"\nfunc n(t *kernel.Table) { t.Rows() }\n"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestKernelTestOutsideTests: a program that brings a testing.TB of its own has no seeded noise.
func TestKernelTestOutsideTests(t *testing.T) {
	out, err := build(t, `package main
import (
	"testing"
	"`+module+`/kernel"
	"`+module+`/kernel/kerneltest"
)
type tb struct{ testing.TB }
func (tb) Helper() {}
func main() { kerneltest.Open(tb{}, nil, kernel.Plan{}, kernel.Terms{}, kerneltest.Options{Exact: true}) }
`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := exec.Command(out).CombinedOutput()
	if err == nil || !strings.Contains(string(said), "kerneltest: for tests only") {
		t.Errorf("%v: %s", err, said)
	}
}

// build compiles text as a package of the module that is nowhere on disk; it returns what the
// compiler says, or the program.
func build(t *testing.T, text string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, overlay, out := filepath.Join(dir, "p.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "out")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal/attacks/nowhere/p.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: []byte(text), overlay: replaced} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", out, "./internal/attacks/nowhere")
	cmd.Dir = root
	said, err := cmd.CombinedOutput()
	if err == nil {
		return out, nil
	}
	return string(said), err
}
