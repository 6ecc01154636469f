// Command mutants holds the tests of the papers' statements to what they claim: it changes one line
// of the code that a statement is about, and runs the tests that show the statement, one of which
// has to fail. The tree is not touched: changed files are handed to the compiler as an overlay.
//
//	go run ./internal/mutants              # all of papers/mutants.csv; minutes
//	go run ./internal/mutants -tenth 3     # every tenth row, from the fourth on: for CI
//	go run ./internal/mutants -write       # all, and keep who killed whom
//
// It exits with 1 where a row is not as the file has it, or is no mutant any more.
package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/internal/cite"
)

func main() {
	tenth := flag.Int("tenth", -1, "run every tenth mutant, from this one on: 0 to 9; all if negative")
	write := flag.Bool("write", false, "write who killed whom to "+cite.MutantsFile)
	only := flag.String("only", "", "run the mutants whose source and statement match this expression")
	flag.Parse()
	if err := run(os.Stdout, *tenth, *write, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, tenth int, write bool, only string) error {
	mutants, err := cite.ReadMutants(".")
	if err != nil {
		return err
	}
	citations, faults := cite.Collect(".")
	if faults != nil {
		return errors.Join(faults...)
	}
	which, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var wrong []error
	for i, m := range mutants {
		if tenth >= 0 && i%10 != tenth%10 || !which.MatchString(m.Key+" "+m.Part) {
			continue
		}
		killed, err := kill(m, citations)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s %s: %w", m.Key, m.Part, err))
			continue
		case write:
			mutants[i].Killed = killed
		case (killed == "") != (m.Killed == ""):
			wrong = append(wrong, fmt.Errorf("%s %s: killed by %q, %s has %q; run it with -write", m.Key, m.Part, killed, cite.MutantsFile, m.Killed))
		}
		fmt.Fprintf(w, "%s %s: %s\n", m.Key, m.Part, strings.Join(strings.Fields("killed by "+killed), " "))
	}
	if write {
		wrong = append(wrong, save(mutants))
	}
	return errors.Join(wrong...)
}

// kill returns the tests that show the statement and fail on the mutant, "" if none does.
func kill(m cite.Mutant, c cite.Citations) (killed string, err error) {
	tests := map[string][]string{} // by folder
	for _, t := range c.Shows {
		if m.About(t) {
			folder := "./" + filepath.Dir(t.File)
			tests[folder] = append(tests[folder], t.Symbol)
		}
	}
	if len(tests) == 0 {
		return "", errors.New("no test shows it")
	}
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	overlay, err := overlaid(m, folder)
	if err != nil {
		return "", err
	}
	var names []string
	for in, of := range tests {
		out, err := exec.Command("go", "test", "-overlay", overlay, "-run", "^("+strings.Join(of, "|")+")$", in).CombinedOutput()
		if err == nil {
			continue
		}
		found := failed.FindAllSubmatch(out, -1)
		if found == nil && !strings.Contains(string(out), "panic:") {
			return "", fmt.Errorf("it does not compile, or its tests do not run: %.400s", out)
		}
		for _, f := range found {
			names = append(names, string(f[1]))
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), nil
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// overlaid writes the changed file and the overlay that names it.
func overlaid(m cite.Mutant, folder string) (overlay string, err error) {
	text, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.From); n != 1 || m.From == m.To {
		return "", fmt.Errorf("%s: want %q in it once, and other than what replaces it, got %d times", m.File, m.From, n)
	}
	changed, overlay := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	original, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(changed, []byte(strings.Replace(string(text), m.From, m.To, 1)), 0o600), os.WriteFile(overlay, list, 0o600))
}

// save writes the list.
func save(mutants []cite.Mutant) error {
	file, err := os.Create(cite.MutantsFile)
	if err != nil {
		return err
	}
	w := csv.NewWriter(file)
	records := [][]string{{"source", "statement", "file", "from", "to", "killed by"}}
	for _, m := range mutants {
		records = append(records, []string{m.Key, m.Part, m.File, m.From, m.To, m.Killed})
	}
	return errors.Join(w.WriteAll(records), file.Close())
}
