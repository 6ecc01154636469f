//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The assembly of the functions in vector.go: each takes its arguments into registers here and jumps
// to the body that path names, which follows twice, compiled from vector_amd64.h for registers of
// eight rows (AVX-512, path 2) and of four (AVX2, path 1), or to the Go form, which finds them where
// they were.
//
// The bodies assume what Go sets: rounding to nearest, subnormals kept (neither FTZ nor DAZ in
// MXCSR). Columns are COLUMN bytes; a body is one panel's work, so it returns in microseconds, and
// ends with VZEROUPPER.

#define COLUMN 384

// func apply(z []Column, norm2 *Column, x []Column, m *Map)
TEXT ·apply(SB), NOSPLIT, $0-64
	MOVQ z_base+0(FP), DI
	MOVQ norm2+24(FP), SI
	MOVQ x_base+32(FP), DX
	MOVQ m+56(FP), BX
	CMPB ·path(SB), $1
	JEQ  avx2
	JHI  avx512
	JMP  ·applyGo(SB)

avx2:
	JMP apply2<>(SB)

avx512:
	JMP apply512<>(SB)

// func products(tiles []tile, h []Column)
TEXT ·products(SB), NOSPLIT, $0-48
	MOVQ tiles_base+0(FP), DI
	MOVQ h_base+24(FP), SI
	MOVQ h_len+32(FP), R9
	CMPB ·path(SB), $1
	JEQ  avx2
	JHI  avx512
	JMP  ·productsGo(SB)

avx2:
	JMP products2<>(SB)

avx512:
	JMP products512<>(SB)

// func round(h []Column, factor, total *Column)
TEXT ·round(SB), NOSPLIT, $0-40
	MOVQ h_base+0(FP), DI
	MOVQ h_len+8(FP), R9
	MOVQ factor+24(FP), DX
	MOVQ total+32(FP), BX
	CMPB ·path(SB), $1
	JEQ  avx2
	JHI  avx512
	JMP  ·roundGo(SB)

avx2:
	JMP round2<>(SB)

avx512:
	JMP round512<>(SB)

// 3<<51: adding and subtracting it rounds to an integer, ties to even (Nearest).
DATA magic<>+0(SB)/8, $0x4338000000000000
GLOBL magic<>(SB), RODATA|NOPTR, $8

// six runs op on six neighbouring registers' rows at p: op(their place, accumulator, temporary).
#define SIX(op, p) \
	op((0*WIDTH)(p), V0, V7); \
	op((1*WIDTH)(p), V1, V8); \
	op((2*WIDTH)(p), V2, V9); \
	op((3*WIDTH)(p), V3, V7); \
	op((4*WIDTH)(p), V4, V8); \
	op((5*WIDTH)(p), V5, V9)

#define LOAD(p, v, t) VMOVUPD p, v
#define STORE(p, v, t) VMOVUPD v, p

// v = p - V6
#define LESS(p, v, t) VMOVUPD p, t; VSUBPD V6, t, v

// v += V6 p, rounded twice
#define DOT(p, v, t) VMULPD p, V6, t; VADDPD t, v, v

// v = NaN where v is NaN, else 0. Minimum and maximum give their second operand (the first as Go
// writes it) if one is NaN: min(0, v) <= 0, max(0, that) is 0 or -0, to which 0 is added. V6 = 0.
#define NAN(p, v, t) VMOVUPD p, t; VMINPD t, V6, t; VMAXPD t, V6, t; VADDPD t, V6, v

#define WIDTH 64
#define ZERO(v) VPXORQ v, v, v
#define APPLY apply512
#define PRODUCTS products512
#define ROUND round512
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
#undef APPLY
#undef PRODUCTS
#undef ROUND
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
#define APPLY apply2
#define PRODUCTS products2
#define ROUND round2
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
