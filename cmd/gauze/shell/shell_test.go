package shell

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// A panic that nothing else has caught says what was spent by then, and not what it was about.
func TestPanicsAreTold(t *testing.T) {
	for _, spent := range []release.Spent{{}, {Epsilon: 1, Delta: 1e-6, Mu: .25, Rho: .03}} {
		var stderr bytes.Buffer
		e := &Env{Ctx: t.Context(), Stderr: &stderr, Spent: spent}
		boom := Command{Use: "boom", Run: func(*Env, []string) error { panic("73519") }}
		p := &Program{Name: "p", Help: embed.FS{}, Commands: []Command{boom}}
		f := failureOf(p.Execute(e, []string{"boom"}))
		f.print(&stderr, true)
		if f.Code != CodeOther || f.Message != "internal error" || f.Spent != spent || strings.Contains(stderr.String(), "73519") {
			t.Errorf("got %+v, %s", f, stderr.String())
		}
	}
}

// Programs keep what is said to be public: no error that a row had a part in may be, nor one that
// nobody has thought of.
func TestPublicErrors(t *testing.T) {
	usage, ofRows := Wrong("--epsilon", "a number", "nothing", "give one"), &source.Error{Field: "line 5003", Wanted: "2 cells", Got: "3"}
	for want, all := range map[bool][]error{
		true: {
			usage, &UsageError{"no such flag", ""}, &release.Error{}, &estimate.Refusal{}, &ledger.RefusedError{}, context.Canceled,
			errors.Join(usage, usage), fmt.Errorf("fit: %w", usage), &NoRelease{Why: &estimate.NoRelease{}}, Declared(ofRows),
			&gauze.RunError{Err: context.Canceled}, Declared(errors.Join(usage, ofRows)), errors.Join(Declared(ofRows), usage),
		},
		false: {
			ofRows, errors.Join(usage, ofRows), fmt.Errorf("reading: %w", ofRows), io.ErrUnexpectedEOF, &gauze.RunError{Err: ofRows}, &gauze.RunError{Err: usage},
			errInternal, errors.Join(Declared(ofRows), ofRows), errors.Join(usage, io.ErrShortWrite),
			fmt.Errorf("reading: %w", errors.Join(usage, io.ErrShortWrite)),
		},
	} {
		for i, err := range all {
			var stderr bytes.Buffer
			failureOf(err).print(&stderr, true)
			var said struct{ Public bool }
			if fault := json.Unmarshal(stderr.Bytes(), &said); fault != nil || said.Public != want {
				t.Errorf("error %d, %v: public = %v, %v", i, err, said.Public, fault)
			}
		}
	}
	if Declared(nil) != nil {
		t.Error("no error is one")
	}
	if f := failureOf(Declared(errors.Join(usage, ofRows))); len(f.Faults) != 2 || f.Faults[1].Field != "line 5003" || f.Code != CodeBad {
		t.Errorf("%+v", f)
	}
}

// What was spent of a budget in rho is said in rho, and as the epsilon that it implies.
func TestSpentText(t *testing.T) {
	for want, spent := range map[string]release.Spent{
		"rho = 0.05 (mu = 0.316), which implies epsilon = 1.472 at delta = 1e-06": {Mu: .316, Rho: .05},
		"epsilon = 1 at delta = 1e-06 (mu = 0.25)":                                {Epsilon: 1, Delta: 1e-6, Mu: .25, Rho: .03},
		"epsilon = 2 at delta = 0: pure":                                          {Epsilon: 2, Mu: 1},
		"nothing":                                                                 {},
	} {
		if got := SpentText(spent); got != want {
			t.Errorf("%+v: %q, want %q", spent, got, want)
		}
	}
}
