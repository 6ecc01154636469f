package pages

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/service"
)

// A field is one field of a form.
type field struct {
	Name, Label, Hint, Value string
	Kind                     string // text, number, area, or select
	Options                  []option
	Faults                   []service.Fault // what is wrong with its value
}

// An option is a choice of a field.
type option struct {
	Value, Label string
	Chosen       bool
}

// choices returns options that are named by their values.
func choices(chosen string, all ...string) (out []option) {
	for _, one := range all {
		out = append(out, option{one, one, one == chosen})
	}
	return out
}

// A form holds fields, and what is wrong with the form as a whole.
type form struct {
	Fields []*field
	Faults []service.Fault
}

// filled returns a form with the values that were sent, and with each fault beside its field: a
// fault belongs to the field that begins its name, as in "schema, columns[0].name".
func filled(sent url.Values, fault *service.Problem, fields ...*field) *form {
	out := &form{Fields: fields}
	for _, f := range fields {
		if f.Kind == "select" {
			if _, ok := sent[f.Name]; !ok {
				continue
			}
			for i := range f.Options {
				f.Options[i].Chosen = f.Options[i].Value == sent.Get(f.Name)
			}
		} else if _, ok := sent[f.Name]; ok {
			f.Value = sent.Get(f.Name)
		}
	}
	if fault == nil {
		return out
	}
	faults := fault.Errors
	if faults == nil && fault.Field != "" {
		faults = []service.Fault{fault.Fault}
	}
	for _, one := range faults {
		name := strings.ReplaceAll(one.Field, "-", "_")
		if i := slices.IndexFunc(fields, func(f *field) bool { return strings.HasPrefix(name, f.Name) }); i >= 0 {
			fields[i].Faults = append(fields[i].Faults, one)
		} else {
			out.Faults = append(out.Faults, one)
		}
	}
	return out
}

// Field returns the field of that name.
func (f *form) Field(name string) *field {
	i := slices.IndexFunc(f.Fields, func(one *field) bool { return one.Name == name })
	if i < 0 {
		return nil
	}
	return f.Fields[i]
}

// A reader reads the values of a form, and collects what is wrong with them.
type reader struct {
	url.Values
	faults []error
}

func (r *reader) wrong(name, wanted, got, fix string) {
	r.faults = append(r.faults, &privacy.FieldError{Field: name, Wanted: wanted, Got: fmt.Sprintf("%.80q", got), Fix: fix})
}

// text returns a value without blanks around it.
func (r *reader) text(name string) string { return strings.TrimSpace(r.Get(name)) }

// number returns a number, 0 for none.
func (r *reader) number(name string) float64 {
	text := r.text(name)
	if text == "" {
		return 0
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		r.wrong(name, "a number", text, "for instance 0.5 or 1e-6")
	}
	return x
}

// count returns a whole number, 0 for none.
func (r *reader) count(name string) int {
	text := strings.NewReplacer(",", "", " ", "", "\u202f", "").Replace(r.text(name))
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		r.wrong(name, "a whole number", text, "for instance 20000")
	}
	return n
}

// err returns all faults, joined; nil for none.
func (r *reader) err() error { return errors.Join(r.faults...) }
