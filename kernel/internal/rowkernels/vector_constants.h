// What the assembly of every machine reads; the numbers are those of ExpNegative and Nearest.

// 3<<51: adding and subtracting it rounds to an integer, ties to even (Nearest).
DATA constants<>+0(SB)/8, $0x4338000000000000
DATA constants<>+8(SB)/8, $0xfff0000000000000  // -Inf
DATA constants<>+16(SB)/8, $0x3fe0000000000000 // 1/2
DATA constants<>+24(SB)/8, $0xc039000000000000 // Far
DATA constants<>+32(SB)/8, $0x3ff71547652b82fe // 1/ln 2
DATA constants<>+40(SB)/8, $0x3fe62e42fefa39ef // ln 2
DATA constants<>+48(SB)/8, $1023               // the exponent of 1
DATA constants<>+56(SB)/8, $-1
DATA constants<>+64(SB)/8, $0x41f0000000000000 // GramBound
DATA constants<>+72(SB)/8, $0x7fefffffffffffff // MaxFloat64
DATA constants<>+80(SB)/8, $0x05cd0b15a491eb84 // what unitGo takes for lost digits
GLOBL constants<>(SB), RODATA|NOPTR, $88

// 1/11, 1/10, .. 1: ExpNegative's.
DATA taylor<>+0(SB)/8, $0x3fb745d1745d1746
DATA taylor<>+8(SB)/8, $0x3fb999999999999a
DATA taylor<>+16(SB)/8, $0x3fbc71c71c71c71c
DATA taylor<>+24(SB)/8, $0x3fc0000000000000
DATA taylor<>+32(SB)/8, $0x3fc2492492492492
DATA taylor<>+40(SB)/8, $0x3fc5555555555555
DATA taylor<>+48(SB)/8, $0x3fc999999999999a
DATA taylor<>+56(SB)/8, $0x3fd0000000000000
DATA taylor<>+64(SB)/8, $0x3fd5555555555555
DATA taylor<>+72(SB)/8, $0x3fe0000000000000
DATA taylor<>+80(SB)/8, $0x3ff0000000000000
GLOBL taylor<>(SB), RODATA|NOPTR, $88
