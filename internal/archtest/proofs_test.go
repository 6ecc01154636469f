package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// longestProof is the number of lines that a proof may take in a comment; a longer one stands in
// NAME_proof.md beside its file, in numbered steps.
const longestProof = 15

var (
	proofFile  = regexp.MustCompile(`((?:kernel/(?:[a-z/]+/)?)?\w+_proof\.md)((?:, steps? [0-9]+(?:(?:,| to| and) [0-9]+)*)?)`)
	proofStep  = regexp.MustCompile(`(?m)^### Step ([0-9]+)\. `)
	number     = regexp.MustCompile(`[0-9]+`)
	proofBegin = regexp.MustCompile(`^(Proof|Why|Theorem|Lemma|Privacy|Sensitivity|Rounding)\b`)
	proofEnd   = regexp.MustCompile(`^(Source:|Differs:|Caller must ensure|Answer|Time )|_proof\.md`)
)

// TestProofs: a proof that code or another proof names exists, and the step that it names; every
// proof is named by code of its folder; and its steps are numbered from 1 on. No comment holds a
// long proof.
func TestProofs(t *testing.T) {
	named := map[string]bool{}
	for _, f := range files(t) {
		if f.test || !under(f.folder, "kernel", "estimate") {
			continue
		}
		for _, c := range f.tree.Comments {
			if n := proofLines(c); n > longestProof {
				t.Errorf("%s: a proof of %d lines: move it to a _proof.md beside the file", f.at(c.Pos()), n)
			}
			for _, name := range proofsNamed(t, f.at(c.Pos()), f.folder, c.Text()) {
				named[name] = true
			}
		}
	}
	err := filepath.WalkDir(filepath.Join(root, "kernel"), func(name string, _ os.DirEntry, err error) error {
		if !strings.HasSuffix(name, "_proof.md") {
			return err
		}
		if !named[name] {
			t.Errorf("%s is named by no code of its folder", name)
		}
		text, err := os.ReadFile(name)
		proofsNamed(t, name, "", string(text))
		return err
	})
	if err != nil || len(named) == 0 {
		t.Errorf("%d proofs were found (%v): this test looks in the wrong place", len(named), err)
	}
}

// proofsNamed are the files of the proofs that a text names; it checks that they have the steps
// named.
func proofsNamed(t *testing.T, at, folder, text string) (names []string) {
	for _, m := range proofFile.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
		name := filepath.Join(root, folder, m[1])
		if strings.Contains(m[1], "/") {
			name = filepath.Join(root, m[1])
		}
		names = append(names, name)
		steps := stepsOf(t, name)
		for _, n := range number.FindAllString(m[2], -1) {
			if n, _ := strconv.Atoi(n); n < 1 || n > steps {
				t.Errorf("%s: %s has no step %d", at, m[1], n)
			}
		}
	}
	return names
}

// stepsOf is the number of steps of a proof.
func stepsOf(t *testing.T, name string) int {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Error(err)
		return 0
	}
	steps := proofStep.FindAllStringSubmatch(string(text), -1)
	for i, m := range steps {
		if m[1] != strconv.Itoa(i+1) {
			t.Errorf("%s: step %s stands where step %d should", name, m[1], i+1)
		}
	}
	if len(steps) == 0 {
		t.Errorf("%s has no steps", name)
	}
	return len(steps)
}

// proofLines is the number of lines of the longest proof in a comment: from what states it to the
// next paragraph of another kind.
func proofLines(c *ast.CommentGroup) (most int) {
	n := -1
	for _, line := range strings.Split(strings.TrimSpace(c.Text()), "\n") {
		switch {
		case n < 0 && proofBegin.MatchString(line):
			n = 1
		case n >= 0 && proofEnd.MatchString(line):
			n = -1
		case n >= 0:
			n++
		}
		most = max(most, n)
	}
	return most
}

// TestProofLines: what counts as a proof in a comment.
func TestProofLines(t *testing.T) {
	for text, want := range map[string]int{
		"// F is\n// a contract.\n":                                      0,
		"// F.\n//\n// Theorem. So\n// it is.\n//\n// Proof. Thus.\n":    4,
		"// F.\n//\n// Proof. Thus.\n//\n// Source: [X].\n// Differs.\n": 2,
	} {
		c := &ast.CommentGroup{}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			c.List = append(c.List, &ast.Comment{Text: line})
		}
		if got := proofLines(c); got != want {
			t.Errorf("%q: %d lines, want %d", text, got, want)
		}
	}
}

// TestNoCurvedQuotes: gofmt turns two primes of a formula into a curved quote; the kernel's
// comments have none.
func TestNoCurvedQuotes(t *testing.T) {
	for _, f := range files(t) {
		if !under(f.folder, "kernel", "estimate") {
			continue
		}
		for _, c := range f.tree.Comments {
			if strings.ContainsAny(c.Text(), "“”‘’") {
				t.Errorf("%s: a curved quote: write a second derivative as D2h", f.at(c.Pos()))
			}
		}
	}
}
