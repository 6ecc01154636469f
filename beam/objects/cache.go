package objects

import (
	"errors"
	"sync"

	"github.com/gauze-dp/gauze/source/shards"
)

// A cache keeps copies of objects of rows, those that were read last.
type cache struct {
	fetch func(object int) ([]byte, error)
	most  int // bytes
	mu    sync.Mutex
	turn  int
	held  map[int]*held
}

// held is one of them.
type held struct {
	fetching sync.Mutex
	bytes    []byte // nil until it was fetched
	readers  int
	last     int // the turn in which it was asked for
}

// hold returns an object's copy, valid until leave is called.
func (c *cache) hold(object int) (bytes []byte, leave func(), err error) {
	c.mu.Lock()
	h := c.held[object]
	if h == nil {
		h = &held{}
		c.held[object] = h
	}
	h.readers++
	c.turn++
	h.last = c.turn
	c.mu.Unlock()
	leave = sync.OnceFunc(func() { c.leave(h) })

	h.fetching.Lock()
	defer h.fetching.Unlock()
	if h.bytes == nil {
		got, err := c.fetch(object)
		if err != nil {
			leave()
			return nil, nil, err
		}
		c.mu.Lock()
		h.bytes = got
		c.mu.Unlock()
	}
	return h.bytes, leave, nil
}

// drop gives back all memory, and all disk.
func (c *cache) drop() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, h := range c.held {
		if h.bytes != nil {
			err = errors.Join(err, shards.Unmap(h.bytes))
		}
		delete(c.held, i)
	}
	return err
}

// leave frees the memory of objects that are not being read, and the disk space above the limit.
func (c *cache) leave(h *held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.readers--; h.readers > 0 {
		return
	}
	if h.bytes != nil {
		shards.Drop(h.bytes)
	}
	for {
		size, oldest := 0, -1
		for i, o := range c.held {
			if size += len(o.bytes); o.readers == 0 && (oldest < 0 || o.last < c.held[oldest].last) {
				oldest = i
			}
		}
		if size <= c.most || oldest < 0 {
			return
		}
		_ = shards.Unmap(c.held[oldest].bytes)
		delete(c.held, oldest)
	}
}
