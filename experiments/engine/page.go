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

// A Page is Markdown that is being written. Lines about single runs are printed and not kept. The
// zero value is an empty page.
type Page struct{ out, detail bytes.Buffer }

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

// Detail adds a table below a heading that is printed, and of which the page says so.
func (p *Page) Detail(heading string, t Table) {
	if len(t.Rows) > 0 {
		fmt.Fprintf(&p.detail, "## %s\n\n", heading)
		_ = t.Write(&p.detail) // a buffer takes everything
	}
}

// fileName makes a name one of a file.
func fileName(name string) string {
	return strings.NewReplacer(":", "-", "/", "-", " ", "-").Replace(name)
}

// Bytes returns the page with its details.
func (p *Page) Bytes() []byte { return slices.Concat(p.out.Bytes(), p.detail.Bytes()) }

// Save writes the page without its details into a folder.
func (p *Page) Save(folder, name string) error {
	text := p.out.Bytes()
	if p.detail.Len() > 0 {
		text = append(text, "*Left out here, and printed by the command: all runs.*\n"...)
	}
	return os.WriteFile(filepath.Join(folder, name+".md"), text, 0o666)
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
	o, seed := r.Options, fmt.Sprintf("%d is that of the first run of every cell, and the next run's is one more; noise has none", first)
	if r.Study.Unseeded {
		o.Seed, seed = 0, "none: what is drawn is drawn anew"
	}
	return Header{Command: "`" + o.command(r.Study.Name, r.Experiment.Name) + "`", Runs: runs, Seed: seed, Commit: strings.Join(commits, ", ")}
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
	add := func(_ string, t Table) { p.Table(t) }
	if r.Experiment.Summary != nil && !r.Options.Quick {
		r.Experiment.Summary(p, r)
		add = p.Detail
	}
	p.Text(r.Study.Legend)
	add("All runs", r.long())
	if t := r.reasons(); len(t.Rows) > 0 {
		p.Detail("Runs without a model", t)
	}
	if _, err := r.Options.Stdout.Write(p.Bytes()); err != nil || r.Options.Out == "" {
		return err
	}
	return p.Save(r.Options.Out, fileName(r.Experiment.Name))
}

// long returns the table of all lines and numbers of rows.
func (r *Results[C]) long() Table {
	t := Table{Head: []string{"cell", "method", "n"}}
	for _, c := range r.Study.Columns {
		t.Head = append(t.Head, c.Head)
	}
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			row := []any{l.Name, l.By, Rows(n)}
			for _, c := range r.Study.Columns {
				row = append(row, c.Show(l.Results[n]))
			}
			t.Add(row...)
		}
	}
	return t
}

// reasons counts why there was no model.
func (r *Results[C]) reasons() Table {
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
	return t
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
