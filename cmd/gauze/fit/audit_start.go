package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// auditProgram is what runs audits, and where its source stands.
const auditProgram, auditSource = "gauze-audit", "github.com/gauze-dp/gauze/cmd/gauze-audit"

// StartAudit returns `gauze audit` as gauze has it: it hands its arguments to the program
// gauze-audit, whose exit code is the command's.
func StartAudit() shell.Command {
	c := AuditCommand(start)
	c.Spends = true // it waits for the program, which a signal reaches too
	return c
}

func start(e *shell.Env, _ *AuditOptions) error {
	name, clean, err := find(e)
	defer clean()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(e.Ctx, name, e.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, e.Stdout, e.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 {
		return shell.Ended(ended.ExitCode()) // it has said why
	}
	return err
}

// find looks for the program beside this one, then on the PATH. One that `go run` has built builds
// it likewise; clean removes that.
func find(e *shell.Env) (name string, clean func(), err error) {
	clean = func() {}
	file := auditProgram
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), file)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, clean, same(e, beside)
		}
	}
	if found, err := exec.LookPath(file); err == nil {
		return found, clean, same(e, found)
	}
	missing := shell.Wrong("audit", "the program "+auditProgram+" beside this one or on the PATH", "none", "go install "+auditSource+"@latest; in a checkout: go build ./cmd/"+auditProgram)
	if b, ok := debug.ReadBuildInfo(); !ok || b.Main.Version != "(devel)" {
		return "", clean, missing
	}
	folder, err := os.MkdirTemp("", auditProgram)
	if err != nil {
		return "", clean, err
	}
	clean = func() { _ = os.RemoveAll(folder) }
	built := filepath.Join(folder, file)
	if exec.CommandContext(e.Ctx, "go", "build", "-o", built, auditSource).Run() != nil {
		return "", clean, missing
	}
	return built, clean, nil
}

// same refuses a program of another build than this one, of which an audit would say nothing.
func same(e *shell.Env, name string) error {
	var version struct{ Program string }
	text, err := exec.CommandContext(e.Ctx, name, "version", "--json").Output()
	if err == nil {
		err = json.Unmarshal(text, &version)
	}
	if err != nil || version.Program != gauze.Program() {
		return shell.Wrong("audit", "a "+auditProgram+" of this build, "+gauze.Program(), fmt.Sprintf("%s (%s)", version.Program, name), "build or install both programs from the same version")
	}
	return nil
}
