package objects

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gauze-dp/gauze/source/shards"
)

const (
	// objectNumbers are as many as one object of rows has, about: what a worker reads at a time. A
	// guess.
	objectNumbers = 8 << 20
	// copies are written at a time, each of which takes some memory, and times a copy is tried.
	// Guesses.
	copies, times = 4, 3
	// cacheBytes are kept on the disk of a worker, of objects that it has read before. A guess.
	cacheBytes = 8 << 30
	word       = 4 // bytes of a checksum
	number     = 8 // bytes
)

var (
	table   = crc32.MakeTable(crc32.Castagnoli)
	errTorn = errors.New("objects: an object is damaged")
)

func rowsName(i int) string { return fmt.Sprintf("rows.%d", i) }

// sealed writes an object with its checksum at its end.
func (s *Store) sealed(name string, write func(io.Writer) error) error {
	return s.Create(name, func(out io.Writer) error {
		sum := crc32.New(table)
		if err := write(io.MultiWriter(out, sum)); err != nil {
			return err
		}
		_, err := out.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
		return err
	})
}

// unsealed returns the text that sealed has written.
func unsealed(text []byte) ([]byte, error) {
	n := len(text) - word
	if n < 0 || crc32.Checksum(text[:n], table) != binary.BigEndian.Uint32(text[n:]) {
		return nil, errTorn
	}
	return text[:n], nil
}

// A shelf says which chunks of the room are in which objects.
type shelf struct {
	mu     sync.Mutex
	most   int                    // numbers of an object
	chunks map[*float64][]float64 // by their first numbers
	places map[*float64][2]int    // object, and number in it
	made   int                    // objects
	wait   [][][]float64          // the chunks of the last of them, which are not written yet
}

// Chunk returns room for n numbers, with length zero.
func (s *Store) Chunk(n int) []float64 {
	c := s.Room.Chunk(n)
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	if s.shelf.chunks == nil {
		s.shelf.chunks, s.shelf.places = map[*float64][]float64{}, map[*float64][2]int{}
	}
	s.shelf.chunks[&c[:1][0]] = c[:n]
	return c
}

// Place says in which object a chunk will be once anything else is written, and from which of its
// numbers on; false for a worker. The chunk must be filled.
func (s *Store) Place(chunk []float64) (object, at int, ok bool) {
	f := &s.shelf
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.places[&chunk[0]]; ok {
		return p[0], p[1], true
	}
	whole, ok := f.chunks[&chunk[0]]
	if !ok {
		return 0, 0, false
	}
	if n := len(f.wait); n > 0 {
		at = numbersOf(f.wait[n-1])
	}
	if len(f.wait) == 0 || at+len(whole) > f.most {
		f.wait, at = append(f.wait, nil), 0
		f.made++
	}
	last := len(f.wait) - 1
	f.wait[last] = append(f.wait[last], whole)
	f.places[&chunk[0]] = [2]int{f.made - 1, at}
	return f.made - 1, at, true
}

func numbersOf(chunks [][]float64) (n int) {
	for _, c := range chunks {
		n += len(c)
	}
	return n
}

// copy writes the objects of all chunks that were placed.
func (s *Store) copy() error {
	f := &s.shelf
	f.mu.Lock()
	defer f.mu.Unlock()
	var all errgroup.Group
	all.SetLimit(copies)
	for i, chunks := range f.wait {
		name := rowsName(f.made - len(f.wait) + i)
		all.Go(func() (err error) {
			for range times {
				if err = s.sealed(name, func(out io.Writer) error { return s.write(out, chunks) }); err == nil {
					break
				}
			}
			return err
		})
	}
	err := all.Wait()
	if err == nil {
		f.wait = nil
	}
	return err
}

// write writes chunks, and leaves them.
func (s *Store) write(out io.Writer, chunks [][]float64) error {
	for _, c := range chunks {
		if _, err := out.Write(shards.Bytes(c)); err != nil {
			return err
		}
		s.Leave(c)
	}
	return nil
}

// Rows returns n numbers of an object, from number at on. It reads all of the object into a
// nameless file of this machine, and keeps it there for a while: filesystems of Beam read from the
// front.
func (s *Store) Rows(object, at, n int) (numbers []float64, leave func(), err error) {
	bytes, leave, err := s.cache.hold(object)
	if err != nil {
		return nil, nil, err
	}
	from, to := at*number, (at+n)*number
	if at < 0 || n < 0 || to > len(bytes) {
		leave()
		return nil, nil, errTorn
	}
	return shards.Floats(bytes[from:to:to]), leave, nil
}

// fetch maps a copy of an object of rows.
func (s *Store) fetch(object int) (bytes []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	in, err := s.files.OpenRead(ctx, s.prefix+rowsName(object))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := io.Copy(f, in)
	if err == nil && size <= word {
		err = errTorn
	}
	if err != nil {
		return nil, err
	}
	if bytes, err = shards.Map(f, int(size)); err != nil {
		return nil, err
	}
	if _, err = unsealed(bytes); err != nil {
		return nil, errors.Join(err, shards.Unmap(bytes))
	}
	return bytes, nil
}

// nameless returns a new file that nobody else can open, and that is gone once it is closed.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "gauze-*")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
