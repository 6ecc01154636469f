//go:build !purego

package lines

import "golang.org/x/sys/cpu"

// vectors says that the processor can run decimals.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// decimals reads cells of the line that ends at end, while they have a common form, and at most as
// many as cells has room for: decimals of up to 19 digits, of them up to 16 before a point and 16
// behind it, no plus sign, of at most 31 bytes before an exponent of at most two digits, so that
// the power of ten is not positive; empty ones; and text of at most 32 bytes without a quote. Cells
// has room for at least one, and the first begins in the line or at its end. It returns how many it
// read, and where the next cell begins. Their values are those of read and value, in every bit.
//
//go:noescape
func decimals(text []byte, from, end int, cells []cell) (n, next int)
