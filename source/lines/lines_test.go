package lines

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// inCell is decimal of a text between other cells, with digits behind it.
func inCell(cell string) (float64, bool) {
	text := []byte("9," + cell + ",99999999")
	return Decimal(text, 2, 2+len(cell))
}

// TestDecimal: what is read is what strconv reads, in every bit; and it reads what is common.
func TestDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const marks = "0123456789012345678901234567890123456789.-+eE"
	read := 0
	for range 300_000 {
		var b strings.Builder
		switch v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(50)-25)); rng.IntN(4) {
		case 0:
			for range 1 + rng.IntN(24) {
				b.WriteByte(marks[rng.IntN(len(marks))])
			}
		case 1:
			b.WriteString(strconv.FormatFloat(v, 'e', rng.IntN(20), 64))
		case 2:
			b.WriteString(strings.Repeat("0", rng.IntN(20)) + strconv.FormatFloat(v, 'f', rng.IntN(20), 64))
		default:
			b.WriteString(strconv.FormatUint(1<<53-5+rng.Uint64N(10), 10) + "e" + strconv.Itoa(rng.IntN(60)-30))
		}
		got, ok := inCell(b.String())
		if !ok {
			continue
		}
		read++
		if want, err := strconv.ParseFloat(b.String(), 64); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q: got %v, want %v, %v", b.String(), got, want, err)
		}
	}
	if read < 50_000 {
		t.Errorf("read %d cells only", read)
	}
	for _, cell := range []string{"0", "-0", "17", "-12.375", "+.5", "5.", "123456.789", "0.000001", "1e5", "2.5E-7", "9007199254740992", "1234567890.12345"} {
		if _, ok := inCell(cell); !ok {
			t.Errorf("%q is not read", cell)
		}
	}
}

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
	r = New(io.MultiReader(strings.NewReader("1\n\"2"), failed{broken}), 1<<20)
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
