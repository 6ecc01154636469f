package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command of the README runs in a fresh folder as it is printed. The building command builds
// into that folder.
func TestReadme(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs sh")
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "gauze"), "./cmd/gauze")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(here, filepath.Join(dir, "examples")); err != nil {
		t.Skip("needs symbolic links: ", err)
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			if line == "go build ./cmd/gauze" {
				continue
			}
			cmd := exec.Command(shell, "-c", line)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, out)
			}
			ran++
		}
	}
	if ran < 6 {
		t.Errorf("only %d commands were found in the README", ran)
	}
	for _, made := range []string{"clinic.csv", "release.json", "report.html", "synthetic.csv"} {
		if info, err := os.Stat(filepath.Join(dir, made)); err != nil || info.Size() == 0 {
			t.Errorf("the commands of the README left no %s", made)
		}
	}
}
