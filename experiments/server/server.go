// Package server attacks `gauze serve`: what it lets in, what an analyst who measures everything
// learns of a row, what is left after it was killed, and what it bears. Each page is of a server
// process of its own, which is asked over HTTP and of which nothing else is known.
package server

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// An attack writes its page's tables; runs is how often it is made, 0 for the usual number.
type attack struct {
	name, title string
	runs        int // usual
	make        func(ctx context.Context, f *field, p *engine.Page, runs int) error
}

var attacks = []attack{
	{"security", "What the server lets in", 1, security},
	{"neighbours", "What an analyst who measures everything learns of a row", 40, neighbours},
	{"chaos", "What is left after the server was killed", 100, chaos},
	{"load", "What the server bears", 1, load},
}

// Study is the study.
var Study = study{}

type study struct{}

func (study) Title() (name, about string) {
	return "server", "attacks on gauze serve: security, neighbouring tables, kills, load"
}

func (study) Names() (names []string) {
	for _, a := range attacks {
		names = append(names, a.name)
	}
	return names
}

// Run makes the pages named; -runs is how often each attack is made.
func (s study) Run(ctx context.Context, o engine.Options, names []string) error {
	if len(names) == 0 || slices.Equal(names, []string{"all"}) {
		names = s.Names()
	}
	if o.Out == "" && o.Runs == 0 {
		o.Out = filepath.Join(filepath.FromSlash(engine.Pages), "server")
	}
	for _, name := range names {
		i := slices.Index(s.Names(), name)
		if i < 0 {
			return fmt.Errorf("server: wanted some of %s, got %q: %w", strings.Join(s.Names(), ", "), name, engine.ErrUsage)
		}
		if err := attacks[i].write(ctx, o); err != nil {
			return fmt.Errorf("server %s: %w", name, err)
		}
	}
	return nil
}

// usualSeed is that of rows and moments.
const usualSeed = 22

// write makes an attack and writes its page.
func (a attack) write(ctx context.Context, o engine.Options) error {
	seed := o.Seed
	if seed == 0 {
		seed = usualSeed
	}
	f, err := newField(ctx, seed)
	if err != nil {
		return err
	}
	defer f.close()
	runs, command := a.runs, "go run ./experiments server "
	if o.Runs > 0 {
		runs = o.Runs
		command += fmt.Sprintf("-runs %d ", runs)
	}
	if o.Seed > 0 {
		command += fmt.Sprintf("-seed %d ", seed)
	}
	var p engine.Page
	p.Title(a.title)
	p.Header(engine.Header{Command: "`" + command + a.name + "`", Runs: fmt.Sprint(runs), Seed: fmt.Sprintf("%d of rows and moments; noise has none, nor has what the machine does", seed), Commit: o.Commit})
	if err := a.make(ctx, f, &p, runs); err != nil {
		return err
	}
	p.Text("The machine's load of one minute was " + busy() + " at the end, on two cores.")
	if _, err := o.Stdout.Write(p.Bytes()); err != nil || o.Out == "" {
		return err
	}
	return p.Save(o.Out, a.name)
}
