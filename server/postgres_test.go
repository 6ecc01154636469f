package server

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/ledger"
)

// What a database has to be told, and tells, is the same for PostgreSQL: a fit from its submission
// to its release, a cancelled one, a restart, and the lock that keeps a second server out.
func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL server")
	}
	place := pgtest.Start(t, "-c fsync=on") // or the ledger refuses it
	s := opened(t, func(c *Config) {
		c.Database, c.Key, c.Workers = place, filepath.Join(t.TempDir(), "key"), 1
		c.SlotLeast = 2 * time.Second // or the second fit may be over before it is cancelled
	})
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 8, "delta": 1e-5}`)
	ask := `{"dataset": "people", "epsilon": 1, "delta": 1e-8, "components": 1}`
	first := s.wants(202, "lee", "POST", "/fits", ask, "Idempotency-Key", "one")["id"].(string)
	if again := s.wants(202, "lee", "POST", "/fits", ask, "Idempotency-Key", "one"); again["id"] != first {
		t.Errorf("one key, two fits: %v", again)
	}
	waits := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	cancelled := s.wants(200, "lee", "DELETE", "/fits/"+waits, "")
	fits := 1                      // of which the cost stays spent: of the one that waits as well if, on a busy machine, it had begun
	if cancelled["spent"] == nil { // nothing is said to be given back
		t.Logf("the fit that was cancelled had begun: %v", cancelled)
		fits++
	}
	if end := s.ended("lee", first); end["state"] != "released" {
		t.Errorf("%v", end)
	}
	s.wants(200, "lee", "GET", "/releases/"+first, "")
	if list := s.wants(200, "lee", "GET", "/releases", "")["releases"].([]any); len(list) != 1 {
		t.Errorf("%v", list)
	}
	s.held(place)
	s.end()
	s.start()
	if b, err := s.server.store.Balance(t.Context(), "people", "lee"); err != nil || b.Fits != fits || b.Open != 0 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := s.server.store.Ledger().Verify(t.Context(), ledger.Head{}); err != nil {
		t.Error(err)
	}
}
