// Package objects keeps tables in an object store, where workers that share no disk find them: in
// objects of many rows, together with the questions for workers and their answers. Its Store is one
// of kernel/sharded, over Beam's filesystems.
//
// The objects hold rows and exact sums, as the bucket keeps them. Their names cannot be guessed and
// say nothing of rows, and they go with the fit; they stay if the program is killed.
package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	"golang.org/x/sync/errgroup"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/shards"
)

const (
	// patience is how long one call may take. A guess.
	patience = 10 * time.Minute
	// removals are made at a time. A guess.
	removals = 32
	// openName is an object that is there while the store is.
	openName = "open"
	// marks are the characters that make a name a pattern.
	marks = "*?[\\"
)

// schemes are those of object stores: each replaces an object at once, lists what was written
// before, and has nothing of what was given up halfway.
var schemes = []string{"gs://", s3Scheme + "://"}

// Are says that a name is one of objects.
func Are(name string) bool {
	for _, scheme := range schemes {
		if strings.HasPrefix(name, scheme) {
			return true
		}
	}
	return false
}

// connections are the filesystems that this process has opened, by their schemes.
var connections = struct {
	sync.Mutex
	of map[string]filesystem.Interface
}{of: map[string]filesystem.Interface{}}

// connect returns the filesystem of a name. A panic of a filesystem that is opened is returned as
// an error.
func connect(name string) (files filesystem.Interface, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("no access: %v", p)
		}
	}()
	scheme, _, _ := strings.Cut(name, "://")
	connections.Lock()
	defer connections.Unlock()
	if files = connections.of[scheme]; files != nil {
		return files, nil
	}
	if files, err = filesystem.New(context.Background(), name); err != nil {
		return nil, err
	}
	connections.of[scheme] = files
	return files, nil
}

// A Store is all objects whose names begin alike: on the side that fits a kernel.Room too, of
// mapped files that are copied into objects once they are asked for.
type Store struct {
	*shards.Room // nil for a worker
	prefix       string
	local        string // folder
	key          string
	files        filesystem.Interface
	shelf        shelf
	cache        cache
}

// New makes a store below a name, such as gs://BUCKET/shards.
func New(in string) (*Store, error) {
	bad := func(got string) error {
		return &source.Error{Field: "--shards", Wanted: "a bucket in which objects can be written, as in gs://BUCKET/shards or s3://BUCKET/shards", Got: got,
			Hint: "name one that only you and the workers can read, and check the credentials"}
	}
	if strings.ContainsAny(in, marks) {
		return nil, bad("a pattern")
	}
	s, err := connected(strings.TrimRight(in, "/") + "/gauze-" + rand.Text())
	if err != nil {
		return nil, bad(err.Error())
	}
	if s.local, err = os.MkdirTemp("", "gauze-*"); err != nil {
		return nil, &source.Error{Field: "TMPDIR", Wanted: "a folder in which one can be made", Got: err.Error(), Hint: "name one that only you can read"}
	}
	if err = s.Write(openName, nil); err != nil {
		_ = os.Remove(s.local)
		return nil, bad(err.Error())
	}
	s.Room, s.key = shards.New(0, s.local), rand.Text()
	return s, nil
}

// Open opens what New has made, for a worker.
func Open(folder string) (*Store, error) {
	s, err := connected(folder)
	if err == nil {
		err = s.there(openName)
	}
	return s, err
}

func connected(folder string) (*Store, error) {
	files, err := connect(folder)
	if err != nil {
		return nil, err
	}
	if _, can := files.(filesystem.Remover); !can {
		return nil, errors.New("nothing can be removed there")
	}
	s := &Store{prefix: folder + "/", files: files, shelf: shelf{most: objectNumbers}}
	s.cache = cache{fetch: s.fetch, most: cacheBytes, held: map[int]*held{}}
	return s, nil
}

// Key returns a word drawn for the store, which is not part of its name; "" for a worker.
func (s *Store) Key() string { return s.key }

// Folder returns the beginning of all names.
func (s *Store) Folder() string { return strings.TrimSuffix(s.prefix, "/") }

// Local returns the folder of this machine that also keeps the rows, on the side that fits.
func (s *Store) Local() string { return s.local }

// Close removes all. What a late worker writes it takes back itself, since nothing is open any
// more.
func (s *Store) Close() error {
	errs := []error{s.Remove(openName)}
	names, err := s.Names("")
	var all errgroup.Group
	all.SetLimit(removals)
	for _, name := range names {
		all.Go(func() error { return s.Remove(name) })
	}
	return errors.Join(append(errs, err, all.Wait(), os.RemoveAll(s.local))...)
}

// Forget removes what a worker has copied to its disk. Nothing may be read of it any more.
func (s *Store) Forget() error { return s.cache.drop() }

// Write replaces an object. What was placed before can be read by whoever can read it.
func (s *Store) Write(name string, text []byte) error {
	if err := s.copy(); err != nil {
		return err
	}
	return s.sealed(name, func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}

// Read returns what was written.
func (s *Store) Read(name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	in, err := s.files.OpenRead(ctx, s.prefix+name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	return unsealed(text)
}

// Create writes what is too large to hold: it is there once all of it is written, if its store is.
func (s *Store) Create(name string, write func(io.Writer) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := s.files.OpenWrite(ctx, s.prefix+name)
	if err != nil {
		return err
	}
	if err = write(out); err != nil {
		cancel() // or what there is of it would be the object
	}
	if err = errors.Join(err, out.Close()); err == nil && name != openName {
		err = s.there(openName)
	}
	if err != nil {
		return errors.Join(err, s.Remove(name))
	}
	return nil
}

// File opens what was created.
func (s *Store) File(name string) (io.ReadCloser, error) {
	if err := s.there(name); err != nil {
		return nil, err
	}
	return s.files.OpenRead(context.Background(), s.prefix+name)
}

// Names returns all names with this prefix.
func (s *Store) Names(prefix string) (names []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all, err := s.files.List(ctx, s.prefix+prefix+"*")
	for _, name := range all {
		names = append(names, strings.TrimPrefix(name, s.prefix))
	}
	return names, err
}

// Remove removes an object.
func (s *Store) Remove(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.files.(filesystem.Remover).Remove(ctx, s.prefix+name)
}

// there returns nil if the object exists.
func (s *Store) there(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := s.files.Size(ctx, s.prefix+name)
	return err
}
