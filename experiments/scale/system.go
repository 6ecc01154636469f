package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A scheduling is what Prism adds to a fit, in seconds; and if that could not be measured, why.
type scheduling struct {
	seconds float64
	why     string
}

// pairs of fits are timed, in turns.
const pairs = 3

// schedule compares gauze-beam by Prism and without Beam, of one Gaussian.
func schedule(ctx context.Context, folder, pattern string) (s scheduling) {
	program := filepath.Join(folder, "gauze-beam")
	if err := build(ctx, beamFolder, program, ".", "GOWORK=off"); err != nil {
		return scheduling{why: err.Error()}
	}
	took := func(runner string) float64 {
		w, err := timedCommand(ctx, slices.Concat(alone(program), fitArgs(pattern, folder), []string{"--runner", runner}))
		if err != nil && s.why == "" {
			s.why = err.Error()
		}
		return w.wall
	}
	var all []float64
	for range pairs {
		all = append(all, took("prism")-took("here"))
	}
	s.seconds = engine.Median(all)
	return s
}

// build builds a program, from a folder and with an environment of its own.
func build(ctx context.Context, folder, program, pkg string, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, pkg)
	cmd.Dir, cmd.Env = folder, append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// alone is how a program is started in a network of its own, since Prism listens on all interfaces.
func alone(program string) []string {
	return []string{"unshare", "--map-root-user", "--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh", program}
}

// disk is how many bytes a second a file of so many bytes is read with that is not in memory.
func disk(folder string, size int) (bandwidth float64, err error) {
	file, err := os.Create(filepath.Join(folder, "disk"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i * i >> 7)
	}
	for written := 0; written < size && err == nil; written += len(block) {
		_, err = file.Write(block)
	}
	_, sought := file.Seek(0, io.SeekStart)
	if err := errors.Join(err, file.Sync(), sought, unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		return 0, err
	}
	began, read := time.Now(), 0
	for {
		n, err := file.Read(block)
		if read += n; err == io.EOF {
			return float64(read) / time.Since(began).Seconds(), nil
		} else if err != nil {
			return 0, err
		}
	}
}
