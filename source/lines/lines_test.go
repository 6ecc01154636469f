package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestEight: every run of digits is found beside any byte.
func TestEight(t *testing.T) {
	for n := range 8 {
		for c := range 256 {
			text := []byte("98765432--------")
			text[n] = byte(c)
			want, end := uint64(0), 0
			for ; end < 8 && '0' <= text[end] && text[end] <= '9'; end++ {
				want = want*10 + uint64(text[end]-'0')
			}
			for rest := range 256 {
				if n < 7 {
					text[n+1] = byte(rest)
				}
				got, at := digits(text, 0, 0)
				if n < 7 && '0' <= c && c <= '9' {
					break // the run goes on
				}
				if got != want || at != end {
					t.Fatalf("%q: got %d to %d, want %d to %d", text, got, at, want, end)
				}
			}
		}
	}
}

// endless is a line of one character that never ends.
type endless struct {
	c    byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.c
	}
	e.read += len(p)
	return len(p), nil
}

func TestLong(t *testing.T) {
	in := &endless{c: '1'}
	if _, err := New(in, 1<<20).Next(1); err != ErrLong || in.read > 3<<20 {
		t.Errorf("%v after %d bytes", err, in.read)
	}
	for most, want := range map[int]error{3: ErrLong, 4: nil} {
		r := New(strings.NewReader("1\n1,23\n"), most)
		if _, err := r.Next(1); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(1); err != want {
			t.Errorf("a line of 4 bytes of at most %d: %v", most, err)
		}
	}
}

// TestRest: whatever was not made a line of is left, wherever a quote comes.
func TestRest(t *testing.T) {
	long := strings.Repeat("1,2\n", 100_000)
	r := New(strings.NewReader(long+"3,\"4\n5\"\n6,7"), 1<<20)
	for {
		if _, err := r.Next(2); err == ErrQuoted {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	rest, err := io.ReadAll(r.Rest())
	if r.Line() != 100_000 || string(rest) != "3,\"4\n5\"\n6,7" || err != nil {
		t.Errorf("after %d lines: %q, %v", r.Line(), rest, err)
	}
	broken := errors.New("broken")
	r = New(io.MultiReader(strings.NewReader("1\n\"2"), ended{broken}), 1<<20)
	if _, err := r.Next(1); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(1); err != ErrQuoted {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r.Rest()); string(rest) != "\"2" || err != broken {
		t.Errorf("%q, %v", rest, err)
	}
	if _, err := New(stuck{}, 10).Next(1); err != io.ErrNoProgress {
		t.Error(err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }
