package objects

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	"github.com/gauze-dp/gauze/beam/objects/fake"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/parsed"
)

var (
	_ sharded.Store = (*Store)(nil)
	_ parsed.Store  = (*Store)(nil)
	_ kernel.Room   = (*Store)(nil)
)

func init() { schemes = append(schemes, "memfs://", "odd://") }

// everywhere runs a test with objects in memory, and with those that a server of buckets has.
func everywhere(t *testing.T, test func(t *testing.T, in string)) {
	t.Run("memory", func(t *testing.T) { test(t, "memfs://custodian/"+strings.ReplaceAll(t.Name(), "/", "-")) })
	t.Run("bucket", func(t *testing.T) {
		fake.Serve(t)
		test(t, fake.Bucket+"shards/")
	})
	t.Run("S3", func(t *testing.T) {
		fake.ServeS3(t)
		test(t, fake.BucketS3+"shards/")
	})
}

// begin makes a store whose objects have so many numbers, and one of a worker.
func begin(t *testing.T, in string, numbers int) (store, worker *Store) {
	t.Helper()
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	store, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	store.shelf.most = numbers
	if worker, err = Open(store.Folder()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if names, err := store.Names(""); err != nil || len(names) > 0 {
			t.Errorf("left: %v (%v)", names, err)
		}
		if files, err := os.ReadDir(temporary); err != nil || len(files) > 0 {
			t.Errorf("left: %v (%v)", files, err)
		}
	})
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, worker
}

// fill fills chunks, with numbers that tell them apart.
func fill(s *Store, chunks, n int) (all [][]float64) {
	for i := range chunks {
		c := s.Chunk(n)
		for j := range n {
			c = append(c, float64(i*n+j))
		}
		all = append(all, c)
		s.Leave(c)
	}
	return all
}

// A worker reads what was written into chunks before, whatever its copies have been given up for.
func TestRows(t *testing.T) {
	everywhere(t, func(t *testing.T, in string) {
		const n, chunks = 1001, 10
		s, worker := begin(t, in, 3*n)
		worker.cache.most = 2 * 3 * n * 8
		all := fill(s, chunks, n)
		for i, c := range all {
			if object, at, ok := s.Place(c[:1]); object != i/3 || at != i%3*n || !ok {
				t.Fatal(i, object, at, ok)
			}
		}
		if err := s.Write("ask", nil); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 1, 9, 5, 2, 8, 0, 3, 9} {
			object, at, _ := s.Place(all[i])
			got, leave, err := worker.Rows(object, at, n)
			if err != nil || !slices.Equal(got, all[i]) {
				t.Fatalf("chunk %d: %v", i, err)
			}
			leave()
		}
		size := 0
		for _, h := range worker.cache.held {
			size += len(h.bytes)
		}
		if size > worker.cache.most {
			t.Errorf("%d bytes are kept", size)
		}
		for _, odd := range [][3]int{{0, 3 * n, 1}, {0, -1, 1}, {4, 0, 1}, {-1, 0, 1}} {
			if _, _, err := worker.Rows(odd[0], odd[1], odd[2]); err == nil {
				t.Errorf("%v can be read", odd)
			}
		}
		if _, _, ok := worker.Place(all[0]); ok {
			t.Error("a worker knows a place")
		}
		later := fill(s, 1, n)[0] // of another table
		if object, at, ok := s.Place(later); object != 4 || at != 0 || !ok {
			t.Error(object, at, ok)
		}
	})
}

func TestTexts(t *testing.T) {
	everywhere(t, func(t *testing.T, in string) {
		s, worker := begin(t, in, 1)
		for name, text := range map[string]string{"a.1": "x", "a.2": "", "b.1": "y"} {
			if err := errors.Join(worker.Write(name, []byte("before")), s.Write(name, []byte(text))); err != nil {
				t.Fatal(err)
			}
			if got, err := worker.Read(name); err != nil || string(got) != text {
				t.Errorf("%s is %q, want %q (%v)", name, got, text, err)
			}
		}
		if names, err := worker.Names("a."); err != nil || !slices.Equal(names, []string{"a.1", "a.2"}) {
			t.Error(names, err)
		}
		if err := s.Remove("a.1"); err != nil {
			t.Error(err)
		}
		if _, err := worker.Read("a.1"); err == nil {
			t.Error("what was removed can be read")
		}
		if _, err := worker.File("a.1"); err == nil {
			t.Error("what was removed can be opened")
		}
		fault := errors.New("no more")
		err := s.Create("part", func(out io.Writer) error { _, err := io.WriteString(out, "half"); return errors.Join(err, fault) })
		if !errors.Is(err, fault) || worker.there("part") == nil {
			t.Errorf("half of an object is one: %v", err)
		}
	})
}

// What a worker writes after the fit has ended is gone, and it can't begin.
func TestLate(t *testing.T) {
	everywhere(t, func(t *testing.T, in string) {
		s, worker := begin(t, in, 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if worker.Write("answer", []byte("a sum")) == nil || worker.there("answer") == nil {
			t.Error("a late worker leaves a sum")
		}
		if _, err := Open(s.Folder()); err == nil {
			t.Error("a late worker begins")
		}
		if err := s.Write(openName, nil); err != nil { // as the test closes it again
			t.Fatal(err)
		}
	})
}

func TestNoPlace(t *testing.T) {
	fake.Serve(t)
	for _, in := range []string{"gs://", "gs://other/shards", "gs://custodian/sh[ar]ds", "odd://there"} {
		if _, err := New(in); !errors.As(err, new(*source.Error)) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, err := Open("gs://custodian/gauze-not"); err == nil {
		t.Error("what nobody made is opened")
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	if _, err := New("gs://custodian/nowhere"); !errors.As(err, new(*source.Error)) {
		t.Error(err)
	}
	if left, err := Files(t.Context(), "gs://custodian/nowhere/*/*"); err == nil {
		t.Errorf("left: %v", left)
	}
}

// A faulty filesystem is one of memory that fails at what it is told: as "read", half of an object
// and then an error; "write", the same; "torn", half of an object and no error.
type faulty struct {
	filesystem.Interface
	filesystem.Remover
	mu     sync.Mutex
	faults []string
}

var errFault = errors.New("a network is gone")

// due says that such a fault is the next one, which it is not again.
func (f *faulty) due(kind string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) == 0 || f.faults[0] != kind {
		return false
	}
	f.faults = f.faults[1:]
	return true
}

func inMemory(name string) string { return "memfs" + strings.TrimPrefix(name, "odd") }

func (f *faulty) Size(ctx context.Context, name string) (int64, error) {
	return f.Interface.Size(ctx, inMemory(name))
}
func (f *faulty) Remove(ctx context.Context, name string) error {
	return f.Remover.Remove(ctx, inMemory(name))
}

func (f *faulty) List(ctx context.Context, glob string) (names []string, err error) {
	all, err := f.Interface.List(ctx, inMemory(glob))
	for _, name := range all {
		names = append(names, "odd"+strings.TrimPrefix(name, "memfs"))
	}
	return names, err
}

func (f *faulty) OpenRead(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := f.Interface.OpenRead(ctx, inMemory(name))
	if err == nil && f.due("read") {
		return io.NopCloser(io.MultiReader(io.LimitReader(in, 7), failing{})), nil
	}
	return in, err
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errFault }

func (f *faulty) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	out, err := f.Interface.OpenWrite(ctx, inMemory(name))
	switch {
	case err == nil && f.due("write"):
		return half{out, errFault}, nil
	case err == nil && f.due("torn"):
		return half{out, nil}, nil
	}
	return out, err
}

// half of what is written is.
type half struct {
	io.WriteCloser
	fault error
}

func (h half) Write(p []byte) (int, error) {
	_, err := h.WriteCloser.Write(p[:len(p)/2])
	return len(p), errors.Join(err, h.fault)
}

// disturb opens a store with a faulty filesystem, and hands out its faults.
func disturb(t *testing.T, numbers int) (store, worker *Store, faults *[]string) {
	memory := memfs.New(t.Context())
	f := &faulty{Interface: memory, Remover: memory.(filesystem.Remover)}
	connections.of["odd"] = f
	t.Cleanup(func() { delete(connections.of, "odd") })
	store, worker = begin(t, "odd://custodian/"+t.Name(), numbers)
	return store, worker, &f.faults
}

// A read that fails is an error, and the next one is none. What was torn is known to be.
func TestFaults(t *testing.T) {
	const n = 100
	s, worker, faults := disturb(t, n)
	all := fill(s, 2, n)
	for _, c := range all {
		s.Place(c)
	}
	*faults = []string{"torn"}
	if err := s.Write("ask", []byte("what")); err != nil || len(*faults) > 0 {
		t.Fatal(err, *faults)
	}
	readable := 0
	for i, c := range all {
		*faults = []string{"read"}
		if _, _, err := worker.Rows(i, 0, n); !errors.Is(err, errFault) && !errors.Is(err, errTorn) {
			t.Errorf("%d: %v", i, err)
		}
		got, leave, err := worker.Rows(i, 0, n)
		switch {
		case err == nil && slices.Equal(got, c):
			readable++
			leave()
		case !errors.Is(err, errTorn):
			t.Errorf("%d: %v", i, err)
		}
	}
	if readable != 1 {
		t.Errorf("%d of 2 objects can be read, of which one was torn", readable)
	}
	*faults = []string{"read"}
	if _, err := worker.Read("ask"); !errors.Is(err, errFault) {
		t.Error(err)
	}
	if text, err := worker.Read("ask"); err != nil || string(text) != "what" {
		t.Error(string(text), err)
	}
	*faults = []string{"torn"}
	if err := worker.Write("answer", []byte("a long answer")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read("answer"); !errors.Is(err, errTorn) {
		t.Errorf("half of an answer is one: %v", err)
	}
	*faults = []string{"write"}
	if err := worker.Write("answer", []byte("a long answer")); !errors.Is(err, errFault) || worker.there("answer") == nil {
		t.Errorf("an answer that was given up is one: %v", err)
	}
	again := fill(s, 1, n)[0]
	object, at, _ := s.Place(again)
	*faults = []string{"write", "write"}
	if err := s.Write("ask", nil); err != nil || len(*faults) > 0 {
		t.Fatal(err, *faults)
	}
	if got, _, err := worker.Rows(object, at, n); err != nil || !slices.Equal(got, again) {
		t.Errorf("a copy is not tried again: %v", err)
	}
}
