package shards

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source"
)

var (
	_ sharded.Store = (*Store)(nil)
	_ kernel.Room   = (*Store)(nil)
)

// Another process, as a second Store is one here, reads what was written into chunks, and texts.
func TestShared(t *testing.T) {
	const n, chunks = 3001, 3000 // two shards
	in := t.TempDir()
	s, err := NewStore(in)
	if err != nil {
		t.Fatal(err)
	}
	worker, err := OpenStore(s.Folder())
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float64
	for i := range chunks {
		c := s.Chunk(n)
		for j := range n {
			c = append(c, float64(i*n+j))
		}
		all = append(all, c)
		s.Leave(c)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	last := 0
	for i, c := range all {
		shard, at, ok := s.Place(c)
		got, leave, err := worker.Rows(shard, at, n)
		if !ok || err != nil || !slices.Equal(got, c) || got[0] != float64(i*n) {
			t.Fatalf("chunk %d, in shard %d: %v, %v", i, shard, ok, err)
		}
		leave()
		last = shard
	}
	if _, _, ok := s.Place(make([]float64, 1)); ok || last != 1 {
		t.Errorf("a chunk of nobody's has a place; the last shard is %d", last)
	}
	if _, _, ok := worker.Place(all[0]); ok {
		t.Error("a worker knows places")
	}
	for _, odd := range [][3]int{{2, 0, 1}, {0, -1, 1}, {0, 0, -1}, {1, 1 << 40, 1}, {-1, 0, 1}} {
		if _, _, err := worker.Rows(odd[0], odd[1], odd[2]); err == nil {
			t.Errorf("%v has rows", odd)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(in); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What is written is there as a whole, and again after it was written again.
func TestTexts(t *testing.T) {
	s, err := NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, text := range map[string]string{"a.1": "x", "a.2": "", "b.1": "y"} {
		if err := errors.Join(s.Write(name, []byte("before")), s.Write(name, []byte(text))); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Read(name); err != nil || string(got) != text {
			t.Errorf("%s is %q, want %q (%v)", name, got, text, err)
		}
	}
	if names, err := s.Names("a."); err != nil || !slices.Equal(names, []string{"a.1", "a.2"}) {
		t.Error(names, err)
	}
	if err := s.Remove("a.1"); err != nil {
		t.Error(err)
	}
	if names, _ := s.Names(""); len(names) != 2 {
		t.Errorf("left: %v", names)
	}
	for _, odd := range []string{"../out", "/etc/hostname", "a.1"} {
		if _, err := s.Read(odd); err == nil {
			t.Errorf("%s can be read", odd)
		}
	}
	if s.Write("../out", nil) == nil {
		t.Error("written outside")
	}
	if names, _ := s.Names(""); len(names) != 2 {
		t.Errorf("left after a fault: %v", names)
	}
}

// A folder that others can open is no place for rows.
func TestPrivate(t *testing.T) {
	folder := t.TempDir()
	s, err := NewStore(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if info, err := os.Stat(s.Folder()); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	s.Chunk(8)
	if info, err := os.Stat(filepath.Join(s.Folder(), rowsName+"0")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	open := filepath.Join(folder, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(open); err == nil {
		t.Error("a folder that others can read is opened")
	}
	if _, err := NewStore(filepath.Join(folder, "gone")); !errors.As(err, new(*source.Error)) {
		t.Error(err)
	}
}

// What a worker has forgotten it cannot read; others can.
func TestForget(t *testing.T) {
	s, err := NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := s.Chunk(3)
	c = append(c, 1, 2, 3)
	s.Leave(c)
	shard, at, _ := s.Place(c)
	for range 2 {
		worker, err := OpenStore(s.Folder())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := worker.Rows(shard, at, 3); err != nil {
			t.Error(err)
		}
		if err := worker.Forget(); err != nil {
			t.Error(err)
		}
		if _, _, err := worker.Rows(shard, at, 3); err == nil {
			t.Error("rows are read that were forgotten")
		}
	}
}
