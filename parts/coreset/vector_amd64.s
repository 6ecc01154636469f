//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The assembly of the functions in vector.go: each takes its arguments into registers here and jumps
// to the body that path names, which follows twice, compiled from vector_amd64.h for registers of
// eight lanes (AVX-512, path 2) and of four (AVX2, path 1), or to the Go form, which finds them where
// they were.
//
// The bodies assume what Go sets: rounding to nearest, subnormals kept (neither FTZ nor DAZ in
// MXCSR). A body is one panel's work, so it returns in microseconds, and ends with VZEROUPPER.

#define LANES (8*const_width)
#define PANEL (LANES*const_panel)

DATA constants<>+0(SB)/8, $0xfff0000000000000   // -Inf
DATA constants<>+8(SB)/8, $0xc03e000000000000   // negligible
DATA constants<>+16(SB)/8, $0x3ff71547652b82fe  // 1/ln 2
DATA constants<>+24(SB)/8, $0x4338000000000000  // 3<<51
DATA constants<>+32(SB)/8, $0x3fe62e42fefa39ef  // ln 2
DATA constants<>+40(SB)/8, $0x3fc0000000000000  // 1/8
DATA constants<>+48(SB)/8, $1023                // the exponent of 1
DATA constants<>+56(SB)/8, $0x3fe0000000000000  // 1/2
DATA constants<>+64(SB)/8, $0x3fe6a09e667f3bcd  // sqrt(2)/2
DATA constants<>+72(SB)/8, $0x4330000000000000  // 2^52
GLOBL constants<>(SB), RODATA|NOPTR, $80

// 1/720, 1/120, .. 1, 1: those of exp.
DATA taylor<>+0(SB)/8, $0x3f56c16c16c16c17
DATA taylor<>+8(SB)/8, $0x3f81111111111111
DATA taylor<>+16(SB)/8, $0x3fa5555555555555
DATA taylor<>+24(SB)/8, $0x3fc5555555555555
DATA taylor<>+32(SB)/8, $0x3fe0000000000000
DATA taylor<>+40(SB)/8, $0x3ff0000000000000
DATA taylor<>+48(SB)/8, $0x3ff0000000000000
GLOBL taylor<>(SB), RODATA|NOPTR, $56

// 1/15, 1/13, .. 1: those of log.
DATA odd<>+0(SB)/8, $0x3fb1111111111111
DATA odd<>+8(SB)/8, $0x3fb3b13b13b13b14
DATA odd<>+16(SB)/8, $0x3fb745d1745d1746
DATA odd<>+24(SB)/8, $0x3fbc71c71c71c71c
DATA odd<>+32(SB)/8, $0x3fc2492492492492
DATA odd<>+40(SB)/8, $0x3fc999999999999a
DATA odd<>+48(SB)/8, $0x3fd5555555555555
DATA odd<>+56(SB)/8, $0x3ff0000000000000
GLOBL odd<>(SB), RODATA|NOPTR, $64

// func shares(share [][panel]lanes, scale *[panel]lanes, x []block, parts []part, loglik *lanes, wide, score bool)
TEXT ·shares(SB), NOSPLIT, $0-90
	MOVQ share_base+0(FP), DI
	MOVQ scale+24(FP), SI
	MOVQ x_base+32(FP), DX
	MOVQ x_len+40(FP), R9
	MOVQ parts_base+56(FP), BX
	MOVQ parts_len+64(FP), R10
	MOVQ loglik+80(FP), R13
	MOVBLZX wide+88(FP), R15
	MOVBLZX score+89(FP), R14
	CMPB ·path(SB), $1
	JEQ  avx2
	JHI  avx512
	JMP  ·sharesGo(SB)

avx2:
	JMP shares2<>(SB)

avx512:
	JMP shares512<>(SB)

// func gather(to *[len(sums{})]lanes, share, scale *[panel]lanes, x []block, p *part)
TEXT ·gather(SB), NOSPLIT, $0-56
	MOVQ to+0(FP), DI
	MOVQ share+8(FP), SI
	MOVQ scale+16(FP), R12
	MOVQ x_base+24(FP), DX
	MOVQ x_len+32(FP), R9
	MOVQ p+48(FP), BX
	CMPB ·path(SB), $1
	JEQ  avx2
	JHI  avx512
	JMP  ·gatherGo(SB)

avx2:
	JMP gather2<>(SB)

avx512:
	JMP gather512<>(SB)

// The z of row a of the inverse, whose first entry is at w, before its last term: V8 += the
// difference d times the entry.
#define TERM(w, d) \
	VBROADCASTSD w, V9; \
	VMULPD d, V9, V9; \
	VADDPD V9, V8, V8

// V12 += V8^2
#define SQUARE \
	VMULPD V8, V8, V8; \
	VADDPD V8, V12, V12

// p = c + p y, one term of a series; c is spoilt.
#define SERIES(at, y, p, c) \
	VMULPD y, p, p; \
	VBROADCASTSD at, c; \
	VADDPD p, c, p

// d = x_a - from_a, for the block at R10 and the part at BX.
#define LESS(a, d) \
	VBROADCASTSD (part_mean+8*a)(BX), d; \
	VMOVUPD (block_at+LANES*a)(R10), V15; \
	VSUBPD d, V15, d

// to += g d
#define ADD(g, d, to) \
	VMULPD d, g, V15; \
	VADDPD V15, to, to

// Entry c of the sums to v, or back.
#define FETCH(c, v) VMOVUPD (LANES*c)(R14), v
#define STORE(c, v) VMOVUPD v, (LANES*c)(R14)

#define GREATER $0x1e

// SELECT: out = yes where a > b, else no (for NaN too). NONE: to label if a > b nowhere. EMPTY: to
// label if all of a is 0.
#define WIDTH 64
#define ZERO(v) VPXORQ v, v, v
#define SELECT(a, b, yes, no, out) VCMPPD GREATER, b, a, K1; VBLENDMPD yes, no, K1, out
#define NONE(a, b, label) VCMPPD GREATER, b, a, K1; KORTESTB K1, K1; JEQ label
#define EMPTY(a, label) VPTESTMQ a, a, K1; KORTESTB K1, K1; JEQ label
#define SHARES shares512
#define GATHER gather512
#define POR VPORQ
#define V0 Z0
#define V1 Z1
#define V2 Z2
#define V3 Z3
#define V4 Z4
#define V5 Z5
#define V6 Z6
#define V7 Z7
#define V8 Z8
#define V9 Z9
#define V10 Z10
#define V11 Z11
#define V12 Z12
#define V13 Z13
#define V14 Z14
#define V15 Z15
#include "vector_amd64.h"

#undef WIDTH
#undef ZERO
#undef SELECT
#undef NONE
#undef EMPTY
#undef SHARES
#undef GATHER
#undef POR
#undef V0
#undef V1
#undef V2
#undef V3
#undef V4
#undef V5
#undef V6
#undef V7
#undef V8
#undef V9
#undef V10
#undef V11
#undef V12
#undef V13
#undef V14
#undef V15

#define WIDTH 32
#define ZERO(v) VPXOR v, v, v
#define SELECT(a, b, yes, no, out) VCMPPD GREATER, b, a, V15; VBLENDVPD V15, yes, no, out
#define NONE(a, b, label) VCMPPD GREATER, b, a, V15; VMOVMSKPD V15, AX; TESTL AX, AX; JEQ label
#define EMPTY(a, label) VPTEST a, a; JEQ label
#define SHARES shares2
#define GATHER gather2
#define POR VPOR
#define V0 Y0
#define V1 Y1
#define V2 Y2
#define V3 Y3
#define V4 Y4
#define V5 Y5
#define V6 Y6
#define V7 Y7
#define V8 Y8
#define V9 Y9
#define V10 Y10
#define V11 Y11
#define V12 Y12
#define V13 Y13
#define V14 Y14
#define V15 Y15
#include "vector_amd64.h"
