// Package audit attacks the methods of the catalogue, as `gauze audit` does, and writes what the
// attacks prove on one page. Noise and coins are the operating system's: nothing has a seed.
package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gauze-dp/gauze"
	attack "github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A subject is a method and what it is asked.
type subject struct {
	method     string
	rows       int
	components int
	// told: bounds that hold of all made-up tables' clusters, for methods that ask for them.
	told bool
	pure bool // delta 0
}

// subjects are in the order in which they are attacked: the cheap ones first, and of the literal
// ones those that measure small tables. The rows are among the fewest at which a method measures
// anything: a guess.
var subjects = []subject{
	{method: "univariate:kv18", rows: 600},
	{method: "univariate:kv18", rows: 2000, told: true, pure: true},
	{method: "gaussian:coinpress", rows: 2000, told: true},
	{method: "univariate", rows: 200},
	{method: "gaussian", rows: 600},
	{method: "axis-aligned", rows: 600},
	{method: "general", rows: 600},
	{method: "separated", rows: 2000},
	{method: "heavy-tailed", rows: 600},
	{method: "black-box", rows: 6000, components: 1},
	{method: "general:amn24", rows: 600, components: 1, told: true},
	{method: "univariate:amn24", rows: 600, components: 1},
}

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// A pair is a subject under a relation, attacked so many times.
type pair struct {
	Method, Relation string
	Rows, Runs       int
	Epsilon, Delta   float64
}

// An entry is a line of the results.
type entry struct {
	Pair    pair
	Commit  string
	Seconds float64
	Report  *attack.Report
}

// pair is what an audit of a subject is told apart by.
func (s subject) pair(o engine.Options, r privacy.Relation) pair {
	p := pair{Method: s.method, Relation: r.String(), Rows: s.rows, Runs: o.Runs, Epsilon: o.Budget.Epsilon, Delta: o.Budget.Delta}
	if s.pure {
		p.Delta = 0
	}
	return p
}

// request is what is audited.
func (s subject) request(p pair, r privacy.Relation) attack.Request {
	fit := gauze.Request{Method: s.method, Relation: r, Budget: privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}, Components: s.components}
	if s.told {
		fit.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 20, Eigenvalues: [2]float64{.25, 25}}
	}
	return attack.Request{Fit: fit, Rows: p.Rows, Runs: p.Runs}
}

// Study is the study.
var Study = study{}

type study struct{}

func (study) Title() (name, about string) {
	return "audit", "attacks on the methods: lower bounds on the epsilon that they really have"
}

func (study) Names() []string { return []string{"methods", "forged"} }

// Numbers of runs, for each pair of tables that is attacked.
const (
	usualRuns = 1000
	quickRuns = 4
)

// Run attacks what was not attacked yet, and writes the page anew after each audit, so that an
// interruption loses the one that runs.
func (s study) Run(ctx context.Context, o engine.Options, names []string) error {
	if len(names) > 1 || len(names) == 1 && !slices.Contains(s.Names(), names[0]) {
		return fmt.Errorf("audit: wanted methods or forged, got %q: %w", names, engine.ErrUsage)
	}
	if len(names) == 1 && names[0] == "forged" {
		return runForged(ctx, o)
	}
	if o.Out == "" && !o.Quick {
		o.Out = filepath.Join(filepath.FromSlash(engine.Pages), "audit")
	}
	if o.Runs == 0 {
		if o.Runs = usualRuns; o.Quick {
			o.Runs = quickRuns
		}
	}
	all, keep, err := open(o)
	if err != nil {
		return err
	}
	defer keep.Close()
	for _, subject := range subjects {
		if o.Methods != nil && !slices.Contains(o.Methods, subject.method) {
			continue
		}
		for _, r := range relations {
			p := subject.pair(o, r)
			if slices.ContainsFunc(all, func(e entry) bool { return e.Pair == p }) {
				continue
			}
			fmt.Fprintf(o.Stderr, "audit: %+v\n", p)
			e, err := one(ctx, o, p, subject.request(p, r))
			if err == nil {
				all = append(all, e)
				err = errors.Join(json.NewEncoder(keep).Encode(e), save(o, all))
			}
			if err != nil {
				return fmt.Errorf("audit %s, %v: %w", subject.method, r, err)
			}
		}
	}
	_, err = o.Stdout.Write(write(all).Bytes())
	return err
}

// open reads the results that are there, and opens their file for more.
func open(o engine.Options) (all []entry, keep *os.File, err error) {
	if o.Out == "" {
		keep, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		return nil, keep, err
	}
	name := filepath.Join(o.Out, "results", "methods.jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, nil, err
	}
	old, err := os.Open(name)
	if err == nil {
		defer old.Close()
		for in := bufio.NewReader(old); err == nil; {
			var line []byte
			if line, err = in.ReadBytes('\n'); err != nil {
				break
			}
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, e)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if len(all) > 0 && !o.Resume {
		return nil, nil, fmt.Errorf("%s is not empty: resume it, or remove it", name)
	}
	keep, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	return all, keep, err
}

func save(o engine.Options, all []entry) error {
	if o.Out == "" {
		return nil
	}
	return write(all).Save(o.Out, "methods")
}
