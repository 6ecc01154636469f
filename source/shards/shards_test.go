package shards

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
)

// What is written into chunks, in memory and in shards, is there after they have been left, and the
// folder has no file by then.
func TestRoom(t *testing.T) {
	const n, chunks = 3001, 4000 // two shards
	folder := t.TempDir()
	r := New(3*n*number, folder)
	var all [][]float64
	for i := range chunks {
		c := r.Chunk(n)
		if len(c) != 0 || cap(c) != n {
			t.Fatalf("chunk %d has length %d and room for %d", i, len(c), cap(c))
		}
		for j := range n {
			c = append(c, float64(i*n+j))
		}
		all = append(all, c)
		r.Leave(all[i/2])
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if len(r.shards) != 2 || len(r.pages) != chunks-3 {
		t.Errorf("%d shards with %d chunks", len(r.shards), len(r.pages))
	}
	for i, c := range all {
		for j, v := range c {
			if v != float64(i*n+j) {
				t.Fatalf("number %d of chunk %d is %v", j, i, v)
			}
		}
		r.Leave(c)
	}
	r.Leave(nil)
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		t.Error(names, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Without a disk the table is lost, memory is not, and the error says how to fix it.
func TestNoDisk(t *testing.T) {
	const n = 100
	r := New(n*number, filepath.Join(t.TempDir(), "gone"))
	kept := append(r.Chunk(n), 1)
	for range 3 {
		if c := r.Chunk(n); len(c) != 0 || cap(c) != n {
			t.Error(len(c), cap(c))
		}
	}
	var field *source.Error
	if !errors.As(r.Err(), &field) || !strings.Contains(field.Hint, "--shards") || kept[0] != 1 {
		t.Error(r.Err(), kept)
	}
}

func TestOpen(t *testing.T) {
	for memory, bytes := range map[string]int{"2GiB": 2 << 30, "10MB": 10_000_000, "0": 0} {
		if r, err := Open(memory, t.TempDir()); err != nil || r.left != bytes {
			t.Errorf("%s: %v, %v", memory, r, err)
		}
	}
	if r, err := Open("", ""); err != nil || r.left < 64<<20 {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range [][2]string{{"much", ""}, {"1GiB", filepath.Join(t.TempDir(), "gone")}} {
		if _, err := Open(bad[0], bad[1]); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A shard that the disk has lost is a panic, with what was spent by then told; not the end of the
// process with the exit code of a bad input.
func TestLostShard(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "shard"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := 4 * os.Getpagesize()
	mapped := []byte(nil)
	if err = f.Truncate(int64(size)); err == nil {
		mapped, err = Map(f, size)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer Unmap(mapped)
	defer func() {
		if recover() == nil {
			t.Error("what is not there was read")
		}
	}()
	sum := byte(0)
	parallel.Run(1, func(int) { sum += mapped[size-1] })
}
