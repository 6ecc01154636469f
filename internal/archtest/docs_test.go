package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Links between the documents lead somewhere, and what they name in code style as a file or folder
// exists.
func TestDocumentsPointSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	place := regexp.MustCompile("`((?:kernel|model|dense|parts|estimate|literal|learner|source|release|report|cmd|papers|internal|docs|examples)/[A-Za-z0-9_./-]*|\\.ci/run)`")
	var documents []string
	for _, pattern := range []string{"*.md", "docs/*.md", "papers/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, found...)
	}
	links := 0
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
		if strings.HasSuffix(name, "ALGORITHMS.md") || strings.HasSuffix(name, "STATEMENTS.md") {
			continue // their symbols are no files
		}
		for _, m := range place.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("only %d links were found: this test looks in the wrong place", links)
	}
}

// The workflow of a forge runs what has to hold, for longer than that takes at most.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "ci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	of := regexp.MustCompile(`timeout-minutes: (\d+)`).FindSubmatch(text)
	own := regexp.MustCompile(`cores > 1 \? (\d+)`).FindSubmatch(run)
	if of == nil || own == nil || !strings.Contains(string(text), "- run: .ci/run\n") {
		t.Fatalf("the workflow does not run .ci/run within a limit:\n%s", text)
	}
	outer, _ := strconv.Atoi(string(of[1]))
	inner, _ := strconv.Atoi(string(own[1]))
	if outer <= inner {
		t.Errorf("the workflow ends after %d minutes, .ci/run after %d", outer, inner)
	}
}
