//go:build !purego

#include "textflag.h"

// The assembly of the functions in drawn.go, four lanes at a time; without AVX2 the Go form finds its
// arguments where they were. It assumes what Go sets: rounding to nearest, subnormals kept. Both
// return in microseconds, and end with VZEROUPPER.

#define LANES 128

DATA constants<>+0(SB)/8, $0x4086200000000000   // mostExp
DATA constants<>+8(SB)/8, $0xc086200000000000
DATA constants<>+16(SB)/8, $0x3ff71547652b82fe  // 1/ln 2
DATA constants<>+24(SB)/8, $0x4338000000000000  // 3<<51
DATA constants<>+32(SB)/8, $0x3fe62e42fee00000  // ln 2, of which a multiple is exact
DATA constants<>+40(SB)/8, $0x3dea39ef35793c76  // .. and the rest of it
DATA constants<>+48(SB)/8, $1023                // the exponent of 1
GLOBL constants<>(SB), RODATA|NOPTR, $56

// 1/13!, 1/12!, .. 1, 1.
DATA taylor<>+0(SB)/8, $0x3de6124613a86d09
DATA taylor<>+8(SB)/8, $0x3e21eed8eff8d898
DATA taylor<>+16(SB)/8, $0x3e5ae64567f544e4
DATA taylor<>+24(SB)/8, $0x3e927e4fb7789f5c
DATA taylor<>+32(SB)/8, $0x3ec71de3a556c734
DATA taylor<>+40(SB)/8, $0x3efa01a01a01a01a
DATA taylor<>+48(SB)/8, $0x3f2a01a01a01a01a
DATA taylor<>+56(SB)/8, $0x3f56c16c16c16c17
DATA taylor<>+64(SB)/8, $0x3f81111111111111
DATA taylor<>+72(SB)/8, $0x3fa5555555555555
DATA taylor<>+80(SB)/8, $0x3fc5555555555555
DATA taylor<>+88(SB)/8, $0x3fe0000000000000
DATA taylor<>+96(SB)/8, $0x3ff0000000000000
DATA taylor<>+104(SB)/8, $0x3ff0000000000000
GLOBL taylor<>(SB), RODATA|NOPTR, $112

// FOUR runs op on four neighbouring registers' lanes at p: op(their place, register).
#define FOUR(op, p, a, b, c, d) \
	op(0(p), a); \
	op(32(p), b); \
	op(64(p), c); \
	op(96(p), d)

#define LESS(p, v) VMOVUPD p, v; VSUBPD Y4, v, v
#define STORE(p, v) VMOVUPD v, p
#define TIMES(p, v) VMULPD p, Y4, v

// func square(out *lanes, x []lanes, w []float64, stride, rows int, mean []float64, off []lanes)
//
// DI out, SI x, DX row i of w, R9 its stride in bytes, R10 the rows left, AX the entries of this one, BX
// mean, R11 columns, R12 off; Y12 .. Y15 the total, Y0 .. Y3 z_i
TEXT ·square(SB), NOSPLIT, $0-120
	CMPB ·path(SB), $0
	JNE  avx2
	JMP  ·squareGo(SB)

avx2:
	MOVQ out+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ w_base+32(FP), DX
	MOVQ stride+56(FP), R9
	MOVQ rows+64(FP), R10
	MOVQ mean_base+72(FP), BX
	MOVQ mean_len+80(FP), R11
	MOVQ off_base+96(FP), R12
	SHLQ $3, R9
	MOVQ R11, AX
	SUBQ R10, AX
	INCQ AX
	MOVQ R12, CX

difference:
	VBROADCASTSD (BX), Y4
	FOUR(LESS, SI, Y0, Y1, Y2, Y3)
	FOUR(STORE, CX, Y0, Y1, Y2, Y3)
	ADDQ $8, BX
	ADDQ $LANES, SI
	ADDQ $LANES, CX
	DECQ R11
	JNE  difference
	VXORPD Y12, Y12, Y12
	VXORPD Y13, Y13, Y13
	VXORPD Y14, Y14, Y14
	VXORPD Y15, Y15, Y15

row:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	MOVQ R12, CX
	XORQ R13, R13

entry:
	VBROADCASTSD (DX)(R13*8), Y4
	FOUR(TIMES, CX, Y5, Y6, Y7, Y8)
	VADDPD Y5, Y0, Y0
	VADDPD Y6, Y1, Y1
	VADDPD Y7, Y2, Y2
	VADDPD Y8, Y3, Y3
	ADDQ $LANES, CX
	INCQ R13
	CMPQ R13, AX
	JLT  entry
	VMULPD Y0, Y0, Y0
	VMULPD Y1, Y1, Y1
	VMULPD Y2, Y2, Y2
	VMULPD Y3, Y3, Y3
	VADDPD Y0, Y12, Y12
	VADDPD Y1, Y13, Y13
	VADDPD Y2, Y14, Y14
	VADDPD Y3, Y15, Y15
	ADDQ R9, DX
	INCQ AX
	DECQ R10
	JNE  row
	FOUR(STORE, DI, Y12, Y13, Y14, Y15)
	VZEROUPPER
	RET

// One term of the series of two registers of lanes.
#define TERM(at) \
	VBROADCASTSD taylor<>+at(SB), Y8; \
	VMULPD Y4, Y6, Y6; \
	VMULPD Y5, Y7, Y7; \
	VADDPD Y8, Y6, Y6; \
	VADDPD Y8, Y7, Y7

// func exp(v *lanes)
//
// 2^k times the Taylor series of the rest y, |y| <= ln2/2. Y0, Y1 v, Y2, Y3 k in the last bits, Y4, Y5 y,
// Y6, Y7 the series. Minimum and maximum give their second operand (the first as Go writes it) if one is
// NaN.
TEXT ·exp(SB), NOSPLIT, $0-8
	CMPB ·path(SB), $0
	JNE  avx2
	JMP  ·expGo(SB)

avx2:
	MOVQ v+0(FP), DI
	VBROADCASTSD constants<>+0(SB), Y15
	VBROADCASTSD constants<>+8(SB), Y9
	VBROADCASTSD constants<>+16(SB), Y10
	VBROADCASTSD constants<>+24(SB), Y11
	VBROADCASTSD constants<>+32(SB), Y12
	VBROADCASTSD constants<>+40(SB), Y13
	VPBROADCASTQ constants<>+48(SB), Y14
	LEAQ LANES(DI), SI

lanes:
	VMINPD (DI), Y15, Y0
	VMINPD 32(DI), Y15, Y1
	VMAXPD Y0, Y9, Y0
	VMAXPD Y1, Y9, Y1
	VMULPD Y0, Y10, Y2
	VMULPD Y1, Y10, Y3
	VADDPD Y11, Y2, Y2
	VADDPD Y11, Y3, Y3
	VSUBPD Y11, Y2, Y4
	VSUBPD Y11, Y3, Y5
	VMULPD Y4, Y12, Y6
	VMULPD Y5, Y12, Y7
	VSUBPD Y6, Y0, Y0
	VSUBPD Y7, Y1, Y1
	VMULPD Y4, Y13, Y6
	VMULPD Y5, Y13, Y7
	VSUBPD Y6, Y0, Y4
	VSUBPD Y7, Y1, Y5
	VBROADCASTSD taylor<>+0(SB), Y6
	VMOVAPD Y6, Y7
	TERM(8)
	TERM(16)
	TERM(24)
	TERM(32)
	TERM(40)
	TERM(48)
	TERM(56)
	TERM(64)
	TERM(72)
	TERM(80)
	TERM(88)
	TERM(96)
	TERM(104)
	VPADDQ Y14, Y2, Y2
	VPADDQ Y14, Y3, Y3
	VPSLLQ $52, Y2, Y2
	VPSLLQ $52, Y3, Y3
	VMULPD Y2, Y6, Y6
	VMULPD Y3, Y7, Y7
	VMOVUPD Y6, (DI)
	VMOVUPD Y7, 32(DI)
	ADDQ $64, DI
	CMPQ DI, SI
	JLT  lanes
	VZEROUPPER
	RET
