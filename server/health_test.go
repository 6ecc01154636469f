package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/ledger"
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
	defer func() { // or what fits ended in is never kept, and workers do not end
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), "PRAGMA max_page_count = 1000000"); err != nil {
			t.Error(err)
		}
	}()
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

// A server whose database was moved away ends by itself, soon, although a fit runs whose end it
// cannot keep, and says why.
func TestServerWithoutItsDatabase(t *testing.T) {
	s := opened(t, func(c *Config) { c.Grace = time.Second })
	s.register("people", s.table(3000), "")
	s.end()
	s.end = func() {}
	server, err := New(t.Context(), s.config, time.Now, slog.New(slog.NewJSONHandler(s.logged, nil)))
	if err != nil {
		t.Fatal(err)
	}
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), func(a string) { address <- a }) }()
	s.web.URL = "http://" + <-address
	s.wants(202, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 0.5, "delta": 1e-8, "components": 1}`)
	time.Sleep(s.config.SlotLeast / 4) // it runs
	if err := os.Rename(s.config.Database, s.config.Database+".moved"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ledger.ErrReplaced) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it serves on without its database")
	}
}
