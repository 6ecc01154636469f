package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gauze-dp/gauze/release/signature"
)

// public are the keys that a site serves, as a reader takes them.
func (s *site) public() []ssh.PublicKey {
	s.t.Helper()
	status, text := s.send("", "GET", "/api/v1/signing-key", "")
	file := filepath.Join(s.t.TempDir(), "keys")
	if err := os.WriteFile(file, text, 0o600); status != 200 || err != nil {
		s.t.Fatalf("signing-key: %d, %v", status, err)
	}
	keys, err := signature.Keys(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return keys
}

// signed is a release of a site and its signature.
func (s *site) signed(id string) (text, signed []byte) {
	s.t.Helper()
	_, text = s.send("lee", "GET", "/api/v1/releases/"+id, "")
	status, signed := s.send("lee", "GET", "/api/v1/releases/"+id+"/signature", "")
	if status != 200 {
		s.t.Fatalf("signature: %d, %s", status, signed)
	}
	return text, signed
}

// TestSigned: the server signs what it releases with a key of its own, which is for its owner
// alone, stays over restarts, and can be changed: then the old releases are known by the old key.
// What was altered in the database afterwards is not signed, and who may not see a release gets no
// signature of it.
func TestSigned(t *testing.T) {
	s := opened(t)
	s.register("d", s.table(3000), `, "epsilon": 3, "delta": 1e-5`)
	fit := func() string {
		body := s.wants(202, "lee", "POST", "/fits", `{"dataset": "d", "epsilon": 0.9, "delta": 1e-6, "components": 1}`)
		ended := s.ended("lee", body["id"].(string))
		if ended["state"] != "released" {
			t.Fatalf("%v", ended)
		}
		return body["id"].(string)
	}
	id := fit()
	text, signed := s.signed(id)
	if info, err := os.Stat(s.config.SigningKey); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	first := s.public()
	if _, err := signature.Verify(first, text, signed); err != nil || len(first) != 1 {
		t.Errorf("%d keys: %v", len(first), err)
	}
	if status, _ := s.send("max", "GET", "/api/v1/releases/"+id+"/signature", ""); status != 404 {
		t.Errorf("somebody else's signature: %d", status)
	}
	db, _ := s.server.store.Ledger().Database()
	if _, err := db.ExecContext(t.Context(), "UPDATE gauze_releases SET body = replace(body, 'e', 'E')"); err != nil {
		t.Fatal(err)
	}
	altered, signed := s.signed(id)
	if _, err := signature.Verify(first, altered, signed); err == nil || string(altered) == string(text) {
		t.Error("what was altered in the database passes")
	}

	s.end()
	s.start()
	if again := s.public(); len(again) != 1 || string(again[0].Marshal()) != string(first[0].Marshal()) {
		t.Error("a restart changes the key")
	}
	s.end()
	if err := os.Rename(s.config.SigningKey, s.config.SigningKey+".old"); err != nil {
		t.Fatal(err)
	}
	s.start()
	both := s.public()
	if len(both) != 2 || string(both[1].Marshal()) != string(first[0].Marshal()) {
		t.Fatalf("%d keys after a change of the key", len(both))
	}
	if _, err := signature.Verify(both, text, signed); err != nil {
		t.Errorf("an old release, after the key was changed: %v", err)
	}
	text, signed = s.signed(fit())
	if _, err := signature.Verify(both[:1], text, signed); err != nil {
		t.Errorf("a new release, after the key was changed: %v", err)
	}
	s.end()
	if err := os.Chmod(s.config.SigningKey, 0o644); err != nil {
		t.Fatal(err)
	}
	if server, err := New(context.WithoutCancel(t.Context()), s.config, time.Now, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v, %v", server, err)
	}
	if err := os.Chmod(s.config.SigningKey, 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
}
