package main

import (
	"context"
	"net"
	"path/filepath"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/gauze-dp/gauze/beam/objects"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/source"
)

// A pool starts workers in this process, for runners of other processes: the environment EXTERNAL
// of Beam. What workers hold of a table stays from one sum, which is a job of its own, to the next.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	ctx            context.Context
	all            errgroup.Group // of workers, one of which may fail
	listen, shards string
}

func (p *pool) entry() shell.Command {
	return shell.Command{Use: "pool --shards FOLDER [flags]", Short: "work for a runner of this machine", Flags: p.register, Run: p.run}
}

func (p *pool) register(flags *pflag.FlagSet) {
	flags.StringVar(&p.listen, "listen", "localhost:50000", "where to wait for runners; whoever reaches it can have work done")
	flags.StringVar(&p.shards, "shards", "", "folder, or gs://BUCKET/.., in which the fits that are worked for have theirs: nothing is opened anywhere else")
}

// run works until it is interrupted.
func (p *pool) run(e *shell.Env, _ []string) error {
	if p.shards == "" {
		return &source.Error{Field: "--shards", Wanted: "the folder that fits name", Got: "none", Hint: "say what gauze-beam fit has after --shards"}
	}
	if !objects.Are(p.shards) {
		folder, err := filepath.Abs(p.shards)
		if err != nil {
			return err
		}
		p.shards = folder
	}
	stores.within(p.shards)
	ready()
	l, err := net.Listen("tcp", p.listen)
	if err != nil {
		return &source.Error{Field: "--listen", Wanted: "an address of this machine that is free", Got: err.Error(), Hint: "name another port"}
	}
	p.ctx = e.Ctx
	server := grpc.NewServer()
	fnpb.RegisterBeamFnExternalWorkerPoolServer(server, p)
	e.Note("working for runners at %s\n", l.Addr())
	context.AfterFunc(e.Ctx, server.Stop)
	return server.Serve(l)
}

// StartWorker has a worker join a job. Names of workers come again: in other jobs at the same time,
// and after a runner that has gone without a word.
func (p *pool) StartWorker(_ context.Context, asked *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.all.Go(func() error { return join(p.ctx, asked.GetWorkerId(), asked.GetControlEndpoint().GetUrl()) })
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker does nothing: a worker stops once its runner has closed the connection.
func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}
