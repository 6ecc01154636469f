package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// A Problem describes a request that was not done (RFC 9457), with what was wanted, what was got
// and how to fix it. It never says anything of a row.
type Problem struct {
	Type   string `json:"type"` // a word of this server; about:blank if the status says all
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Fault
	Errors []Fault `json:"errors,omitempty"` // all of them, if there are several
	// RetryAfter is when to try again, 0 if that does not help.
	RetryAfter time.Duration `json:"-"`
}

// A Fault is one thing that is wrong.
type Fault struct {
	Field  string `json:"field,omitempty"`
	Wanted string `json:"wanted,omitempty"`
	Got    string `json:"got,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Error returns one line.
func (p *Problem) Error() string {
	text := p.Title
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.Field != "" {
		text += fmt.Sprintf(": %s: wanted %s, got %s", p.Field, p.Wanted, p.Got)
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

func problem(status int, kind, detail, hint string) *Problem {
	return &Problem{Type: "urn:gauze:" + kind, Title: http.StatusText(status), Status: status, Detail: detail, Fault: Fault{Hint: hint}}
}

// Missing returns the problem of everything that does not exist, or that the person may not see:
// which of the two is not said.
func Missing(what string) *Problem {
	return problem(http.StatusNotFound, "not-found", "there is no such "+what+", or it is not for you", "check the name")
}

// Forbidden returns the problem of a person with the wrong role.
func Forbidden(wanted store.Role) *Problem {
	return problem(http.StatusForbidden, "forbidden", fmt.Sprintf("this is for a person of the role %s", wanted), "ask one, or use a token of that role")
}

// Busy returns the problem of an overloaded server.
func Busy(detail string, wait time.Duration) *Problem {
	p := problem(http.StatusTooManyRequests, "busy", detail, "wait as long as Retry-After says")
	p.RetryAfter = max(wait, time.Second)
	return p
}

// wrong returns the problem of a request that was understood but has a fault.
func wrong(field, wanted, got, hint string) *Problem {
	p := problem(http.StatusUnprocessableEntity, "request", "", hint)
	p.Fault = Fault{field, wanted, fmt.Sprintf("%.80q", got), hint}
	return p
}

// ProblemOf returns the problem of an error. For an unexpected error the problem says only that it
// happened, and known is false, so that it is logged.
func ProblemOf(err error) (*Problem, bool) {
	var (
		p       *Problem
		refused *ledger.RefusedError
		large   *http.MaxBytesError
	)
	switch {
	case errors.As(err, &p):
		return p, true
	case errors.Is(err, auth.ErrDenied):
		return problem(http.StatusUnauthorized, "token", "wanted a token that is known, has not expired and was not revoked", "send Authorization: Bearer TOKEN; a custodian's gauze serve token add makes one"), true
	case errors.Is(err, auth.ErrMany):
		return Busy("this token was tried too often with a wrong secret", time.Second), true
	case errors.Is(err, store.ErrNotFound):
		return Missing("thing"), true
	case errors.As(err, &refused):
		return refusedFit(refused), true
	case errors.As(err, &large):
		return problem(http.StatusRequestEntityTooLarge, "size", fmt.Sprintf("wanted at most %d bytes", large.Limit), "send less"), true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusServiceUnavailable, "cut", "the request was cut off", "try again"), true
	}
	if store.Away(err) {
		p := problem(http.StatusServiceUnavailable, "database", "the database does not answer", "try again, a fit with the Idempotency-Key that it had")
		p.RetryAfter = time.Second
		return p, false
	}
	if faults := faultsOf(err); faults != nil {
		out := problem(http.StatusUnprocessableEntity, "request", "", "")
		if out.Fault = faults[0]; len(faults) > 1 {
			out.Errors = faults
		}
		return out, true
	}
	return problem(http.StatusInternalServerError, "internal", "internal error", "try again; if it stays, ask who runs the server"), false
}

// refusedFit returns the problem for an analyst whose fit was refused, with what can be requested.
func refusedFit(refused *ledger.RefusedError) *Problem {
	detail := "the data set's budget has not enough left, which is for all its analysts together"
	if strings.Contains(refused.Dataset, "/") {
		detail = "your budget has not enough left: " + refused.Why
	}
	hint := "nothing was spent; ask the custodian for a larger grant"
	if may := refused.May(); may != "" {
		hint = "nothing was spent" + may + "; or ask the custodian for a larger grant"
	}
	return problem(http.StatusConflict, "budget", detail, hint)
}

// Malformed returns the problem of a body that cannot be read as the wanted value.
func Malformed(err error) error {
	var (
		large *http.MaxBytesError
		kind  *json.UnmarshalTypeError
		field *privacy.FieldError
	)
	p := problem(http.StatusBadRequest, "body", "the body is not the JSON that was wanted", "openapi.json says what is")
	switch {
	case errors.As(err, &large), errors.As(err, &field):
		return err
	case errors.As(err, &kind):
		p.Field, p.Wanted, p.Got = kind.Field, "a value of another kind", kind.Value
	case errors.Is(err, io.EOF):
		p.Field, p.Wanted, p.Got = "body", "a JSON object", "nothing"
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		p.Field, p.Wanted, p.Got = strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`), "a field that there is", "an unknown one"
	}
	return p
}

// faultsOf splits joined errors into faults; nil if one of them is unexpected.
func faultsOf(err error) []Fault {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []Fault
		for _, e := range joined.Unwrap() {
			one := faultsOf(e)
			if one == nil {
				return nil
			}
			all = append(all, one...)
		}
		return all
	}
	var (
		field   *privacy.FieldError
		input   *source.Error
		refusal *estimate.Refusal
		unknown *catalog.UnknownError
	)
	switch {
	case errors.As(err, &field):
		return []Fault{{field.Field, field.Wanted, field.Got, field.Fix}}
	case errors.As(err, &input):
		return []Fault{{input.Field, input.Wanted, input.Got, input.Hint}}
	case errors.As(err, &refusal):
		return []Fault{{"request", "a fit that public facts let end in a release", refusal.Reason, refusal.Advice}}
	case errors.As(err, &unknown):
		return []Fault{{"method", "one of " + strings.Join(unknown.Names, ", "), fmt.Sprintf("%.80q", unknown.Name), "auto is the default"}}
	}
	return nil
}
