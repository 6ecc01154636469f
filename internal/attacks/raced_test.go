//go:build !race

package attacks_test

import (
	"context"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPlansChangedMeanwhile: a caller that changes its plan while a session is opened gets an error
// or a session that runs what was paid for. (A race, on purpose.)
func TestPlansChangedMeanwhile(t *testing.T) {
	table := protected(5, privacy.ReplaceOne)
	steps := []kernel.Step{{Name: "count", Query: "count", Share: 1, Most: 1}, {Name: "keys", Query: "stability histogram", Share: 1, Most: 1}}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				steps[0].Share, steps[1].Slack = 7, 40
				steps[0].Share, steps[1].Slack = 1, 0
			}
		}
	}()
	opened := 0
	for range 3000 {
		s, err := kernel.Open(context.Background(), table, kernel.Plan{Method: "m", Steps: steps}, kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}})
		if err != nil {
			continue
		}
		opened++
		if p := s.Plan(); p.Validate() != nil || p.Thresholds() {
			t.Fatalf("a session runs %+v", p)
		}
	}
	close(stop)
	<-stopped
	if opened == 0 {
		t.Error("no session was opened: the test says nothing")
	}
}
