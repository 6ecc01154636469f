package main

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/kernel/sharded"
)

// idle is how long a store stays open without work: a worker can outlive many fits, and keeps
// copies of rows of those whose store it holds. A guess.
const idle = 5 * time.Minute

// stores are the folders that this process works in.
var stores opened

type opened struct {
	sync.Mutex
	in string // nowhere else, if it is set
	of map[string]*used
}

// used is a store that is open.
type used struct {
	store store
	users int
	since int // counts when it was left
}

// within keeps work to a folder and those in it, "" for any.
func (o *opened) within(folder string) {
	o.Lock()
	defer o.Unlock()
	o.in = strings.TrimRight(folder, "/")
}

// allows says whether there may be work in a folder.
func (o *opened) allows(folder string) bool {
	rest, below := strings.CutPrefix(folder, o.in)
	return o.in == "" || below && (rest == "" || strings.HasPrefix(rest, "/") && filepath.Clean(rest) == rest)
}

// open opens a store, until it is left.
func (o *opened) open(folder string) (s store, leave func(), err error) {
	o.Lock()
	defer o.Unlock()
	if !o.allows(folder) {
		return nil, nil, errElement
	}
	u := o.of[folder]
	if u == nil {
		if s, err = find(folder); err != nil {
			return nil, nil, err
		}
		if o.of == nil {
			o.of = map[string]*used{}
		}
		u = &used{store: s}
		o.of[folder] = u
	}
	u.users++
	return u.store, func() { o.leave(folder, u) }, nil
}

func (o *opened) leave(folder string, u *used) {
	o.Lock()
	defer o.Unlock()
	u.users--
	u.since++
	left := u.since
	time.AfterFunc(idle, func() { o.forget(folder, u, left) })
}

// forget closes a store that was not used since it was left.
func (o *opened) forget(folder string, u *used, left int) {
	o.Lock()
	defer o.Unlock()
	if u.users > 0 || u.since != left {
		return
	}
	sharded.Forget(u.store)
	_ = u.store.Forget()
	delete(o.of, folder)
}
