package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// Exit codes.
const (
	CodeOK        = 0
	CodeOther     = 1 // I/O while running, interrupted
	CodeBad       = 2 // bad usage or bad input; nothing spent
	CodeNoRelease = 3 // spent
	CodeRefused   = 4 // by the ledger; nothing spent
)

// A UsageError is bad usage that a command found itself and that is of no one field.
type UsageError struct{ Message, Hint string }

// Wrong returns the error for wrong usage of a field.
func Wrong(field, wanted string, got any, hint string) error {
	return &privacy.FieldError{Field: field, Wanted: wanted, Got: fmt.Sprint(got), Fix: hint}
}

// Error returns the message and the hint.
func (e *UsageError) Error() string { return e.Message + "; " + e.Hint }

// Ended is the exit code of another program, which has said why.
type Ended int

// Error names the code.
func (e Ended) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// A NoRelease is the outcome of a fit that ends without a model.
type NoRelease struct {
	Why   *estimate.NoRelease
	Spent release.Spent
}

// Error returns the reason.
func (e *NoRelease) Error() string { return "no release: " + e.Why.Reason }

// A CountedError is a fit that ended by a fault after it had begun to measure, and that a ledger
// counts: Run says as spent what the ledger does.
type CountedError struct{ Run *gauze.RunError }

// Error returns the text of the fit's error.
func (e *CountedError) Error() string { return e.Run.Error() }

// Unwrap returns Run.
func (e *CountedError) Unwrap() error { return e.Run }

// An outcome is what --json prints on stderr.
type outcome struct {
	Outcome string        `json:"outcome"` // "released", "no-release", "refused" or "error"
	Code    int           `json:"code"`    // the exit code
	Message string        `json:"message"`
	Hint    string        `json:"hint,omitempty"`
	Spent   release.Spent `json:"spent"`
	// The most that one more fit may ask for, if the ledger refused this one and something is left.
	Remaining *ledger.Amount `json:"remaining,omitempty"`
	// No row had a part in message, hint and faults. Where it is left out they are for the
	// custodian's terminal alone, and a program that keeps them gives something away.
	Public bool `json:"public,omitempty"`
	// messages for the terminal, such as an inferred schema; never public
	Notes []string `json:"notes,omitempty"`
	// all that message and hint name, apart
	Faults []fault `json:"faults,omitempty"`
}

// A fault is one thing that is wrong and how to fix it; field, wanted and got are those of the
// message, where it is of one field.
type fault struct {
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Wanted  string `json:"wanted,omitempty"`
	Got     string `json:"got,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

func failureOf(err error) outcome {
	var none *NoRelease
	if errors.As(err, &none) {
		return outcome{Outcome: "no-release", Code: CodeNoRelease, Message: none.Why.Reason, Hint: none.Why.Advice, Spent: none.Spent, Public: true}
	}
	f := outcome{Outcome: "error", Code: CodeOther, Public: public(err)}
	var (
		run     *gauze.RunError
		refused *ledger.RefusedError
	)
	switch {
	case errors.As(err, &run):
		f.Spent = run.Spent
		hint := "what was measured by then stays spent"
		if errors.As(err, new(*CountedError)) {
			hint = "all that was reserved in the ledger stays spent"
		}
		f.Faults = []fault{{Message: trimPackage(err.Error()), Hint: hint}}
	case errors.Is(err, context.Canceled):
		f.Faults = []fault{{Message: "interrupted", Hint: "nothing was spent"}}
	case errors.As(err, &refused):
		f.Outcome, f.Code, f.Faults = "refused", CodeRefused, []fault{{Message: trimPackage(err.Error()), Hint: ledgerHint}}
		if refused.Hint != "" {
			f.Faults[0].Hint = refused.Hint
		}
		if refused.Left.Epsilon > 0 {
			f.Remaining = &refused.Left
		}
	default:
		f.Faults = faultsOf(err)
		if _, bad := mendOf(err); bad {
			f.Code = CodeBad
		}
	}
	if run != nil && errors.Is(err, context.Canceled) {
		f.Faults[0].Message = "interrupted"
	}
	var messages, hints []string
	for i := range f.Faults {
		x := &f.Faults[i]
		for _, text := range []*string{&x.Message, &x.Field, &x.Wanted, &x.Got, &x.Hint} {
			*text = password.ReplaceAllString(*text, "$1:***@")
		}
		messages = append(messages, x.Message)
		if x.Hint != "" {
			hints = append(hints, x.Hint)
		}
	}
	f.Message, f.Hint = strings.Join(messages, "; "), strings.Join(hints, "; ")
	return f
}

// password matches a password in the URL of a server: messages repeat a mistyped command without
// it.
var password = regexp.MustCompile(`(?i)(postgres(?:ql)?://[^\s:/@]*):\S*@`)

// ledgerHint says what can be done about an empty account.
const ledgerHint = "nothing was spent; gauze ledger show says what one more fit may ask for, and gauze ledger grant adds to the budget"

// print writes the failure as lines for a person, or as one JSON object for a program.
func (o outcome) print(w io.Writer, asJSON bool) {
	if asJSON {
		o.printJSON(w)
		return
	}
	if o.Outcome == "no-release" {
		fmt.Fprintf(w, "no release: %s\nhint: %s\nspent: %s\n", o.Message, o.Hint, SpentText(o.Spent))
		return
	}
	for _, x := range o.Faults {
		fmt.Fprintf(w, "error: %s\n", x.Message)
		if x.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", x.Hint)
		}
	}
	if o.Spent != (release.Spent{}) {
		fmt.Fprintf(w, "spent: %s\n", SpentText(o.Spent))
	}
}

// Released says what was released, and what it cost.
func (e *Env) Released(message string, spent release.Spent) {
	if e.JSON {
		outcome{Outcome: "released", Code: CodeOK, Message: message, Spent: spent, Public: true, Notes: e.notes}.printJSON(e.Stderr)
		return
	}
	e.Note("released: %s\nspent: %s\n", message, SpentText(spent))
}

func (o outcome) printJSON(w io.Writer) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(o); err != nil { // no field can fail, unless a figure is not finite
		fmt.Fprintf(w, "{\"outcome\": \"error\", \"code\": %d, \"message\": %q}\n", o.Code, o.Message)
	}
}

// SpentText returns a cost in words: in mu, and in epsilon at delta if the budget was given so.
// Without rho there is a curve beside mu.
func SpentText(s release.Spent) string {
	if s.Delta == 0 && s.Epsilon > 0 {
		return fmt.Sprintf("epsilon = %.6g at delta = 0: pure", s.Epsilon)
	}
	if s.Delta > 0 && s.Rho == 0 && s.Mu > 0 {
		return fmt.Sprintf("epsilon = %.6g at delta = %.6g (Gaussian part mu = %.6g, and a mask)", s.Epsilon, s.Delta, s.Mu)
	}
	if s.Delta > 0 && s.Mu == 0 {
		return fmt.Sprintf("epsilon = %.6g at delta = %.6g", s.Epsilon, s.Delta)
	}
	if s.Delta > 0 {
		return fmt.Sprintf("epsilon = %.6g at delta = %.6g (mu = %.6g)", s.Epsilon, s.Delta, s.Mu)
	}
	if s.Rho == 0 {
		return "nothing"
	}
	epsilon, delta := release.Implied(s.Rho)
	return fmt.Sprintf("rho = %.6g (mu = %.6g), which implies epsilon = %.4g at delta = %.6g", s.Rho, s.Mu, epsilon, delta)
}

// A declaredError is a mistake in a schema or in flags, which no row had a part in.
type declaredError struct{ error }

func (e declaredError) Unwrap() error { return e.error }

// Declared returns err, which no row had a part in because none has been read, marked as public.
func Declared(err error) error {
	if err == nil {
		return nil
	}
	return declaredError{err}
}

// public reports whether no row had a part in an error. Every error counts as private unless it is
// of a type that is made from flags, public facts and releases alone, or marked by Declared.
func public(err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	switch e := err.(type) {
	case declaredError:
		return true
	case *source.Error, *gauze.RunError:
		return false
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(one error) bool { return !public(one) })
	case interface{ Unwrap() error }:
		return public(e.Unwrap())
	}
	_, bad := mendOf(err)
	return bad || errors.As(err, new(*ledger.RefusedError))
}

// faultsOf takes joined errors apart and parts each message from its hint.
func faultsOf(err error) []fault {
	if marked, ok := err.(declaredError); ok {
		err = marked.error
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []fault
		for _, e := range joined.Unwrap() {
			all = append(all, faultsOf(e)...)
		}
		return all
	}
	f, _ := mendOf(err)
	f.Message = err.Error()
	if flag := flagOf(f.Field); flag != f.Field {
		f.Message = strings.Replace(f.Message, f.Field+": ", flag+": ", 1)
	}
	var refusal *estimate.Refusal
	if errors.As(err, &refusal) {
		f.Message = refusal.Reason
	}
	f.Message = trimPackage(strings.TrimSuffix(f.Message, "; "+f.Hint))
	return []fault{f}
}

// Setting returns what a flag of a fit is called among the settings of a request.
func Setting(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// fieldOf returns what a fault of a flag has as its field: the setting, or else the flag with its
// dashes.
func fieldOf(flag string) string {
	if s := Setting(flag); flagOf(s) != s {
		return s
	}
	return "--" + flag
}

// flagOf returns the flag of a setting, with its dashes; of another field that field.
func flagOf(field string) string {
	if field != "dataset" && field != "title" && slices.Contains(gauze.SettingNames(), field) || field == "known_covariance" {
		return "--" + strings.ReplaceAll(field, "_", "-")
	}
	return field
}

// trimPackage takes the name of the library's package off a message: it tells a person at a
// terminal nothing.
func trimPackage(message string) string {
	for _, name := range []string{"gauze: ", "source: ", "release: ", "kernel: ", "ledger: "} {
		message = strings.TrimPrefix(message, name)
		message = strings.Replace(message, ": "+name, ": ", 1) // behind the name of a file
	}
	return message
}

// mendOf returns how to fix err and its parts, where these are known, and whether it is bad usage
// or bad input, as opposed to a failure while running.
func mendOf(err error) (f fault, bad bool) {
	var (
		usage   *UsageError
		field   *privacy.FieldError
		input   *source.Error
		file    *release.Error
		part    *model.FieldError
		refusal *estimate.Refusal
		unknown *catalog.UnknownError
	)
	switch {
	case errors.As(err, &usage):
		return fault{Hint: usage.Hint}, true
	case errors.As(err, &field):
		return fault{"", field.Field, field.Wanted, field.Got, field.Fix}, true
	case errors.As(err, &input):
		return fault{"", input.Field, input.Wanted, input.Got, input.Hint}, true
	case errors.As(err, &file):
		return fault{"", file.Field, file.Wanted, file.Got, file.Hint}, true
	case errors.As(err, &part):
		return fault{"", part.Field, part.Wanted, part.Got, part.Fix}, true
	case errors.As(err, &refusal):
		return fault{Hint: refusal.Advice}, true
	case errors.As(err, &unknown):
		if name := Nearest(unknown.Name, unknown.Names); name != "" {
			return fault{Hint: "did you mean " + name + "?"}, true
		}
		return fault{Hint: "gauze papers lists the methods"}, true
	}
	return f, false
}

// flagError words the faults of flags.
func flagError(cmd *cobra.Command, err error) error {
	var (
		lost  *pflag.NotExistError
		value *pflag.InvalidValueError
		empty *pflag.ValueRequiredError
	)
	help := cmd.CommandPath() + " --help lists the flags"
	switch {
	case errors.As(err, &lost):
		name := lost.GetSpecifiedName()
		if near := Nearest(name, flagNames(cmd)); near != "" {
			help = "did you mean --" + near + "?"
		}
		if lost.GetSpecifiedShortnames() != "" {
			name, help = lost.GetSpecifiedShortnames(), "flags are words with two dashes; "+cmd.CommandPath()+" --help lists them"
			return &UsageError{Message: fmt.Sprintf("unknown flag -%s", name), Hint: help}
		}
		return &UsageError{Message: fmt.Sprintf("unknown flag --%s", name), Hint: help}
	case errors.As(err, &value):
		f, text := value.GetFlag(), value.GetValue()
		if point := strings.Replace(text, ",", ".", 1); f.Value.Type() == "float64" && point != text {
			if _, err := strconv.ParseFloat(point, 64); err == nil {
				help = "write " + point
			}
		}
		return Wrong(fieldOf(f.Name), kindOf(f), fmt.Sprintf("%q", text), help)
	case errors.As(err, &empty):
		f := empty.GetFlag()
		return Wrong(fieldOf(f.Name), kindOf(f), "nothing", help)
	}
	return &UsageError{Message: err.Error(), Hint: help}
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// kindOf says what values a flag takes.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "float64":
		return "a number"
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number that is not negative"
	case "bool":
		return "true or false"
	case "count":
		return "a positive number or auto"
	}
	return "a value"
}

// Message returns the text of an error for a terminal, without its hint.
func Message(err error) string { return failureOf(err).Message }
