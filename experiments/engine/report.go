package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Report is experiments that are no cells, like attacks: each writes a page by itself.
type Report struct {
	Name, About string
	// Seed is of rows and moments, unless another is asked for; 0 where there is none.
	Seed  uint64
	Tasks []Task
}

// A Task is such an experiment.
type Task struct {
	Name, Title string
	Runs        int // how often it is made, unless the command line says
	// Make writes the tables, below what says what made them.
	Make func(ctx context.Context, o Options, p *Page) error
}

// Title returns the report in one line.
func (r *Report) Title() (name, about string) { return r.Name, r.About }

// Names returns those of the experiments.
func (r *Report) Names() (names []string) {
	for _, t := range r.Tasks {
		names = append(names, t.Name)
	}
	return names
}

// Run makes the pages named, or all.
func (r *Report) Run(ctx context.Context, o Options, names []string) error {
	if len(names) == 0 || slices.Equal(names, []string{"all"}) {
		names = r.Names()
	}
	if o.Out == "" && o.Runs == 0 && !o.Quick {
		o.Out = filepath.Join(filepath.FromSlash(Pages), r.Name)
	}
	for _, name := range names {
		i := slices.Index(r.Names(), name)
		if i < 0 {
			return fmt.Errorf("%s: wanted some of %s, got %q: %w", r.Name, strings.Join(r.Names(), ", "), name, ErrUsage)
		}
		if err := r.Tasks[i].write(ctx, o, r); err != nil {
			return fmt.Errorf("%s %s: %w", r.Name, name, err)
		}
	}
	return nil
}

// write makes a task and writes its page.
func (t Task) write(ctx context.Context, o Options, r *Report) error {
	command, seed := "go run ./experiments "+r.Name, "none: what is drawn is drawn anew"
	if o.Runs > 0 {
		command += fmt.Sprintf(" -runs %d", o.Runs)
	} else {
		o.Runs = t.Runs
	}
	if o.Seed > 0 {
		command += fmt.Sprintf(" -seed %d", o.Seed)
	} else {
		o.Seed = r.Seed
	}
	if o.Seed > 0 {
		seed = fmt.Sprintf("%d of rows and moments; noise has none, nor has what the machine does", o.Seed)
	}
	p := &Page{}
	p.Title(t.Title)
	p.Header(Header{Command: "`" + command + " " + t.Name + "`", Runs: fmt.Sprint(o.Runs), Seed: seed, Commit: o.Commit})
	if err := t.Make(ctx, o, p); err != nil {
		return err
	}
	if _, err := o.Stdout.Write(p.Bytes()); err != nil || o.Out == "" {
		return err
	}
	return p.Save(o.Out, t.Name)
}
