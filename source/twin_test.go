package source

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// plainly reads CSV as slowly as encoding/csv and ParseCell do it: the rows, in bits, up to an
// error.
func plainly(text []byte) (rows []string, err error) {
	c := &csvReader{name: "stdin"}
	decoded, err := decode(c.name, bytes.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	plain, broken := io.ReadAll(decoded)
	var in io.Reader = bytes.NewReader(plain)
	raw, err := rawHeader(bufferedReader(plain, broken))
	if err != nil {
		if _, ours := err.(*Error); ours {
			return nil, err
		}
		return nil, ioError(c.name, err)
	}
	if !utf8.Valid(raw) {
		recode := charmap.Windows1252.NewDecoder()
		raw, _ = recode.Bytes(raw)
		plain, _ = recode.Bytes(plain)
		in = bytes.NewReader(plain)
	}
	delimiter, err := delimiterOf(raw)
	if err != nil {
		return nil, err
	}
	comma := cmp.Or(delimiter, ',')
	r := csv.NewReader(bytes.NewReader(raw))
	r.Comma, r.TrimLeadingSpace = comma, comma != '\t'
	if names, err := r.Read(); err != nil {
		return nil, c.recordError(len(names), err)
	} else if c.header = names; len(names) == 1 {
		in = io.MultiReader(bytes.NewReader(raw), &blankLines{src: bytes.NewReader(plain[len(raw):]), atStart: true})
	}
	if broken != nil {
		in = io.MultiReader(in, iotest.ErrReader(broken))
	}
	r = csv.NewReader(in)
	r.Comma, r.TrimLeadingSpace = comma, comma != '\t'
	if _, err := r.Read(); err != nil {
		return nil, c.recordError(0, err)
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, c.recordError(len(record), err)
		}
		var row strings.Builder
		for _, cell := range record {
			v, kind := ParseCell(cell)
			fmt.Fprintf(&row, "%x %d %q, ", math.Float64bits(v), kind, cell)
		}
		rows = append(rows, row.String())
	}
}

func bufferedReader(plain []byte, broken error) *bufio.Reader {
	if broken == nil {
		return bufio.NewReader(bytes.NewReader(plain))
	}
	return bufio.NewReader(io.MultiReader(bytes.NewReader(plain), iotest.ErrReader(broken)))
}

// quickly reads what plainly does by a csvReader, its columns from the last to the first.
func quickly(in io.Reader) (rows []string, err error) {
	r, err := CSV("stdin", io.NopCloser(in))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	d := len(r.Header())
	backwards := make([]int, d)
	for i := range backwards {
		backwards[i] = d - 1 - i
	}
	r.Select(backwards, backwards)
	values, kinds, labels := make([]float64, d), make([]Kind, d), make([]string, d)
	for {
		if err := r.Next(values, kinds, labels); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		var row strings.Builder
		for i := d - 1; i >= 0; i-- {
			fmt.Fprintf(&row, "%x %d %q, ", math.Float64bits(values[i]), kinds[i], labels[i])
		}
		rows = append(rows, row.String())
	}
}

// nastyCells are cells and parts of cells at which readers of numbers, cells and lines differ.
var nastyCells = strings.Split("1|-2.5|+3|.5|5.|-.|+|-|.|e5|1e|1e+|1e5|1E-5|1e22|1e23|1e-22|1e-23|9007199254740992|9007199254740993|9007199254740991e22|"+
	"123456789012345678901|0000000000000000000000012|0.00000000000000000000000012|1e400|-1e400|1e-320|4.9e-324|2e-324|1e0000000005|1e1234|-0|+0.0|-0e0|0e999|"+
	"12345678|123456789|1234567.8|12345678.12345678|0.1|.1e1|1.7976931348623157e308|179769313486231580000|8.5e15e1|1.2.3|1-2|--1|0x1p-2|1_000|1;5|NA|NaN|-nan|inf|"+
	"+Infinity|null||  | 7 |\t8|\u00a09|\x85|\u00859|caf\xe9|größe|x\x00|\"1\"|\" 2 \"|\"a,b\"|\"a\nb\"|\"a\r\nb\"|\"\"|\"\"\"\"|\"x|x\"y|\r|1\r|2\r\r|::|/5|1:|//|٣", "|")

// nasty is a text that is hardly ever sound.
func nasty(rng *rand.Rand, quotes bool) []byte {
	var b strings.Builder
	d := 1 + rng.IntN(4)
	ends := []string{"\n", "\n", "\n", "\r\n", "\n\n", "\r\n\r\n"}
	if rng.IntN(8) == 0 {
		b.WriteString(ends[rng.IntN(len(ends))])
	}
	b.WriteString(strings.Join([]string{"a", " b", "\"c\"", "d "}[:d], ",") + ends[rng.IntN(4)])
	for range rng.IntN(12) {
		for j := range d {
			cell := nastyCells[rng.IntN(len(nastyCells))]
			switch rng.IntN(3) {
			case 0:
				cell = strconv.FormatFloat(rng.NormFloat64()*math.Pow(10, float64(rng.IntN(40)-20)), 'g', 1+rng.IntN(18), 64)
			case 1:
				cell = strconv.FormatFloat(rng.NormFloat64()*1000, 'f', rng.IntN(12), 64)
			}
			if !quotes {
				cell = strings.ReplaceAll(cell, "\"", "")
			}
			if b.WriteString(cell); j < d-1 || rng.IntN(60) == 0 {
				b.WriteByte(',')
			}
		}
		b.WriteString(ends[rng.IntN(len(ends))])
	}
	return []byte(b.String()[:b.Len()-rng.IntN(2)*rng.IntN(min(4, b.Len()))])
}

// same fails unless a text is read alike by both, in pieces of any size.
func same(t *testing.T, text []byte) {
	t.Helper()
	want, wantErr := plainly(text)
	for name, in := range map[string]io.Reader{"whole": bytes.NewReader(text), "halves": iotest.HalfReader(bytes.NewReader(text)),
		"bytes": iotest.OneByteReader(bytes.NewReader(text)), "with EOF": iotest.DataErrReader(bytes.NewReader(text))} {
		got, err := quickly(in)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s of %q: error %v, want %v", name, text, err, wantErr)
		}
		if err != nil {
			continue // no row before it is used
		}
		if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
			t.Fatalf("%s of %q: got\n%s\nwant\n%s", name, text, g, w)
		}
	}
}

// TestTwins: rows, values in every bit, texts and errors are those of encoding/csv and strconv.
func TestTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	encoders := []func([]byte) []byte{
		func(text []byte) []byte { return append([]byte("\ufeff"), text...) },
		func(text []byte) []byte { return pack(t, string(text)) },
		func(text []byte) []byte { packed := pack(t, string(text)); return packed[:len(packed)-1-rng.IntN(12)] },
		func(text []byte) []byte {
			b, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().Bytes(text)
			if err != nil {
				return text
			}
			return b
		},
	}
	sound := 0
	for i := range 6000 {
		text := nasty(rng, i%3 == 0)
		if i%10 < len(encoders) {
			text = encoders[i%10](text)
		}
		same(t, text)
		if rows, err := plainly(text); err == nil && len(rows) > 2 {
			sound++
		}
	}
	if sound < 500 {
		t.Errorf("only %d of the texts have rows and no error", sound)
	}
}

// FuzzTwins: the same for any text.
func FuzzTwins(f *testing.F) {
	for _, cell := range nastyCells {
		f.Add([]byte("a,b\n" + cell + ",1\n2," + cell + "\n"))
	}
	for _, seed := range []string{"a\n\n1\n\n", "a\n\r\n\r1\r\n\r", "a\n\"\"\n\n\n", "\r\r\na\n1\n", "a\n1\n\"\n\n\"\n\n2\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { same(t, text) })
}

// TestEmptiedCell: whatever cell of a table of one column is emptied, n stays: replace-one makes it
// public.
func TestEmptiedCell(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		for _, quoted := range []string{"", "\"9\"" + end} {
			cells := []string{"1", "", "2.5", "NA", "3", "", ""}
			for i := range cells {
				left := append([]string(nil), cells...)
				left[i] = ""
				count := func(cells []string) int {
					rows, err := quickly(strings.NewReader("a" + end + quoted + strings.Join(cells, end) + end))
					if err != nil {
						t.Fatal(err)
					}
					return len(rows)
				}
				if before, after := count(cells), count(left); before != after {
					t.Errorf("cell %d, emptied, changes the number of rows from %d to %d", i, before, after)
				}
			}
		}
	}
}
