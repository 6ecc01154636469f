package source

import "io"

// blankLines writes the empty cell of a blank line out as "".
//
// In a table of one column a blank line is a row whose only cell is missing, and a row must count
// whatever its cell holds: otherwise emptying one cell would change n, which replace-one makes
// public. The CSV reader skips blank lines, so they are made visible to it. In a wider table a
// blank line is no row.
type blankLines struct {
	src     io.Reader
	in      [4 << 10]byte
	buffer  []byte
	out     []byte // the part of buffer that is not handed over yet
	err     error
	atStart bool // of a line, outside quotes
	quoted  bool
	// a CR at the start of a line is held back until the next byte says whether the line is blank
	cr bool
}

// Read implements io.Reader.
func (b *blankLines) Read(p []byte) (int, error) {
	for len(b.out) == 0 && b.err == nil {
		var n int
		n, b.err = b.src.Read(b.in[:])
		b.buffer = b.buffer[:0]
		for _, c := range b.in[:n] {
			b.add(c)
		}
		if b.err != nil && b.cr {
			b.buffer, b.cr = append(b.buffer, '\r'), false
		}
		b.out = b.buffer
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	if n == 0 && len(p) > 0 {
		return 0, b.err
	}
	return n, nil
}

func (b *blankLines) add(c byte) {
	switch {
	case b.atStart && c == '\n':
		b.buffer = append(b.buffer, '"', '"')
		if b.cr {
			b.buffer = append(b.buffer, '\r')
		}
		b.cr = false
	case b.cr:
		b.buffer, b.cr = append(b.buffer, '\r'), false
	case b.atStart && c == '\r':
		b.cr = true
		return
	}
	if c == '"' {
		b.quoted = !b.quoted
	}
	b.buffer = append(b.buffer, c)
	b.atStart = c == '\n' && !b.quoted
}
