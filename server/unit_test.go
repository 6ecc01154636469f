package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnit: systemd, where it is, finds nothing to say of the unit, but for where the program is.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd-analyze")
	}
	const program = "/usr/local/bin/gauze"
	unit, err := os.ReadFile("../deploy/gauze.service")
	if err != nil || strings.Count(string(unit), "="+program) != 1 {
		t.Fatalf("%v: %s", err, unit)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	verify := func(text string) string {
		file := filepath.Join(t.TempDir(), "gauze.service")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
		if err != nil {
			out = append(out, err.Error()...)
		}
		return string(out)
	}
	here := strings.Replace(string(unit), "="+program, "="+self, 1)
	if said := verify(here); said != "" {
		t.Error(said)
	}
	if said := verify(strings.Replace(here, "ProtectClock=", "ProtectClok=", 1)); said == "" {
		t.Error("nothing is said of an unknown key: the test could hardly fail")
	}
}
