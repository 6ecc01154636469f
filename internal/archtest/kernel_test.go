package archtest

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the table of the kernel's sizes into docs/ARCHITECTURE.md")

// A reading is what somebody who trusts some methods has to read of the kernel: all that the
// compiler lets their code reach, and no more.
type reading struct {
	what     string
	packages []string // whose imports decide
	fewer    int      // lines of code than this
}

// The core's limit is never raised.
var readings = []reading{
	{"the core", []string{"kernel"}, 3000},
	{"`gaussian`, `heavy-tailed`", []string{"estimate/gaussian", "estimate/heavytailed"}, 4200},
	{"`general`, `separated`, `univariate`, `axis-aligned`", []string{"estimate/general", "estimate/separated", "estimate/univariate", "estimate/axisaligned"}, 4200},
	{"a known covariance", []string{"estimate/knowncov"}, 4500},
	{"`black-box`", []string{"estimate/blackbox"}, 5900},
	{"the literal algorithms", []string{"literal/..."}, 7600},
}

// What each ring brings beside the core, with the queries that are its own: lines of code, fewer
// than this. (What the default methods ask is kernel/query/rings, of pairs, gaps and partitions.)
var ringLimits = map[string]int{
	"kernel/pairs": 100, "kernel/sample": 30, "kernel/gaps": 80, "kernel/cells": 90, "kernel/choice": 350, "kernel/blocks": 1500,
	"kernel/query/rings": 1000, "kernel/query/boxes": 160, "kernel/query/scores": 700, "kernel/query/pairsums": 180, "kernel/query/gapbuckets": 60,
}

// TestRingsAreSmall: every ring has a limit of its own, packages below it included.
func TestRingsAreSmall(t *testing.T) {
	lines := map[string]int{}
	for _, f := range files(t) {
		for ring := range ringLimits {
			if !f.test && under(f.folder, ring) {
				lines[ring] += codeLines(f.text)
			}
		}
	}
	for ring, fewer := range ringLimits {
		if n := lines[ring]; n >= fewer || n < fewer/2 {
			t.Errorf("%s: %d lines of code, fewer than %d are wanted, and not less than half of it (is it there?)", ring, n, fewer)
		}
	}
}

const tableStart, tableEnd = "<!-- sizes of the kernel: go test ./internal/archtest -run KernelIsSmall -update -->", "<!-- end of sizes -->"

// TestKernelIsSmall: what has to be read to trust the core, and each class of methods, stays short.
// docs/ARCHITECTURE.md shows the lines.
func TestKernelIsSmall(t *testing.T) {
	lines := map[string]int{}
	for _, f := range files(t) {
		if !f.test {
			lines[f.folder] += codeLines(f.text)
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%s\n\n| to trust | lines of code | beside the core |\n|---|---|---|\n", tableStart)
	core := reached(t, "kernel")
	for _, r := range readings {
		all, sum := reached(t, r.packages...), 0
		var beside []string
		for _, folder := range all {
			sum += lines[folder]
			if !slices.Contains(core, folder) {
				beside = append(beside, "`"+folder+"`")
			}
		}
		if sum >= r.fewer {
			t.Errorf("%s: %d lines of code in %q, fewer than %d are wanted: move out what privacy does not rest on", r.what, sum, all, r.fewer)
		}
		if sum < 2000 {
			t.Errorf("%s: %d lines: this test looks in the wrong place", r.what, sum)
		}
		fmt.Fprintf(&table, "| %s | %d | %s |\n", r.what, sum, strings.Join(beside, ", "))
	}
	fmt.Fprintf(&table, "\n%s", tableEnd)
	page := filepath.Join(root, "docs/ARCHITECTURE.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	start, end := bytes.Index(text, []byte(tableStart)), bytes.Index(text, []byte(tableEnd))
	if start < 0 || end < start {
		t.Fatalf("%s has no place for the table", page)
	}
	if now := string(text[start : end+len(tableEnd)]); now == table.String() || !*update && current(now, table.String()) {
		return
	}
	if !*update {
		t.Fatalf("docs/ARCHITECTURE.md: the table of the kernel's sizes is stale: run this test with -update; it is\n%s", table.String())
	}
	text = slices.Concat(text[:start], []byte(table.String()), text[end+len(tableEnd):])
	if err := os.WriteFile(page, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

var fourDigits = regexp.MustCompile(`\b\d{4}\b`)

// current reports that a table shows what another does, and lines to 2 %.
func current(shown, is string) bool {
	a, b := fourDigits.FindAllString(shown, -1), fourDigits.FindAllString(is, -1)
	if fourDigits.ReplaceAllString(shown, "n") != fourDigits.ReplaceAllString(is, "n") {
		return false
	}
	for i := range a {
		x, _ := strconv.ParseFloat(a[i], 64)
		y, _ := strconv.ParseFloat(b[i], 64)
		if math.Abs(x-y) > .02*y {
			return false
		}
	}
	return true
}

// reached are the folders of the kernel that packages import, and dense where those use it. (Of
// parallel, which starts goroutines, nothing depends but that they end.)
func reached(t *testing.T, packages ...string) []string {
	t.Helper()
	kernel := slices.DeleteFunc(deps(t, packages), func(folder string) bool { return !under(folder, "kernel") })
	return slices.DeleteFunc(deps(t, kernel), func(folder string) bool { return !under(folder, "kernel", "dense") })
}

// deps are the folders of ours that packages import, directly or not, themselves included; a
// package whose name ends in "/..." stands for all below it.
func deps(t *testing.T, packages []string) (folders []string) {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		below, tree := strings.CutSuffix(p, "/...")
		for folder, needs := range all {
			if folder == p || tree && under(folder, below) {
				folders = append(append(folders, folder), needs...)
			}
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// listed is what the compiler is given for every package of the module: the folders of ours that it
// depends on.
var listed = sync.OnceValues(func() (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		folder, _ := ours(paths[0])
		all[folder] = []string{}
		for _, p := range paths[1:] {
			if needed, our := ours(p); our {
				all[folder] = append(all[folder], needed)
			}
		}
	}
	return all, nil
})
