package server

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/server/store"
)

// Analysts who ask at the same time never overspend together, neither the data set's grant nor
// their own; and every fit that was taken is in both accounts.
func TestNobodyOverspends(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(2000), `, "epsilon": 2, "delta": 1e-5`)
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "max", "epsilon": 1, "delta": 1e-5}`)
	var taken, refused [2]atomic.Int64
	parallel.Run(24, func(i int) {
		name := []string{"lee", "max"}[i%2]
		status, text := 429, []byte(nil)
		for status == 429 { // a slow machine is busy
			status, text = s.send(name, "POST", "/api/v1/fits", `{"dataset": "people", "epsilon": 1, "delta": 1e-7, "components": 1}`)
		}
		switch status {
		case 202:
			taken[i%2].Add(1)
		case 409:
			refused[i%2].Add(1)
		default:
			t.Errorf("%s: %d %s", name, status, text)
		}
	})
	all, err := s.server.store.Ledger().Balances(t.Context(), "")
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	fits := map[string]int64{"people": taken[0].Load() + taken[1].Load(), "people/lee": taken[0].Load(), "people/max": taken[1].Load()}
	for _, b := range all {
		if int64(b.Fits) != fits[b.Name] || b.Name == "people" && b.Fits == 0 {
			t.Errorf("%s: %d fits of %d", b.Name, b.Fits, fits[b.Name])
		}
	}
	if refused[0].Load() == 0 || refused[1].Load() == 0 {
		t.Error("nothing was refused: the test shows nothing")
	}
	// which holds every reservation against what had been granted by then
	if _, err := s.server.store.Ledger().Verify(t.Context(), ledger.Head{}); err != nil {
		t.Error(err)
	}
}

// Fits with one key are one fit; a key for another request is refused.
func TestIdempotency(t *testing.T) {
	s := opened(t)
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 8, "delta": 1e-5}`)
	ask := `{"dataset": "people", "epsilon": 1, "delta": 1e-7, "components": 1}`
	var ids [8]string
	parallel.Run(len(ids), func(i int) {
		status, text := 429, []byte(nil)
		for status == 429 {
			status, text = s.send("lee", "POST", "/api/v1/fits", ask, "Idempotency-Key", "one")
		}
		var f struct{ ID string }
		if err := json.Unmarshal(text, &f); err != nil || status != 202 {
			t.Errorf("%d %s", status, text)
		}
		ids[i] = f.ID
	})
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("one key, two fits: %v", ids)
		}
	}
	if other := s.wants(202, "lee", "POST", "/fits", ask, "Idempotency-Key", "two"); other["id"] == ids[0] {
		t.Error("two keys, one fit")
	}
	s.wants(409, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 0.4, "delta": 1e-7}`, "Idempotency-Key", "one")
	if b, err := s.server.store.Balance(t.Context(), "people", "lee"); err != nil || b.Fits != 2 {
		t.Errorf("%v, %v", b, err)
	}
}

// An analyst's fits that wait are bounded, and so is how far ahead all of them are: then 429.
func TestBackpressure(t *testing.T) {
	s := opened(t, func(c *Config) { c.Waiting, c.Workers = 3, 1 })
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 8, "delta": 1e-5}`)
	ask := `{"dataset": "people", "epsilon": 1, "delta": 1e-8, "components": 1}`
	for range 3 {
		s.wants(202, "lee", "POST", "/fits", ask)
	}
	if p := s.wants(429, "lee", "POST", "/fits", ask); p["type"] != "urn:gauze:busy" {
		t.Errorf("%v", p)
	}
	page := s.wants(200, "lee", "GET", "/fits?limit=2", "")
	if fits := page["fits"].([]any); len(fits) != 2 || page["next"] == nil {
		t.Errorf("the first page: %v", page)
	}
	if rest := s.wants(200, "lee", "GET", fmt.Sprintf("/fits?limit=2&before=%v", page["next"]), ""); len(rest["fits"].([]any)) != 1 {
		t.Errorf("the second page: %v", rest)
	}
}

// After a restart every fit is finished, failed with its cost kept, or still waits; and what is
// spent is what all of them that began cost.
func TestRestart(t *testing.T) {
	s := opened(t, func(c *Config) { c.Workers = 1 })
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 8, "delta": 1e-5}`)
	ask := `{"dataset": "people", "epsilon": 1, "delta": 1e-8, "components": 1}`
	first := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	s.ended("lee", first)
	second := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	third := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	s.end()
	// as if it had been killed while the second ran
	s.start()
	s.ended("lee", second)
	s.ended("lee", third)
	fourth := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	s.end()
	st, err := store.Open(t.Context(), s.config.Database, s.config.Key, s.server.now)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := st.Fit(t.Context(), fourth); err != nil {
		t.Fatal(err)
	} else if f.State == store.Queued {
		if err := st.Begin(t.Context(), fourth, s.server.now()); err != nil {
			t.Fatal(err)
		}
		st.Close()
		s.start()
		end := s.ended("lee", fourth)
		if kept := s.wants(200, "kim", "GET", "/fits/"+fourth, ""); end["state"] != "failed" || end["custodian_fault"] != nil || kept["custodian_fault"] == nil {
			t.Errorf("what was cut off: %v, for the custodian %v", end, kept)
		}
	} else {
		st.Close()
		s.start()
	}
	if b, err := s.server.store.Balance(t.Context(), "people", "lee"); err != nil || b.Fits != 4 || b.Open != 0 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := s.server.store.Ledger().Verify(t.Context(), ledger.Head{}); err != nil {
		t.Error(err)
	}
}

// A fit that has not begun costs nothing when it is cancelled; one that has keeps its cost, and
// what it ends in never shows.
func TestCancel(t *testing.T) {
	s := opened(t, func(c *Config) { c.Workers = 1 })
	s.register("people", s.table(2000), "")
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 8, "delta": 1e-5}`)
	ask := `{"dataset": "people", "epsilon": 1, "delta": 1e-8, "components": 1}`
	runs := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	waits := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	never := s.wants(200, "lee", "DELETE", "/fits/"+waits, "")
	if never["state"] != "failed" || never["detail"] == nil {
		t.Errorf("%v", never)
	}
	s.wants(409, "lee", "DELETE", "/fits/"+waits, "")
	if status, text := s.send("lee", "DELETE", "/api/v1/fits/"+runs, ""); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	next := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
	s.ended("lee", next)
	if f := s.wants(200, "lee", "GET", "/fits/"+runs, ""); f["state"] != "failed" || f["release"] != nil {
		t.Errorf("%v", f)
	}
	s.wants(404, "lee", "GET", "/releases/"+runs, "")
	if list := s.wants(200, "lee", "GET", "/releases", "")["releases"].([]any); len(list) != 1 {
		t.Errorf("%v", list)
	}
	b, err := s.server.store.Balance(t.Context(), "people", "lee")
	if err != nil || b.Open != 0 || b.Fits < 1 || b.Fits > 2 {
		t.Errorf("%+v, %v", b, err)
	}
}
