package model

import "fmt"

// FieldError says what is wrong with one field of a model, and how to fix it.
type FieldError struct {
	Field  string // path in the model object, for example "weights[2]"
	Wanted string
	Got    string
	Fix    string // what to change; may be empty
}

// Error returns "field: wanted .., got ..; fix".
func (e *FieldError) Error() string {
	s := fmt.Sprintf("%s: wanted %s, got %s", e.Field, e.Wanted, e.Got)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

func fieldError(field, wanted string, got any, fix string) error {
	return &FieldError{Field: field, Wanted: wanted, Got: fmt.Sprint(got), Fix: fix}
}
