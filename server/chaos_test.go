package server

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/store"
)

// postgresKills is how often a process of the database is killed.
func postgresKills() int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 20
	}
	return 2
}

// A process of the database that serves the server is killed at any moment, and the database ends
// all of them and recovers; or all of its processes are killed, and it is started again. Every fit
// that was taken is released or has failed with its cost kept, keys stay what they were, and the
// ledger verifies.
func TestKilledPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL server")
	}
	place, crash := pgtest.StartCrashing(t, "-c fsync=on")
	s := opened(t, func(c *Config) {
		c.Database, c.Key, c.Waiting = place, filepath.Join(t.TempDir(), "key"), 1000
	})
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 18, "delta": 1e-4}`)
	ask := `{"dataset": "people", "epsilon": 0.5, "delta": 1e-9, "components": 1}`
	taken, killed, crashed := map[string]string{}, 0, 0
	for i := range postgresKills() {
		for j := range 4 {
			key := fmt.Sprint("key ", i, " ", j)
			switch {
			case j != 2:
			case i%2 == 1:
				crash()
				crashed++
			case s.killBackend(db):
				killed++
			}
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			taken[key] = s.insists(key, ask)
		}
	}
	ends := map[string]int{}
	for key, id := range taken {
		if again := s.insists(key, ask); again != id {
			t.Errorf("%s was %s and is %s", key, id, again)
		}
		state := s.over(id)
		if ends[state]++; state == "failed" {
			_, text := s.send("kim", "GET", "/api/v1/fits/"+id, "")
			t.Logf("%s", text)
		}
	}
	b, err := s.server.store.Balance(t.Context(), "people", "lee")
	if err != nil || b.Fits != len(taken) || b.Open != 0 || b.Releases != ends["released"] {
		t.Errorf("%d fits, %v: %+v, %v", len(taken), ends, b, err)
	}
	if _, err := s.server.store.Ledger().Verify(t.Context(), ledger.Head{}); err != nil {
		t.Error(err)
	}
	s.held(place)
	if killed == 0 || crashed == 0 {
		t.Error("nothing was killed")
	}
	t.Logf("%d kills of a process of the database, %d of all of them at once; %d fits taken, %d in the ledger, which verifies; they ended as %v", killed, crashed, len(taken), b.Fits, ends)
}

// held reports a database that another server can have, for a while: a lock that went with a
// connection is taken again.
func (s *site) held(place string) {
	s.t.Helper()
	other, err := store.Open(s.t.Context(), place, s.config.Key, time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	defer other.Close()
	if err := other.Alone(s.t.Context(), place); err == nil {
		s.t.Error("two servers have one database")
	}
}

// killBackend kills one of the processes that serve the server.
func (s *site) killBackend(db *sql.DB) bool {
	var pid int
	err := db.QueryRowContext(s.t.Context(), "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1").Scan(&pid)
	return err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil
}

// over waits long for a fit's end, and returns its state.
func (s *site) over(id string) (state string) {
	for range 2400 {
		var f struct{ State string }
		if status, text := s.send("lee", "GET", "/api/v1/fits/"+id, ""); status == 200 && json.Unmarshal(text, &f) == nil {
			if state = f.State; state != "queued" && state != "running" {
				return state
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	return state
}

// insists submits a fit until it is taken.
func (s *site) insists(key, ask string) string {
	s.t.Helper()
	for range 600 {
		status, text := s.send("lee", "POST", "/api/v1/fits", ask, "Idempotency-Key", key)
		var f struct{ ID string }
		if status == 202 && json.Unmarshal(text, &f) == nil {
			return f.ID
		}
		if status != 503 && status != 429 {
			s.t.Errorf("a database that is away: %d %s", status, text)
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s is never taken", key)
	return ""
}
