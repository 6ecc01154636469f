package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gauze-dp/gauze/source"
)

// cell returns a value as the number that CSV of the same table would have: the float64 nearest to
// its decimal number, or to the shortest decimal that names it.
func (l *leaf) cell(v *values, i int) (float64, source.Kind) {
	switch {
	case l.means == decimal:
		return l.decimalCell(v, i)
	case l.means == half:
		return source.Cell(halfOf(binary.LittleEndian.Uint16(v.at(i))))
	}
	switch l.physical {
	case format.Boolean:
		return float64(v.bits[i/8] >> (i % 8) & 1), source.Number
	case format.Double:
		return source.Cell(v.doubles[i])
	case format.Float:
		return source.Cell(source.Widen(v.floats[i]))
	case format.Int32:
		if l.means == unsigned {
			return float64(uint32(v.int32s[i])), source.Number
		}
		return float64(v.int32s[i]), source.Number
	case format.Int64:
		if l.means == unsigned {
			return float64(uint64(v.int64s[i])), source.Number
		}
		return float64(v.int64s[i]), source.Number
	}
	return source.ParseCell(string(v.at(i)))
}

// exactInteger and exactPower bound the whole numbers, and the powers of ten, that are all float64:
// then one division is rounded once, as the decimal text is.
const (
	exactInteger = 1 << 53
	exactPower   = 22
)

var powers = func() (p [exactPower + 1]float64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

func (l *leaf) decimalCell(v *values, i int) (float64, source.Kind) {
	var u int64
	switch l.physical {
	case format.Int32:
		u = int64(v.int32s[i])
	case format.Int64:
		u = v.int64s[i]
	default:
		return source.ParseCell(whole(v.at(i)).String() + "e-" + strconv.Itoa(l.scale))
	}
	if -exactInteger <= u && u <= exactInteger && 0 <= l.scale && l.scale <= exactPower {
		return float64(u) / powers[l.scale], source.Number
	}
	return source.ParseCell(strconv.FormatInt(u, 10) + "e-" + strconv.Itoa(l.scale))
}

// text returns a value as people write it: persons and groups are distinguished by it.
func (l *leaf) text(v *values, i int) string {
	switch l.physical {
	case format.Boolean:
		return strconv.FormatBool(v.bits[i/8]>>(i%8)&1 == 1)
	case format.Int96:
		return oldInstant(v.int96s[i]).Format(time.RFC3339Nano)
	case format.Double:
		return strconv.FormatFloat(v.doubles[i], 'f', -1, 64)
	case format.Float:
		return strconv.FormatFloat(float64(v.floats[i]), 'f', -1, 32)
	case format.Int32:
		return l.wholeText(int64(v.int32s[i]), int64(uint32(v.int32s[i])))
	case format.Int64:
		return l.wholeText(v.int64s[i], v.int64s[i])
	}
	switch b := v.at(i); {
	case l.means == decimal:
		return pointed(whole(b).String(), l.scale)
	case l.means == half:
		return strconv.FormatFloat(halfOf(binary.LittleEndian.Uint16(b)), 'f', -1, 64)
	case l.means == uuid && len(b) == 16:
		h := hex.EncodeToString(b)
		return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	default:
		return string(b)
	}
}

// wholeText returns the meaning of a whole number as text; positive is the same one without a sign.
func (l *leaf) wholeText(u, positive int64) string {
	switch l.means {
	case unsigned:
		return strconv.FormatUint(uint64(positive), 10)
	case decimal:
		return pointed(strconv.FormatInt(u, 10), l.scale)
	case day:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(u)).Format(time.DateOnly)
	case clock:
		return time.Unix(0, 0).UTC().Add(time.Duration(u) * l.unit).Format("15:04:05.999999999")
	case instant:
		per := int64(time.Second / max(l.unit, 1))
		seconds := u / per
		if u%per < 0 {
			seconds--
		}
		return time.Unix(seconds, (u-seconds*per)*int64(l.unit)).UTC().Format(time.RFC3339Nano)
	}
	return strconv.FormatInt(u, 10)
}

// pointed returns a whole number of 10^-scale as text.
func pointed(digits string, scale int) string {
	digits, negative := strings.CutPrefix(digits, "-")
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// oldInstant returns the time of a count of nanoseconds of a day and the day's Julian number.
func oldInstant(v deprecated.Int96) time.Time {
	const of1970 = 2440588
	nanoseconds := int64(v[0]) | int64(v[1])<<32
	return time.Unix((int64(v[2])-of1970)*int64(24*time.Hour/time.Second), nanoseconds).UTC()
}

// halfOf returns the number of a float of 16 bits.
func halfOf(bits uint16) float64 {
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction > 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// whole returns a whole number in two's complement, the highest byte first.
func whole(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 1<<7 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}
