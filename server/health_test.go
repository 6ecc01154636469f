package server

import (
	"fmt"
	"testing"
	"time"
)

// Where the database has no room for one more fit the server is not healthy, although it answers,
// and although a little can still be written.
func TestHealthWithoutRoom(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(3000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 9, "delta": 1e-5}`)
	healthy := func() int {
		status, _ := s.send("", "GET", "/healthz", "")
		return status
	}
	if got := healthy(); got != 200 {
		t.Fatalf("before: %d", got)
	}
	db, _ := s.server.store.Ledger().Database()
	db.SetMaxOpenConns(2) // one stays with the ledger; the other is set to take no page more
	pages := 0
	if err := db.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), fmt.Sprint("PRAGMA max_page_count = ", pages)); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		status, text := s.send("lee", "POST", "/api/v1/fits", `{"dataset": "people", "epsilon": 0.5, "delta": 1e-8, "components": 1}`)
		if status == 500 {
			time.Sleep(healthPause)
			if got := healthy(); got != 503 {
				t.Errorf("with a database that has no room: %d, want 503", got)
			}
			return
		}
		if status != 202 {
			t.Fatalf("%d %s", status, text)
		}
	}
	t.Error("there was room for all fits")
}
