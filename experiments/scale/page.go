package scale

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// What is extrapolated to.
const (
	goal     = 1e9
	some     = 16
	many     = 256
	flinkBar = 2 // seconds that a round of a warm cluster may add: what is asked of Flink
)

// cores are those of the machine that measures.
var cores = float64(runtime.GOMAXPROCS(0))

// page is what was measured, and what follows.
func (s *scaling) page(o engine.Options) *engine.Page {
	p := &engine.Page{}
	p.Title("What a thousand million rows cost")
	command := fmt.Sprintf("go run ./experiments scale -seed %d", s.seed)
	if o.Rows != nil {
		command += fmt.Sprintf(" -n %d,%d,%d", s.sizes[0], s.sizes[1], s.sizes[2])
	}
	if o.Methods != nil {
		command += " -methods " + strings.Join(o.Methods, ",")
	}
	command += " rows"
	p.Header(engine.Header{Command: "`" + command + "`", Runs: "one", Seed: fmt.Sprintf("%d, of the rows; noise has none", s.seed), Commit: o.Commit})
	p.Text(fmt.Sprintf("It took %v on %g cores. Rows have %d columns and are read from CSV files, %d of them up to %s rows, each number with six decimals; %s rows are the same files %d times. "+
		"Repeated rows are kind in one way alone: their text lies in memory when it is read. Every row is parsed, written into shards and read in every pass as if it were new.",
		s.took.Round(time.Second), cores, columns, files, engine.Rows(s.sizes[1]), engine.Rows(s.sizes[2]), s.sizes[2]/s.sizes[1]))
	s.wholes(p)
	s.methodsTable(p)
	s.goals(p)
	s.crossover(p)
	return p
}

// wholes is what commands cost.
func (s *scaling) wholes(p *engine.Page) {
	if len(s.whole) == 0 {
		return
	}
	p.Heading("Whole commands")
	p.Text("One Gaussian, `gauze fit --memory 0 --shards DIR`: all of the table lies in mapped shards. Memory is the most that the process had, what was mapped of them included.")
	t := engine.Table{Head: []string{"rows", "processor s", "µs a row", "s on the clock", "µs a row", "memory, MB", "table, MB"}}
	var least, most float64
	for i, w := range s.whole {
		n := float64(w.n)
		t.Add(engine.Rows(w.n), three(w.processor), three(w.processor/n*1e6), three(w.wall), three(w.wall/n*1e6), three(w.memory/1e6), three(n*columns*number/1e6))
		if row := w.processor / n; i == 0 {
			least, most = row, row
		} else {
			least, most = min(least, row), max(most, row)
		}
	}
	p.Table(t)
	last := s.whole[len(s.whole)-1]
	p.Text(fmt.Sprintf("The processor time of a row differs by a factor of at most %.2f; from %s to %s rows it changes by a factor of %.2f, and memory by %s MB.", most/least,
		engine.Rows(s.whole[0].n), engine.Rows(last.n), last.processor/float64(last.n)/(s.whole[0].processor/float64(s.whole[0].n)), three((last.memory-s.whole[0].memory)/1e6)))
}

// methodsTable is what methods ask of workers.
func (s *scaling) methodsTable(p *engine.Page) {
	p.Heading("Passes and bytes")
	p.Text("Fits whose sums are taken by the engine of workers (`kernel/engine/sharded`), all of them in this process. A round is a piece of work that is handed out to all shards; a pass is the whole table, read once. " +
		"Moved is all that is asked and answered: what a network would carry if the shards lay where the workers are. What workers do not do is done by the program that fits, in seconds on the clock. Each of the files is parsed by a worker, and then taken in by the program that fits, by one core. " +
		fmt.Sprintf("*one* is a Gaussian, *near* and *apart* are %d clusters whose means are %g and %g standard deviations from each other in every column.", clusters, apart["near"], apart["apart"]))
	t := engine.Table{Head: []string{"method", "rows", "n", "rounds", "passes", "GB read", "MB moved", "parsing, µs a row", "taking in", "fitting, µs a row", "ns a row and pass", "not by workers, s", "memory, MB", "outcome"}}
	for _, r := range s.reports {
		n := float64(r.n)
		t.Add(r.name, r.rows, engine.Rows(r.n), r.Rounds, three(r.passed()), three(float64(r.ReadBytes)/1e9), three(float64(r.MovedBytes)/1e6), three(r.Parsing/n*1e6), three(r.Taking/n*1e6), three(r.Fitting/n*1e6),
			three(r.byWorkers()/r.passed()*1e9), three(r.Wall-r.Workers), three(r.memory/1e6), r.Outcome)
	}
	p.Table(t)
	if s.schedule.why == "" {
		p.Text(fmt.Sprintf("Prism adds %.2g s to a fit of one Gaussian (`gauze-beam` beside `--runner here`, median of %d pairs, %s rows), %.2g s a round.", s.schedule.seconds, pairs, engine.Rows(s.sizes[0]), s.prism()))
	} else {
		p.Text("What Prism adds was not measured: " + s.schedule.why + ".")
	}
}

// asked are the methods that ended in an answer for which workers were asked, at the most rows that
// each was measured at.
func (s *scaling) asked() (out []measured) {
	for i, r := range s.reports {
		last := i+1 == len(s.reports) || s.reports[i+1].method != r.method
		if last && r.Rounds > 0 && r.Outcome != refused {
			out = append(out, r)
		}
	}
	return out
}

// passed is how often the table was read.
func (r measured) passed() float64 {
	return float64(r.ReadBytes) / float64(r.n*r.width()*number)
}

// byWorkers is what workers do for a row, in processor seconds.
func (r measured) byWorkers() float64 { return r.Fitting * r.Workers / r.Wall / float64(r.n) }

// alone is what the program that fits does besides, in seconds for so many rows: a line through
// the two numbers of rows that a method was measured at, and of one alone nothing that is known.
func (s *scaling) alone(r measured, rows float64) float64 {
	own := r.Wall - r.Workers
	for _, fewer := range s.reports {
		if fewer.method != r.method || fewer.n == r.n {
			continue
		}
		if slope := (own - fewer.Wall + fewer.Workers) / float64(r.n-fewer.n); slope > 0 {
			return own + slope*(rows-float64(r.n))
		}
		return own
	}
	return math.NaN()
}

// prism is what it adds to a round.
func (s *scaling) prism() float64 {
	for _, r := range s.reports {
		if r.name == "gaussian" && r.Rounds > 0 {
			return max(0, s.schedule.seconds/float64(r.Rounds))
		}
	}
	return 0
}

// goals extrapolates.
func (s *scaling) goals(p *engine.Page) {
	p.Heading("A thousand million rows")
	p.Text(fmt.Sprintf("Extrapolated, not measured: costs of a row as above times 10⁹, in time on the clock. A worker is a core of this machine. *Here* has %g of them and no rounds to wait for; "+
		"other workers are given %d s for every round, which is what is asked of a warm Flink. The shards of 10 columns take 80 GB; where they do not stay in memory a pass waits for the disk: this one reads %s MB a second, "+
		"so that a pass takes no less than %s. What workers do not do is a line through what was measured at two numbers of rows; black-box was measured at one, and its learners see a sample of larger tables.",
		cores, flinkBar, three(s.disk/1e6), clock(goal*columns*number/s.disk)))
	all := s.asked()
	if len(all) > 0 {
		r := all[0]
		parsing, taking := goal/float64(r.n)*r.Parsing, goal/float64(r.n)*r.Taking
		p.Text(fmt.Sprintf("Before all of that CSV is read: parsed in %s here, %s by %d workers, %s by %d; and taken into shards by the program that fits in %s, however many workers there are.",
			clock(parsing/cores), clock(parsing/some), some, clock(parsing/many), many, clock(taking)))
	}
	t := engine.Table{Head: []string{"method", "rows", "passes here, from memory", "from this disk", fmt.Sprintf("%d workers", some), fmt.Sprintf("%d workers", many), "not by workers", "TB read", "GB moved"}}
	for _, r := range all {
		scale := goal / float64(r.n)
		memory := goal * r.byWorkers() / cores
		t.Add(r.name, r.rows, clock(memory), clock(max(memory, float64(r.ReadBytes)*scale/s.disk)),
			clock(goal*r.byWorkers()/some+flinkBar*float64(r.Rounds)), clock(goal*r.byWorkers()/many+flinkBar*float64(r.Rounds)),
			clock(s.alone(r, goal)), three(float64(r.ReadBytes)*scale/1e12), three(float64(r.MovedBytes)*scale/1e9))
	}
	p.Table(t)
}

// crossover says where workers elsewhere begin to pay.
func (s *scaling) crossover(p *engine.Page) {
	p.Heading("Where a cluster begins to pay")
	p.Text(fmt.Sprintf("Rows from which the rounds of a fit are over sooner on %d workers than on the %g cores here, if a round costs nothing here and so much there; with all shards in memory. Below it, this machine is the faster one.", some, cores))
	t := engine.Table{Head: []string{"method", "rows", fmt.Sprintf("a round adds %d s", flinkBar), fmt.Sprintf("%.2g s, as Prism here", s.prism())}}
	for _, r := range s.asked() {
		gained := r.byWorkers() * (1/cores - 1./some)
		at := func(round float64) string { return three(round*float64(r.Rounds)/gained/1e6) + " million" }
		t.Add(r.name, r.rows, at(flinkBar), at(s.prism()))
	}
	p.Table(t)
	p.Text("Beside time there is room: one machine needs a disk for 80 bytes a row, and is slower by the ratio of the two columns above once they exceed its memory.")
}

// three writes a number with three digits.
func three(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// clock is seconds as people say them.
func clock(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case math.IsNaN(seconds):
		return "-"
	case seconds < 60:
		return three(seconds) + " s"
	case seconds < 3600:
		return fmt.Sprintf("%.1f min", d.Minutes())
	default:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
}
