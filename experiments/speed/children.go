package main

import (
	"bufio"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gauze-dp/gauze/model"
)

//go:embed em.py
var emScript string

// newPython writes the rows for scikit-learn and returns the folder with rows and script, or an
// error if python3 has no scikit-learn.
func newPython(folder string, t *table) (string, error) {
	if err := exec.Command("python3", "-c", "import sklearn").Run(); err != nil {
		return "", errors.New("python3 cannot import sklearn")
	}
	return folder, writeRows(folder, "em.py", emScript, t)
}

// writeRows writes a script and the rows that it is to read.
func writeRows(folder, name, script string, t *table) error {
	if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o600); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, "rows.f64"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	var b [8]byte
	for _, v := range t.flat {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		_, _ = w.Write(b[:]) // Flush returns the first error
	}
	return errors.Join(w.Flush(), f.Close())
}

// runPython runs ten iterations of EM; the cost is that of the fit alone, without start and
// reading.
func runPython(folder string, s settings, t *table) (cost, error) {
	cmd := exec.Command("python3", "em.py", "rows.f64", fmt.Sprint(t.d), fmt.Sprint(s.k))
	cmd.Dir = folder
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return cost{}, fmt.Errorf("em.py: %w", err)
	}
	var c struct{ CPU, Wall float64 }
	err = json.Unmarshal(out, &c)
	return cost{c.CPU, c.Wall}, err
}

// A peak is the largest resident memory of one whole `gauze fit` of a CSV file.
type peak struct {
	what  string
	bytes float64
	cost  cost
}

// peakMemory builds the command, lets it simulate the table and fit it.
func peakMemory(s settings, truth *model.Mixture, folder string) ([]peak, error) {
	gauze := filepath.Join(folder, "gauze")
	if out, err := exec.Command("go", "build", "-o", gauze, "github.com/gauze-dp/gauze/cmd/gauze").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	truthFile, rows := filepath.Join(folder, "truth.json"), filepath.Join(folder, "rows.csv")
	text, err := json.Marshal(truth)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(truthFile, text, 0o600); err != nil {
		return nil, err
	}
	out, err := os.Create(rows)
	if err != nil {
		return nil, err
	}
	simulate := exec.Command(gauze, "simulate", truthFile, "--rows", fmt.Sprint(s.n), "--seed", "1")
	simulate.Stdout = out
	if err := errors.Join(simulate.Run(), out.Close()); err != nil {
		return nil, fmt.Errorf("gauze simulate: %w", err)
	}
	common := []string{"fit", rows, "--epsilon", fmt.Sprint(s.budget.Epsilon), "--delta", fmt.Sprint(s.budget.Delta),
		"--columns", strings.Join(model.DefaultColumns(s.d), ","), "--progress", "none", "--out", filepath.Join(folder, "release.json")}
	var peaks []peak
	for _, c := range []struct {
		what string
		args []string
	}{
		{"gaussian", []string{"--components", "1"}},
		{"mixture", []string{"--components", fmt.Sprint(s.k)}},
		{"auto", nil},
	} {
		for range s.rounds {
			cmd := exec.Command(gauze, append(common, c.args...)...)
			got, err := measure(cmd.Run)
			if err != nil {
				return nil, fmt.Errorf("gauze fit: %w", err)
			}
			state := cmd.ProcessState
			got.cpu = (state.UserTime() + state.SystemTime()).Seconds()
			const kilobyte = 1024 // the unit of Maxrss on Linux
			peaks = append(peaks, peak{c.what, float64(state.SysUsage().(*syscall.Rusage).Maxrss) * kilobyte, got})
		}
	}
	return peaks, nil
}
