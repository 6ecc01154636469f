package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// asker is the context key for the person who sent a request.
type asker struct{}

// Name records whose request it is, for the log.
func Name(r *http.Request, p store.Person) {
	if name, ok := r.Context().Value(asker{}).(*string); ok {
		*name = p.Name
	}
}

// answered records the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *answered) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *answered) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Logged logs every request: the person, the route, the status and the duration. Nothing of its
// path, its body or its answer is logged, so nothing of a row can be. A panic counts as an answer.
func Logged(next http.Handler, log *slog.Logger, now func() time.Time, seen func(route string, status int, took time.Duration)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, begun := "", now()
		out := &answered{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), asker{}, &name))
		defer func() {
			if recover() != nil { // its value may hold anything
				log.Error("a handler panicked", "route", r.Pattern)
				if out.status == 0 {
					p, _ := service.ProblemOf(errPanic)
					WriteProblem(out, p)
				}
			}
			if out.status == 0 {
				out.status = http.StatusOK
			}
			took := now().Sub(begun)
			log.Info("request", "route", r.Pattern, "who", name, "status", out.status, "ms", took.Milliseconds())
			seen(r.Pattern, out.status, took)
		}()
		next.ServeHTTP(out, r)
	})
}

// errPanic stands for an unexpected error.
var errPanic = http.ErrAbortHandler
