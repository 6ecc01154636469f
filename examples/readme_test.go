package examples_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command of the README and of the page of methods runs in a fresh folder, as it is printed
// but for two: building was done, into that folder, and "go run" runs what was built. The tests are
// not run from within themselves.
func TestReadme(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs sh")
	}
	var text []byte
	for _, page := range []string{"../README.md", "../docs/METHODS.md"} {
		one, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, one...)
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
	writePeople(t, filepath.Join(dir, "people.csv"))
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			if line == "go build ./cmd/gauze" || line == "go test ./..." {
				continue
			}
			line = strings.Replace(line, "go run ./cmd/gauze", "./gauze", 1)
			cmd := exec.Command(shell, "-c", line)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, out)
			}
			ran++
		}
	}
	if ran < 15 {
		t.Errorf("only %d commands were found in the README and docs/METHODS.md", ran)
	}
	for _, made := range []string{"gauze-demo/report.html", "clinic.csv", "release.json", "report.html", "synthetic.csv"} {
		if info, err := os.Stat(filepath.Join(dir, made)); err != nil || info.Size() == 0 {
			t.Errorf("the commands of the README left no %s", made)
		}
	}
}

// writePeople makes the table that stands for the reader's own.
func writePeople(t *testing.T, name string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("age,bmi\n")
	for range 20000 {
		fmt.Fprintf(&b, "%.1f,%.1f\n", 45+12*rng.NormFloat64(), 26+4*rng.NormFloat64())
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
