package main

import (
	"cmp"
	"context"
	"flag"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// asWorker works if a runner has started this program as one, and is false for a person's command.
// A worker says nothing, and leaves no core file, which rows would be in.
func asWorker(args []string) (code int, ok bool) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "--worker") && !strings.HasPrefix(args[0], "--id=") {
		return 0, false
	}
	ctx := shell.Begin()
	ready()
	if boot(ctx, args) != nil {
		return shell.CodeOther, true
	}
	return shell.CodeOK, true
}

// boot works for one job. Beam's own boot program, in its images and on Dataflow, starts a worker
// with --worker; runners start what they take for a boot program, as the command of PROCESS and in
// an image, with --id, and where to ask. That would fetch the program that the job comes with, and
// run it; this worker is the program that its machine has, whatever it is sent.
func boot(ctx context.Context, args []string) error {
	flags, own := flag.NewFlagSet("worker", flag.ContinueOnError), map[string]*string{}
	flags.SetOutput(io.Discard)
	for _, name := range []string{"id", "provision_endpoint", "control_endpoint", "logging_endpoint", "artifact_endpoint", "semi_persist_dir", "options"} {
		own[name] = flags.String(name, "", "")
	}
	begun := flags.Bool("worker", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	id := strings.Trim(*own["id"], "'") // in which Prism (2.77) encloses it, without a shell
	if *begun {
		err := join(ctx, id, *own["control_endpoint"])
		if err == nil {
			<-ctx.Done() // Beam's boot program takes an end for a failure
		}
		return err
	}
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, id), *own["provision_endpoint"])
	if err != nil {
		return err
	}
	return join(ctx, id, cmp.Or(info.GetControlEndpoint().GetUrl(), *own["control_endpoint"]))
}

// join works for the job whose runner is there, until the job has ended. It sends the runner only
// what the runner asks for: no log, and no status, which shows stacks.
func join(ctx context.Context, id, control string) error {
	ctx, cancel := context.WithCancel(grpcx.WriteWorkerID(ctx, id))
	defer cancel()
	return harness.MainWithOptions(ctx, "", control, harness.Options{})
}

// registered keeps a job to the functions that are registered with Beam: it would look up any other
// in this program by the name that the job says.
type registered struct{}

// Sym2Addr finds none.
func (registered) Sym2Addr(string) (uintptr, error) { return 0, errElement }

func init() {
	runtime.Resolver = registered{}
}
