package shards

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/source"
)

// rowsName begins the names of shards, and partName those of files being written.
const (
	rowsName = "rows."
	partName = "part."
)

// Store keeps tables where workers find them (a Store of kernel/sharded): in shards of a folder
// that they all see, together with questions and answers. In the process that fits it is a
// kernel.Room too.
//
// The folder holds rows and exact sums, unencrypted. Its name cannot be guessed, only its owner can
// read it, and it is removed with the fit; it stays if the program is killed.
type Store struct {
	*Room       // nil for a worker
	folder, key string
	root        *os.Root
	mu          sync.Mutex
	mapped      map[int][]byte // shards that workers of this process read
}

// NewStore makes a folder within another one; "" is the folder for temporary files.
func NewStore(in string) (*Store, error) {
	folder, err := os.MkdirTemp(in, "gauze-*") // only its owner may read it
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return nil, &source.Error{Field: "--shards", Wanted: "a folder in which one can be made", Got: err.Error(), Hint: "name one that all workers see, and only you can read"}
	}
	s, err := OpenStore(folder)
	if err == nil {
		s.Room, s.key = Named(folder, rowsName), rand.Text()
	}
	return s, err
}

// OpenStore opens a folder that NewStore has made, for a worker.
func OpenStore(folder string) (*Store, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = errors.New("others than its owner can open the folder of a fit")
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Store{folder: folder, root: root, mapped: map[int][]byte{}}, nil
}

// Key returns a word drawn for the store; "" for a worker.
func (s *Store) Key() string { return s.key }

// Folder returns the store's folder.
func (s *Store) Folder() string { return s.folder }

// Close removes the folder. Mapped shards stay readable for late workers.
func (s *Store) Close() error { return errors.Join(os.RemoveAll(s.folder), s.root.Close()) }

// Forget closes the files that a worker has open. Nothing of them may be read afterwards.
func (s *Store) Forget() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.root.Close()
	for _, shard := range s.mapped {
		err = errors.Join(err, Unmap(shard))
	}
	s.mapped = nil
	return err
}

// Place returns the place of a chunk; false for a worker.
func (s *Store) Place(chunk []float64) (shard, at int, ok bool) {
	if s.Room == nil {
		return 0, 0, false
	}
	return s.Room.Place(chunk)
}

// Rows returns n numbers of a shard, from number at on.
func (s *Store) Rows(shard, at, n int) (numbers []float64, leave func(), err error) {
	bytes, err := s.shard(shard)
	from, to := at*number, (at+n)*number
	if err == nil && (at < 0 || n < 0 || to > len(bytes)) {
		err = errors.New("a shard is short")
	}
	if err != nil {
		return nil, nil, err
	}
	return Floats(bytes[from:to:to]), func() { Drop(bytes[from:to:to]) }, nil
}

// shard maps a shard, once.
func (s *Store) shard(number int) (bytes []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes = s.mapped[number]; bytes != nil {
		return bytes, nil
	}
	f, err := s.root.OpenFile(rowsName+strconv.Itoa(number), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if bytes, err = Map(f, int(info.Size())); err == nil {
		s.mapped[number] = bytes
	}
	return bytes, err
}

// Write writes a whole file at once.
func (s *Store) Write(name string, text []byte) error {
	return s.Create(name, func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}

// Create writes a file that is too large to hold in memory: the name exists once all of it is
// written.
func (s *Store) Create(name string, write func(io.Writer) error) error {
	part, err := os.CreateTemp(s.folder, partName+"*")
	if err != nil {
		return err
	}
	err = errors.Join(write(part), part.Close())
	own := filepath.Base(part.Name())
	if err == nil {
		err = s.root.Rename(own, name)
	}
	if err != nil {
		return errors.Join(err, s.root.Remove(own))
	}
	return nil
}

// File opens a file of the store.
func (s *Store) File(name string) (io.ReadCloser, error) { return s.root.Open(name) }

// Read returns the content of a file.
func (s *Store) Read(name string) ([]byte, error) { return s.root.ReadFile(name) }

// Names returns all names with this prefix.
func (s *Store) Names(prefix string) (names []string, err error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Remove removes a file.
func (s *Store) Remove(name string) error { return s.root.Remove(name) }
