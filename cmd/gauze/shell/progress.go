package shell

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/internal/words"
)

// How often a line is renewed on a terminal, and how long a quiet run lasts before it says anything
// elsewhere.
const (
	terminalPause = 100 * time.Millisecond
	quietPause    = 10 * time.Second
)

// A Progress tells the custodian how far a fit is: rows read, then measurements made and the part
// of the budget spent. None of it depends on a row, except for the number of rows read.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	pause time.Duration // between two lines
	last  time.Time
	wrote bool // an unfinished line stands on the terminal
	plain bool // a line for each step, once it is over

	over, json bool // renew one line in place; every line is an object, for a program

	name  string    // of the step that is being measured
	count int       // of its measurements
	spent float64   // part of the budget
	began time.Time // the first measurement was made
}

// NewProgress returns nil for a kind other than auto, plain and none; auto says nothing to a
// program, and plain says each line in an object, with the part of the budget that was spent by
// then.
func NewProgress(w io.Writer, kind string, program bool) *Progress {
	p := &Progress{w: w, json: program, last: time.Now()}
	switch kind {
	case "auto":
		p.pause = quietPause
		if IsTerminal(w) {
			p.pause, p.over = terminalPause, true
		}
		if program {
			p.w = nil
		}
	case "plain":
		p.plain = true
	case "none":
		p.w = nil
	default:
		return nil
	}
	return p
}

// Read tells how many rows have been read, and about which part of the input that is; 0 for an
// unknown one.
func (p *Progress) Read(rows int, part float64) {
	const plainStep = 1 << 20 // rows between two plain lines
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plain && rows%plainStep != 0 {
		return
	}
	of := ""
	if part > 0 {
		of = fmt.Sprintf(", %.0f %% of the file", 100*part)
	}
	p.line("%s rows read%s", words.Digits(rows), of)
}

// Step tells that a measurement was made.
func (p *Progress) Step(step string, spent float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step != p.name {
		p.endStep()
	}
	if p.name, p.spent = step, spent; p.began.IsZero() {
		p.began = time.Now()
	}
	if p.count++; !p.plain {
		p.line("%5.1f%% of the budget spent%s: %s", 100*spent, p.left(), step)
	}
}

// left returns about how long a fit will still take, if the rest of the budget takes in proportion;
// nothing in its first seconds.
func (p *Progress) left() string {
	const early = 3 * time.Second
	since := time.Since(p.began)
	if since < early || p.spent <= 0 || p.spent >= 1 {
		return ""
	}
	return ", about " + time.Duration(float64(since)*(1-p.spent)/p.spent).Round(time.Second).String() + " left"
}

// endStep writes the line of a step that is over.
func (p *Progress) endStep() {
	if p.plain && p.count > 0 {
		p.line("step %s: %s, %.1f%% of the budget spent", p.name, words.Plural(p.count, "measurement"), 100*p.spent)
	}
	p.count = 0
}

// line writes a line unless the last one is too fresh.
func (p *Progress) line(format string, args ...any) {
	if p.w == nil || time.Since(p.last) < p.pause {
		return
	}
	p.last = time.Now()
	text := fmt.Sprintf(format, args...)
	if p.json {
		text = fmt.Sprintf(`{"progress": %q, "spent": %g}`, text, p.spent)
	}
	if p.over {
		const eraseLine = "\r\x1b[K"
		fmt.Fprint(p.w, eraseLine+text)
		p.wrote = true
		return
	}
	fmt.Fprintln(p.w, text)
}

// End says what is left to say, and takes an unfinished line off the terminal.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endStep()
	if p.wrote {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.wrote = false
	}
}

// IsTerminal reports a character device other than the null device.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
