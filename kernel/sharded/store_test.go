package sharded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
)

// A memory is a store, and a room, in memory: a shard is so many chunks.
type memory struct {
	chunks int // of a shard
	mu     sync.Mutex
	place  map[*float64]int
	all    [][]float64
	texts  map[string][]byte
	asked  []string // questions ever written
	key    string
}

func newMemory(chunks int) *memory {
	return &memory{chunks: chunks, place: map[*float64]int{}, texts: map[string][]byte{}, key: fmt.Sprint(rand.Uint64())}
}

func (m *memory) Chunk(n int) []float64 {
	c := make([]float64, n)
	m.place[&c[0]] = len(m.all)
	m.all = append(m.all, c)
	return c[:0]
}

func (m *memory) Leave([]float64) {}
func (m *memory) Key() string     { return m.key }
func (m *memory) Err() error      { return nil }

// Place numbers the chunks of a shard, as a store may.
func (m *memory) Place(chunk []float64) (shard, at int, ok bool) {
	i, ok := m.place[&chunk[0]]
	return i / m.chunks, i % m.chunks, ok
}

func (m *memory) Rows(shard, at, n int) ([]float64, func(), error) {
	return m.all[shard*m.chunks+at][:n], func() {}, nil
}

func (m *memory) Write(name string, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts[name] = text
	if strings.HasPrefix(name, "ask.") {
		m.asked = append(m.asked, name)
	}
	return nil
}

func (m *memory) Read(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text, ok := m.texts[name]; ok {
		return text, nil
	}
	return nil, errors.New("no such text")
}

func (m *memory) Names(prefix string) (names []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.texts {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (m *memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.texts, name)
	return nil
}

// A careless scheduler shuffles the work, does some of it twice and some for an attempt that is
// over, and fails in every way it can, but at the last attempt.
type careless struct {
	store    Store
	rng      *rand.Rand
	runs     int
	failures int // runs that fail
	say      int
}

func (c *careless) Run(_ context.Context, items []string) error {
	c.runs++
	items = append([]string(nil), items...)
	for range 1 + c.rng.IntN(len(items)) {
		items = append(items, items[c.rng.IntN(len(items))])
	}
	c.rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	if c.runs <= c.failures {
		lost := items[0]
		for _, item := range items {
			if item != lost {
				_ = Work(c.store, item)
			}
		}
		_ = Work(broken{c.store, &c.say}, lost)
		if c.say++; c.say%3 == 0 {
			panic("of the scheduler")
		}
		return errors.New("a worker is gone")
	}
	for _, item := range items {
		parts := strings.Split(item, ".")
		_ = Work(c.store, parts[0]+".1."+parts[2]) // late
		_ = Work(c.store, item)
	}
	if c.rng.IntN(2) == 0 {
		return errors.New("after all was done")
	}
	return nil
}

// A broken store fails a worker in one of its calls, by an error or a panic.
type broken struct {
	Store
	say *int
}

func (b broken) fail(at int) error {
	switch *b.say {
	case at:
		return errors.New("a disk is gone")
	case at + 1:
		panic("a value of a row")
	}
	return nil
}

func (b broken) Read(name string) ([]byte, error) {
	if err := b.fail(0); err != nil {
		return nil, err
	}
	return b.Store.Read(name)
}

func (b broken) Rows(shard, at, n int) ([]float64, func(), error) {
	if err := b.fail(2); err != nil {
		return nil, nil, err
	}
	return b.Store.Rows(shard, at, n)
}

func (b broken) Write(name string, text []byte) error {
	if err := b.fail(4); err != nil {
		return err
	}
	if *b.say > 5 {
		return errors.New("lost")
	}
	return b.Store.Write(name, text)
}
