package arrow

import (
	"encoding/base64"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/gauze-dp/gauze/source"
)

// missing reports whether a cell is missing.
func (c *column) missing(i int) bool {
	return c.kind == typeNull && c.index == nil || c.valid != nil && c.valid[i/8]>>(i%8)&1 == 0
}

// raw returns a cell's bits as a whole number.
func (c *column) raw(bits, i int) uint64 {
	switch bits {
	case 8:
		return uint64(c.data[i])
	case 16:
		return uint64(order.Uint16(c.data[2*i:]))
	case 32:
		return uint64(order.Uint32(c.data[4*i:]))
	case 64:
		return order.Uint64(c.data[8*i:])
	}
	panic(errDamaged)
}

// signed returns a cell that is a signed number of that many bits.
func (c *column) signed(bits, i int) int64 { return int64(c.raw(bits, i)<<(64-bits)) >> (64 - bits) }

// entry returns the number of a dictionary's value that a cell names; one that is negative, or
// beyond all, panics where it is used.
func (c *column) entry(i int) int {
	if c.index.unsigned {
		return int(c.raw(c.index.bits, i) & math.MaxInt)
	}
	return int(c.signed(c.index.bits, i) & math.MaxInt)
}

// cell returns a value as the number that CSV of the same table would have.
func (c *column) cell(i int) (float64, source.Kind) {
	switch {
	case c.missing(i):
		return 0, source.Missing
	case c.index != nil:
		return c.values.cell(c.entry(i))
	case c.kind == typeBool:
		return float64(c.data[i/8] >> (i % 8) & 1), source.Number
	case c.kind == typeInt && c.unsigned:
		return float64(c.raw(c.bits, i)), source.Number
	case c.kind == typeInt:
		return float64(c.signed(c.bits, i)), source.Number
	case c.kind == typeFloat && c.bits == 64:
		return source.Cell(math.Float64frombits(c.raw(64, i)))
	case c.kind == typeFloat && c.bits == 32:
		return source.Cell(source.Widen(math.Float32frombits(uint32(c.raw(32, i)))))
	case c.kind == typeFloat:
		return source.Cell(source.Half(uint16(c.raw(16, i))))
	case c.kind == typeDecimal: // rounded once, as its decimal text is
		return source.ParseCell(c.whole(i).String() + "e" + strconv.Itoa(-c.scale))
	}
	return source.ParseCell(c.text(i))
}

// whole returns a decimal without its point.
func (c *column) whole(i int) *big.Int {
	size := c.bits / 8
	b := slices.Clone(c.data[size*i : size*(i+1)])
	slices.Reverse(b)
	return source.Whole(b)
}

// bytes returns a cell of text, or of bytes.
func (c *column) bytes(i int) []byte {
	switch c.kind {
	case typeText, typeBinary:
		return c.data[order.Uint32(c.ends[4*i:]):order.Uint32(c.ends[4*i+4:])]
	case typeLargeText, typeLargeBinary:
		return c.data[order.Uint64(c.ends[8*i:]):order.Uint64(c.ends[8*i+8:])]
	}
	view := c.data[16*i : 16*i+16]
	size := int(order.Uint32(view))
	if size <= 12 {
		return view[4 : 4+size]
	}
	at := int(order.Uint32(view[12:]))
	return c.more[order.Uint32(view[8:])][at : at+size]
}

// text returns a value as people write it, "" if it is missing: persons and groups are
// distinguished by it.
func (c *column) text(i int) string {
	if c.missing(i) {
		return ""
	}
	if c.index != nil {
		return c.values.text(c.entry(i))
	}
	switch c.kind {
	case typeInt:
		if c.unsigned {
			return strconv.FormatUint(c.raw(c.bits, i), 10)
		}
		return strconv.FormatInt(c.signed(c.bits, i), 10)
	case typeFloat:
		bits := max(c.bits, 32)
		x := 0.0
		switch c.bits {
		case 64:
			x = math.Float64frombits(c.raw(64, i))
		case 32:
			x = float64(math.Float32frombits(uint32(c.raw(32, i))))
		default:
			x = source.Half(uint16(c.raw(16, i)))
		}
		return strconv.FormatFloat(x, 'f', -1, bits)
	case typeText, typeLargeText, typeTextView:
		return string(c.bytes(i))
	case typeBinary, typeLargeBinary, typeBinaryView:
		return base64.StdEncoding.EncodeToString(c.bytes(i))
	case typeBool:
		return strconv.FormatBool(c.data[i/8]>>(i%8)&1 == 1)
	case typeDecimal:
		return c.decimal(i)
	case typeDate, typeStamp, typeTime:
		return c.moment(i)
	case typeDuration:
		return strconv.FormatInt(c.signed(64, i), 10) + [...]string{"s", "ms", "us", "ns"}[c.unit]
	}
	panic(errDamaged) // a part of a table in one cell: whoever asks named the wrong column
}

// decimal returns a decimal with its point.
func (c *column) decimal(i int) string {
	x := c.whole(i)
	if c.scale <= 0 {
		return x.Mul(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-c.scale)), nil)).String()
	}
	return new(big.Rat).SetFrac(x, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.scale)), nil)).FloatString(c.scale)
}

// moment returns a date, a point in time in UTC, or a time of day.
func (c *column) moment(i int) string {
	n := c.signed(c.bits, i)
	unit := [...]int64{1, 1e3, 1e6, 1e9}[c.unit&3] // to a second
	of := func(seconds, rest int64) time.Time { return time.Unix(seconds, rest*(1e9/unit)).UTC() }
	layout := "2006-01-02"
	at := of(n/unit, n%unit)
	switch {
	case c.kind == typeDate && c.bits == 32:
		at = time.Unix(86400*n, 0).UTC()
	case c.kind == typeDate:
		at = time.UnixMilli(n).UTC()
	case c.kind == typeTime:
		layout = "15:04:05.999999999"
	case c.zoned:
		layout = time.RFC3339Nano
	default:
		layout = "2006-01-02T15:04:05.999999999"
	}
	return at.Format(layout)
}
