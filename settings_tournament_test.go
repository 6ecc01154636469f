package gauze

import (
	"errors"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestTournamentIsAsked: the setting names the choice by contests, methods without listed mixtures
// refuse it for free, and a method that lists them plans it.
func TestTournamentIsAsked(t *testing.T) {
	for method, want := range map[string]bool{"univariate:aal21": true, "general": false, "": false} {
		r, err := Settings{Epsilon: 10, Delta: 1e-6, Method: method, Components: 2, Constants: "tournament"}.Request()
		if err != nil || !r.Tournament || r.Printed {
			t.Fatalf("%+v, %v", r, err)
		}
		r.Columns = Named("x")
		s, err := Plan(r, 4000)
		var fault *privacy.FieldError
		if want != (err == nil) || err != nil && (!errors.As(err, &fault) || fault.Field != "constants") {
			t.Errorf("%q: %v", method, err)
		}
		if err != nil {
			continue
		}
		asked := false
		for _, step := range s.Steps {
			asked = asked || step.Query == "select: tournament"
		}
		if asked != want {
			t.Errorf("%q: %+v", method, s.Steps)
		}
	}
}
