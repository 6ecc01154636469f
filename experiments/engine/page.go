package engine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Page is Markdown that is being written, and the pictures that belong to it. The zero value is
// an empty page.
type Page struct {
	out      bytes.Buffer
	pictures []namedPicture
}

type namedPicture struct {
	name string
	Picture
}

// Title writes the page's.
func (p *Page) Title(s string) { fmt.Fprintf(&p.out, "# %s\n\n", s) }

// Heading writes one of the second level.
func (p *Page) Heading(s string) { fmt.Fprintf(&p.out, "## %s\n\n", s) }

// Text writes a paragraph, unless there is nothing in it.
func (p *Page) Text(s string) {
	if s != "" {
		fmt.Fprintf(&p.out, "%s\n\n", s)
	}
}

// Table writes a table, unless it has no rows.
func (p *Page) Table(t Table) {
	if len(t.Rows) > 0 {
		_ = t.Write(&p.out) // a buffer takes everything
	}
}

// Picture adds a picture, unless nothing can be seen on it.
func (p *Page) Picture(name string, pic Picture) {
	points := 0
	for _, l := range pic.Lines {
		if !l.Thin {
			points = max(points, len(l.X))
		}
	}
	if points < 2 {
		return
	}
	name = fileName(name)
	p.pictures = append(p.pictures, namedPicture{name, pic})
	fmt.Fprintf(&p.out, "![%s](%s.svg)\n\n", pic.Title, name)
}

// fileName makes a name one of a file.
func fileName(name string) string {
	return strings.NewReplacer(":", "-", "/", "-", " ", "-").Replace(name)
}

// Bytes is the page.
func (p *Page) Bytes() []byte { return p.out.Bytes() }

// Save writes the page and its pictures into a folder.
func (p *Page) Save(folder, name string) error {
	if err := os.WriteFile(filepath.Join(folder, name+".md"), p.out.Bytes(), 0o666); err != nil {
		return err
	}
	for _, pic := range p.pictures {
		file := filepath.Join(folder, pic.name+".svg")
		var b bytes.Buffer
		if err := pic.writeSVG(&b); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// A Header says what made a page: every page begins with one.
type Header struct{ Command, Runs, Seed, Commit string }

// Header writes one.
func (p *Page) Header(h Header) {
	fmt.Fprintf(&p.out, "- Command: %s\n- Runs per cell: %s\n- Seed: %s\n- Commit: %s\n\n", h.Command, h.Runs, h.Seed, h.Commit)
}

// header says what the results are of, not what was asked for.
func (r *Results[C]) header() Header {
	least, most, first := 0, 0, uint64(0)
	var commits []string
	for _, l := range r.Lines {
		for _, runs := range l.Results {
			if least == 0 || len(runs) < least {
				least = len(runs)
			}
			most = max(most, len(runs))
			for _, run := range runs {
				if first == 0 || run.Seed < first {
					first = run.Seed
				}
				if run.Commit == "" {
					run.Commit = "not recorded"
				}
				if !slices.Contains(commits, run.Commit) {
					commits = append(commits, run.Commit)
				}
			}
		}
	}
	slices.Sort(commits)
	runs := fmt.Sprint(most)
	if least != most {
		runs = fmt.Sprintf("%d to %d, as the tables say", least, most)
		if r.Experiment.Search {
			runs += "; a search leaves a number of rows as soon as too many runs have failed"
		}
	}
	return Header{Command: "`" + r.Options.command(r.Study.Name, r.Experiment.Name) + "`", Runs: runs,
		Seed: fmt.Sprintf("%d is that of the first run of every cell, and the next run's is one more; noise has none", first), Commit: strings.Join(commits, ", ")}
}

// write writes the page of an experiment to stdout and, if there is a folder, into it.
func (r *Results[C]) write() error {
	p := &Page{}
	p.Title(r.Experiment.Title)
	p.Header(r.header())
	p.Text(r.Experiment.About)
	if r.Study.Lead != nil {
		p.Text(r.Study.Lead(r))
	}
	p.Text(r.Note)
	if r.Experiment.Summary != nil && !r.Options.Quick {
		r.Experiment.Summary(p, r)
		p.Heading("All runs")
	}
	p.Text(r.Study.Legend)
	p.Table(r.long())
	r.reasons(p)
	if _, err := r.Options.Stdout.Write(p.Bytes()); err != nil || r.Options.Out == "" {
		return err
	}
	return p.Save(r.Options.Out, fileName(r.Experiment.Name))
}

// long is the table of all lines and numbers of rows.
func (r *Results[C]) long() Table {
	t := Table{Head: append([]string{"cell", "method", "n"}, r.Study.Head(r)...)}
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			t.Add(append([]any{l.Name, l.By, Rows(n)}, r.Study.Describe(r, l, n)...)...)
		}
	}
	return t
}

// reasons counts why there was no model.
func (r *Results[C]) reasons(p *Page) {
	t := Table{Head: []string{"cell", "method", "n", "runs", "no model because"}}
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			count := map[string]int{}
			var order []string
			for _, run := range l.Results[n] {
				if run.Why == "" {
					continue
				}
				why := run.Why
				if r.Study.Noisy != nil {
					why = r.Study.Noisy.ReplaceAllString(why, "N")
				}
				if count[why] == 0 {
					order = append(order, why)
				}
				count[why]++
			}
			for _, why := range order {
				t.Add(l.Name, l.By, Rows(n), count[why], why)
			}
		}
	}
	if len(t.Rows) > 0 {
		p.Heading("Runs without a model")
		p.Table(t)
	}
}

// printRun writes one run on one line.
func printRun(w io.Writer, r Result, shown []string) {
	verdict := "fail"
	if r.Success {
		verdict = "ok"
	}
	var parts []string
	for _, name := range shown {
		if x, ok := r.Values[name]; ok {
			parts = append(parts, name+" "+Number(x))
		}
	}
	fmt.Fprintf(w, "%-24s %-16s n %-6s seed %d %-4s %s  %.2f s  %s\n", r.Cell, r.Method, Rows(r.N), r.Seed, verdict, strings.Join(parts, " "), r.Seconds, r.Why+r.Note)
}
