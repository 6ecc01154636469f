package sharded

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A meeting is a store whose first call waits for a second one.
type meeting struct {
	*memory
	calls atomic.Int64
	met   chan struct{}
	alone atomic.Bool
}

func (m *meeting) meet() {
	if m.calls.Add(1) == 2 {
		close(m.met)
	}
	select {
	case <-m.met:
	case <-time.After(time.Minute):
		m.alone.Store(true)
	}
}

func (m *meeting) Read(name string) ([]byte, error) {
	m.meet()
	if strings.HasSuffix(name, "gone") {
		return nil, errors.New("gone")
	}
	return m.memory.Read(name)
}

func (m *meeting) Remove(name string) error {
	m.meet()
	return m.memory.Remove(name)
}

// TestCollect: answers are read side by side, each is where its part is, and what is damaged is
// told before what is lost, whichever comes first.
func TestCollect(t *testing.T) {
	const parts = 2*calls + 2
	key, of := answersName(1, 1), task{Key: []byte("key")}
	for name, c := range map[string]struct {
		lost, damaged, twice bool
		want                 error
		answers              int
	}{
		"all": {answers: parts}, "lost": {lost: true}, "damaged": {damaged: true, want: errText}, "lost and damaged": {lost: true, damaged: true, want: errText}, "twice": {twice: true, want: errText},
	} {
		m := &meeting{memory: newMemory(1), met: make(chan struct{})}
		for part := range parts {
			a := answer{Sum: []int64{int64(part)}, Read: part}
			text, sum, err := seal(a)
			if err != nil {
				t.Fatal(err)
			}
			own := of.answerName(key, part, sum)
			switch {
			case c.lost && part == 1:
				own += ".gone"
			case c.damaged && part == parts-1:
				text[0] ^= 1
			case c.twice && part == 3:
				_ = m.Write(own+".again", text)
			}
			_ = m.Write(own, text)
		}
		p := &pool{store: m}
		answers, err := p.collect(of, key, parts)
		if err != c.want || len(answers) != c.answers {
			t.Errorf("%s: %d answers, %v", name, len(answers), err)
		}
		for part, a := range answers {
			if a.Read != part {
				t.Errorf("%s: part %d has the answer of %d", name, part, a.Read)
			}
		}
		read := m.alone.Load()
		m.calls.Store(0)
		m.met = make(chan struct{})
		p.forget(key)
		if left, _ := m.Names(key); len(left) > 0 || read || m.alone.Load() {
			t.Errorf("%s: left: %v; one at a time: read %v, removed %v", name, left, read, m.alone.Load())
		}
	}
}
