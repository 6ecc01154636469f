package server

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/rows"
	"github.com/gauze-dp/gauze/server/store"
)

// foreignDatabase names, to a child process, a database that it reads and closes.
const foreignDatabase = "GAUZE_TEST_FOREIGN_DATABASE"

// TestForeignChild is what a program does that copies the database: it opens, reads and closes it.
func TestForeignChild(t *testing.T) {
	place := os.Getenv(foreignDatabase)
	if place == "" {
		t.Skip("a child process of other tests")
	}
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", filepath.Join(t.TempDir(), "copy.db"))
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// copied has another process copy the database of the site, as a backup at night does.
func (s *site) copied() {
	s.t.Helper()
	child := exec.CommandContext(s.t.Context(), os.Args[0], "-test.run=^TestForeignChild$")
	child.Env = append(os.Environ(), foreignDatabase+"="+s.config.Database)
	if out, err := child.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// asks has somebody register an input, and returns the answer.
func (s *site) asks(who, name, input string) (int, string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "input": input, "columns": []string{"age"}})
	if err != nil {
		s.t.Fatal(err)
	}
	status, text := s.send(who, "POST", "/api/v1/datasets", string(body))
	return status, string(text)
}

// A custodian has read what lies in their own folder, and nothing else, whatever leads out of it:
// not the database, its key, or another custodian's table. After all that a program that copies the
// database takes nothing from the ledger.
func TestPlaces(t *testing.T) {
	s := opened(t)
	own, foreign, outside := s.in("kim"), s.tableOf("pat", 2000), t.TempDir()
	s.register("people", s.table(2000), "")
	key, err := os.ReadFile(s.config.Key)
	if err != nil {
		t.Fatal(err)
	}
	place := s.config.Database
	links := map[string]func(string, string) error{"link": os.Symlink, "hard": os.Link}
	inputs := []string{place, place + "-wal", place + "-shm", place + ".lock", s.config.Key, s.config.SigningKey, "sqlite:" + place + "?query=select 1 as age", "sqlite:" + place + "?query=select 1 as age from gauze_tokens where hash like 'f%25'",
		"/etc/passwd", "/dev/zero", foreign, "../pat/" + filepath.Base(filepath.Dir(foreign)) + "/people.csv", own, own + "/../../pat/*/people.csv", filepath.Dir(place) + "/gauze*",
		"postgres://localhost/x?table=y", "connection:db?table=people", "connection:", "SQLITE:" + place + "?table=gauze_tokens", "http://localhost/x.csv", outside + "/none.csv", own + "/none.csv", "", "-", "."}
	for kind, link := range links {
		for at, to := range map[string]string{"db": place, "wal": place + "-wal", "key": s.config.Key, "signing": s.config.SigningKey, "lock": place + ".lock", "other": foreign, "x.db-wal": place} {
			name := filepath.Join(own, kind+at)
			if err := link(to, name); err != nil {
				t.Fatal(err)
			}
			if kind == "hard" && (at == "other" || at == "x.db-wal") { // whose folder it is cannot be seen, and it is no input
				continue
			}
			inputs = append(inputs, name, "sqlite:"+name+"?query=select 1 as age")
		}
	}
	if err := os.Symlink(filepath.Dir(place), own+"/folder"); err != nil {
		t.Fatal(err)
	}
	inputs = append(inputs, own+"/folder/gauze.db", own+"/folder/*", own+"/*", "sqlite:"+own+"/hardx.db?query=select 1 as age")
	for i, input := range inputs {
		status, text := s.asks("kim", fmt.Sprint("x", i), input)
		if status != 422 {
			t.Errorf("%s: %d %s", input, status, text)
		}
		if strings.Contains(text, strings.TrimSpace(string(key))) || strings.Contains(text, "root:") || strings.Contains(text, "age,bmi") {
			t.Errorf("%s: the answer quotes a file: %s", input, text)
		}
	}
	s.copied()
	id := s.wants(202, "lee", "POST", "/fits", `{"dataset": "people", "epsilon": 1, "delta": 1e-7, "components": 1}`)["id"].(string)
	if end := s.ended("lee", id); end["state"] != "released" {
		t.Errorf("the fit: %v", end)
	}
	s.copied()
	again, err := store.Open(t.Context(), place, s.config.Key, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := os.Stat(place + "-wal"); err != nil {
		t.Errorf("the log is gone: %v", err)
	}
	if b, err := again.Balance(t.Context(), "people", "lee"); err != nil || b.Releases != 1 {
		t.Errorf("the ledger forgot: %+v, %v", b, err)
	}
	s.held(place)
}

// Paths count from a custodian's folders, shared ones and their own; another has nothing there.
func TestPlacesOfCustodians(t *testing.T) {
	mine := t.TempDir()
	s := opened(t, func(c *Config) { c.Data = append(c.Data, "kim="+mine) })
	text, err := os.ReadFile(s.tableOf("kim", 2000))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{mine + "/a.csv", s.config.Data[0] + "/kim/b.csv", mine + "/a%b.csv"} {
		if err := os.WriteFile(name, append(text, fmt.Sprintf("%d,1\n", i)...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", mine+"/a%b.db")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t AS SELECT 1 AS age"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for i, input := range []string{"a.csv", "b.csv", "./a.csv", mine + "/a.csv", "a*.csv", "a?b.csv", "sqlite:a%25b.db?table=t", "sqlite:" + mine + "/a%25b.db?query=select age from t"} {
		if status, text := s.asks("kim", fmt.Sprint("x", i), input); status != 201 {
			t.Errorf("%s: %d %s", input, status, text)
		}
		if status, text := s.asks("pat", fmt.Sprint("y", i), input); status != 422 {
			t.Errorf("%s, of pat: %d %s", input, status, text)
		}
	}
}

// A configuration is refused that has custodians read the database, its key, or what is another's.
func TestConfiguredPlaces(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"state", "state/data", "keys", "tables/kim", "tables/pat", "apart"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	place, key := at("state/gauze.db"), at("keys/gauze.db.key")
	for _, err := range []error{os.WriteFile(place, nil, 0o600), os.WriteFile(key, nil, 0o600), os.Symlink(at("state"), at("link")), os.WriteFile(at("file"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		data, connections string
		right             bool
	}{
		{"", "", true}, {at("tables"), "", true}, {at("tables") + " kim=" + at("apart"), "", true}, {"kim=" + at("tables/kim") + " " + at("tables"), "", true},
		{folder, "", false}, {at("state"), "", false}, {at("keys"), "", false}, {at("link"), "", false}, {"kim=" + at("keys"), "", false}, {at("none"), "", false}, {at("file"), "", false},
		{at("tables") + " kim=" + at("tables/pat"), "", false}, {"kim=" + at("tables") + " pat=" + at("tables/pat"), "", false}, {"kim=" + at("apart") + " pat=" + at("apart"), "", false},
		{"kim=" + at("tables") + " " + at("tables"), "", false},
		{"", "kim/db=postgres://h/d", true}, {"", "db=postgres://h/d", false}, {"", "kim/db=mysql://h/d", false}, {"", "../db=postgres://h/d", false}, {"", "kim/db=/etc/passwd", false},
	} {
		if _, err := rows.NewPlaces(strings.Fields(c.data), strings.Fields(c.connections), place, key); (err == nil) != c.right {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := rows.NewPlaces([]string{at("apart")}, []string{"kim/db=postgres://me:hunter2@h/d/"}, "postgres://gauze@h/d?sslmode=disable", key); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("tables in the server's own database: %v", err)
	}
}

// An answer to a custodian repeats nothing that an input holds: no header, no cell, nothing that a
// database says.
func TestNothingQuoted(t *testing.T) {
	s := opened(t)
	const canary = "canary"
	folder := s.in("kim")
	files := map[string]string{
		"header.csv": canary + ",b\n1,2\n", "line.csv": canary, "semicolons.csv": canary + ";" + canary + "\n1;2\n", "ragged.csv": "age\n1\ncanary,2\n", "quote.csv": "age\n1\n\"canary\"x\n",
		"text.csv": "age\ncanary\ncanary\n", "twice.csv": canary + "," + canary + "\n1,2\n", "empty.csv": "age,canary\n", "cells.csv": "age\n\"1,canary\"\n<canary\n$5 canary\n", "data.csv": "1,canary\n2,3\n",
		"x.gz": canary, "x.parquet": canary, "bad.db": canary, "pg.csv": "PGDMP" + canary, "long.csv": strings.Repeat(canary, 1<<18), "zero.csv": canary + "\x00\n1\n", "latin.csv": canary + "\xff\n1\n",
	}
	var inputs []string
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, filepath.Join(folder, name))
	}
	place := filepath.Join(folder, "good.db")
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"CREATE TABLE t (canary TEXT, age TEXT)", "INSERT INTO t VALUES ('canary', 'canary')", "CREATE VIEW v AS SELECT age FROM canary", "CREATE TABLE d (age DATE)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	for _, asked := range []string{"table=t", "table=v", "table=d", "query=select json_extract(age, '$') as age from t", "query=select bmi from t", "table=none"} {
		inputs = append(inputs, "sqlite:"+place+"?"+asked)
	}
	inputs = append(inputs, "sqlite:"+filepath.Join(folder, "bad.db")+"?table=t", filepath.Join(folder, "*.csv"))
	for i, input := range inputs {
		for _, more := range []string{`"columns": ["age"]`, `"schema": {"unit": "person", "columns": [{"name": "age"}]}`, `"schema": {"by": [{"name": "sex", "categories": ["f"]}], "columns": [{"name": "age"}]}`} {
			status, text := s.send("kim", "POST", "/api/v1/datasets", fmt.Sprintf(`{"name": "x%d", "input": %q, %s}`, i, input, more))
			if status != 422 || strings.Contains(strings.ReplaceAll(string(text), folder, ""), canary) {
				t.Errorf("%s, %s: %d %s", input, more, status, text)
			}
		}
	}
}

// The same rows are known again when they are registered, and when they are taken as they are now:
// one's own with a warning, another custodian's never, and it is not said whose they are.
func TestSameRows(t *testing.T) {
	s := opened(t)
	path := s.table(2000)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(who, name string, text []byte) string {
		t.Helper()
		file := filepath.Join(s.config.Data[0], who, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	refused := func(status int, text string) {
		t.Helper()
		if status != 422 || !strings.Contains(text, "same rows") || strings.Contains(text, "kim") || strings.Contains(text, "visits") {
			t.Errorf("a second budget for another custodian's rows: %d %s", status, text)
		}
	}
	s.register("visits", path, "")
	refused(s.asks("pat", "mine", put("pat", "copy.csv", old)))
	if status, text := s.asks("kim", "again", put("kim", "copy.csv", old)); status != 201 || !strings.Contains(text, "your data set visits has the same rows") {
		t.Errorf("one's own rows under another name: %d %s", status, text)
	}
	fresh := append([]byte{}, old...)
	fresh = append(fresh, "40,25\n"...)
	if status, text := s.asks("pat", "mine", put("pat", "copy.csv", fresh)); status != 201 || strings.Contains(text, "warning") {
		t.Errorf("other rows: %d %s", status, text)
	}
	put("pat", "copy.csv", old)
	status, text := s.send("pat", "POST", "/api/v1/datasets/mine/accept", "")
	refused(status, string(text))
	// What was fitted is known after it has changed, too.
	s.ended("lee", s.wants(202, "lee", "POST", "/fits", `{"dataset": "visits", "epsilon": 1, "delta": 1e-7, "components": 1}`)["id"].(string))
	for _, name := range []string{path, filepath.Join(s.config.Data[0], "kim", "copy.csv")} {
		if err := appended(name, "41,27\n"); err != nil {
			t.Fatal(err)
		}
	}
	s.wants(200, "kim", "POST", "/datasets/visits/accept", "")
	s.wants(200, "kim", "POST", "/datasets/again/accept", "")
	status, text = s.send("pat", "POST", "/api/v1/datasets/mine/accept", "")
	refused(status, string(text))
}

// Once a table of a database is registered no cell makes a fit fail: one that leaves a column
// without a number, or all rows gone where their number is private, ends in a release or in none.
func TestAnyCells(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a PostgreSQL server")
	}
	place := pgtest.Start(t)
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := opened(t, func(c *Config) { c.Connections = []string{"kim/db=" + place + "?sslmode=disable"}; c.Workers = 3 })
	ids := map[string]string{}
	for _, c := range []struct{ name, relation, change string }{
		{"replaced", "replace-one", "UPDATE replaced SET bmi = NULL"},
		{"private", "add-remove-one", "UPDATE private SET bmi = 'NaN'"},
		{"gone", "add-remove-one", "DELETE FROM gone"},
		{"worded", "replace-one", "ALTER TABLE worded ALTER bmi TYPE text USING '1,5'"},
	} {
		for _, statement := range []string{"CREATE TABLE " + c.name + " (age float8, bmi float8)", "INSERT INTO " + c.name + " SELECT 40 + i % 17, CASE WHEN i = 1 THEN 25 END FROM generate_series(1, 2000) i"} {
			if _, err := db.ExecContext(context.Background(), statement); err != nil {
				t.Fatal(err)
			}
		}
		s.register(c.name, "connection:db?table="+c.name, fmt.Sprintf(`, "relation": %q`, c.relation))
		if _, err := db.ExecContext(context.Background(), c.change); err != nil {
			t.Fatal(err)
		}
		ids[c.name] = s.wants(202, "lee", "POST", "/fits", fmt.Sprintf(`{"dataset": %q, "epsilon": 1, "delta": 1e-7, "components": 1}`, c.name))["id"].(string)
	}
	for name, id := range ids {
		if end := s.ended("lee", id); end["state"] != "no-release" && end["state"] != "released" {
			t.Errorf("%s: %v; the custodian is told %v", name, end, s.wants(200, "kim", "GET", "/fits/"+id, "")["custodian_fault"])
		}
	}
	for _, input := range []string{"connection:db?table=replaced&host=192.0.2.1", "connection:db?table=replaced&passfile=/etc/passwd", "connection:other?table=replaced", "connection:db", place + "?table=replaced"} {
		if status, text := s.asks("kim", "x", input); status != 422 || strings.Contains(text, pgtest.Password) {
			t.Errorf("%s: %d %s", input, status, text)
		}
	}
	if status, text := s.asks("pat", "x", "connection:db?table=replaced"); status != 422 {
		t.Errorf("of pat: %d %s", status, text)
	}
	if _, err := s.server.store.Ledger().Verify(t.Context(), ledger.Head{}); err != nil {
		t.Error(err)
	}
}

// Cells that cannot be read are told the custodian who registers a table, by their number alone,
// and the schema says how they are written or that they are missing.
func TestUnreadable(t *testing.T) {
	s := opened(t)
	path := filepath.Join(s.in("kim"), "costs.csv")
	text := "age,cost\n" + strings.Repeat("40,500\n50,\"1,542.01\"\n", 1000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	register := func(name, more string) (int, string) {
		status, answer := s.send("kim", "POST", "/api/v1/datasets", fmt.Sprintf(`{"name": %q, "input": %q, "schema": {"columns": [{"name": "age", "missing": [999, "n/a"]}, {"name": "cost"}]%s}}`, name, path, more))
		return status, string(answer)
	}
	if status, answer := register("costs", ""); status != 422 || !strings.Contains(answer, `1,000 cells`) || strings.Contains(answer, "9,999") || strings.Contains(answer, "1,542") {
		t.Errorf("%d %s", status, answer)
	}
	for name, more := range map[string]string{"read": `, "csv": "thousands=,"`, "missing": `, "unreadable": "missing"`} {
		if status, answer := register(name, more); status != 201 || strings.Contains(answer, "1,000 not a number") != (name == "missing") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		s.wants(201, "kim", "POST", "/datasets/"+name+"/grants", `{"analyst": "lee", "epsilon": 2, "delta": 1e-5}`)
		id := s.wants(202, "lee", "POST", "/fits", fmt.Sprintf(`{"dataset": %q, "epsilon": 1, "delta": 1e-7, "components": 1}`, name))["id"].(string)
		if end := s.ended("lee", id); end["state"] != "no-release" && end["state"] != "released" {
			t.Errorf("%s: %v; the custodian is told %v", name, end, s.wants(200, "kim", "GET", "/fits/"+id, "")["custodian_fault"])
		}
	}
}
