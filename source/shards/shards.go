// Package shards keeps what of a table exceeds memory on disk: in shards, mapped files without a
// name, so that nobody can open them and nothing of them is left however the program ends. (The
// files of a Store have names, for workers.) While a table is read from front to back, little of it
// is in memory at a time.
//
// The rows are on the disk as they are in memory, unencrypted: whatever protects the folder
// protects them.
package shards

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"

	"github.com/gauze-dp/gauze/source"
)

const (
	number = 8 // bytes
	// shardBytes is the disk space taken at a time: few files, little of it unused. A guess.
	shardBytes = 64 << 20
	// writeBytes is the number of bytes written at a time. Linux may read everything that was
	// written together into memory when one byte of it is read, so it is no more than it reads
	// anyway.
	writeBytes = 64 << 10
)

// A Room stores the chunks of tables: in memory until that is used up, then in shards. It is a
// kernel.Room, for tables that are filled one after the other.
type Room struct {
	folder string
	left   int // bytes of memory
	memory Pages
	shards [][]byte           // mapped
	free   []byte             // the rest of the last one
	pages  map[*float64]place // of the chunks in shards, by their first numbers
	name   string             // of the shards, followed by their number; "" for none
	err    error
	lost   []float64 // one chunk in place of all those that cannot be had
}

// A place is where a chunk begins: at a byte of a shard.
type place struct {
	pages     []byte
	shard, at int
}

// Open returns a room with memory as a person writes it, such as 2GiB: half of what this process
// may use if it is empty.
func Open(memory, folder string) (*Room, error) {
	size, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	size /= 2
	if err != nil {
		size = math.MaxInt
	}
	if memory != "" {
		if size, err = humanize.ParseBytes(memory); err != nil {
			return nil, &source.Error{Field: "--memory", Wanted: "a size, such as 2GiB", Got: strconv.Quote(memory), Hint: "leave it out for half of this machine's"}
		}
	}
	if info, err := os.Stat(cmp.Or(folder, os.TempDir())); err != nil || !info.IsDir() {
		return nil, &source.Error{Field: "--shards", Wanted: "a folder", Got: folder, Hint: "make it, on a disk that only you can read"}
	}
	return New(int(min(size, math.MaxInt)), folder), nil
}

// New returns a room with that many bytes of memory, whose shards are in a folder; "" is the folder
// for temporary files.
func New(memory int, folder string) *Room {
	return &Room{folder: folder, left: memory, pages: map[*float64]place{}}
}

// Named returns a room all of whose shards are files of a folder, named name0, name1, ..
func Named(folder, name string) *Room {
	r := New(0, folder)
	r.name = name
	return r
}

// Place returns the shard of a chunk, and the number in it at which the chunk begins.
func (r *Room) Place(chunk []float64) (shard, at int, ok bool) {
	p, ok := r.pages[&chunk[0]]
	return p.shard, p.at / number, ok
}

// Chunk returns room for n numbers, with length zero. If a shard cannot be had, all later chunks
// overwrite each other, and Err returns why.
func (r *Room) Chunk(n int) []float64 {
	size := n * number
	if r.left >= size {
		r.left -= size
		return r.memory.Numbers(n)
	}
	r.left = 0
	page := os.Getpagesize() // so that leaving a chunk affects no other
	size = (size + page - 1) / page * page
	if r.err == nil && len(r.free) < size {
		if r.free, r.err = r.shard(max(size, shardBytes)); r.err == nil {
			r.shards = append(r.shards, r.free)
		}
	}
	if r.err != nil {
		if cap(r.lost) < n {
			r.lost = make([]float64, 0, n)
		}
		return r.lost[:0:n]
	}
	pages := r.free[:size:size]
	r.free = r.free[size:]
	chunk := Floats(pages)[:n:n]
	last := len(r.shards) - 1
	r.pages[&chunk[0]] = place{pages, last, len(r.shards[last]) - len(r.free) - size}
	return chunk[:0]
}

// Leave says that a chunk will not be read for a while: if it is in a shard, its memory is freed.
func (r *Room) Leave(chunk []float64) {
	if cap(chunk) == 0 {
		return
	}
	if p, ok := r.pages[&chunk[:1][0]]; ok {
		Drop(p.pages)
	}
}

// Err returns why a shard could not be had, nil if all could.
func (r *Room) Err() error { return r.err }

// Close frees the disk space. No table in the room can be read after it.
func (r *Room) Close() error {
	var errs []error
	for _, s := range r.shards {
		errs = append(errs, Unmap(s))
	}
	r.shards, r.free = nil, nil
	return errors.Join(errs...)
}

// shard maps a new file of zeros, whose disk space is allocated.
func (r *Room) shard(size int) (mapped []byte, err error) {
	var f *os.File
	if r.name != "" {
		f, err = os.OpenFile(filepath.Join(r.folder, r.name+strconv.Itoa(len(r.shards))), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	} else if f, err = os.CreateTemp(r.folder, "gauze-shard-*"); err == nil {
		err = os.Remove(f.Name())
	}
	defer f.Close() // of nil too: an error
	zeros := make([]byte, writeBytes)
	for left := size; err == nil && left > 0; left -= len(zeros) { // writes zeros: a hole could not be filled on a full disk
		_, err = f.Write(zeros[:min(left, len(zeros))])
	}
	if err == nil {
		mapped, err = Map(f, size)
	}
	if err != nil {
		return nil, &source.Error{Field: "input", Wanted: "a table that fits into memory, or a disk for the rest of it", Got: fmt.Sprint(err),
			Hint: "name a folder with room for the table as float64 in --shards, or more memory in --memory"}
	}
	return mapped, nil
}
