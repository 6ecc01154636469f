//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "vector_constants.h"

// The assembly of the functions in vector.go: each takes its arguments into registers here and jumps
// to the body that path names, which follows twice, compiled from vector_amd64.h for registers of
// eight rows (AVX-512, path 2) and of four (AVX2, path 1), or to the Go form, which finds them where
// they were.
//
// The bodies assume what Go sets: rounding to nearest, subnormals kept (neither FTZ nor DAZ in
// MXCSR). Columns are COLUMN bytes; a body is one panel's work, so it returns in microseconds, and
// ends with VZEROUPPER.

#define COLUMN 384

// func load(x []Column, rows, shift []float64, n int)
//
// loadGo, four rows by four columns at a time, for both paths; the last four columns may overlap the
// ones before, and fewer than four, and what is left of the rows, go one by one. Rows are read in
// the order in which they lie, and as they go those of the next panel are asked from memory (a
// prefetch of what is not there does nothing). Asked for all at once they are waited for; without,
// scans that compute much for a row, as of several components, take a tenth longer.
//
// DI x, R9 columns, SI rows BX.., R8 bytes of a row, R12 of three, DX shift, CX n
TEXT ·load(SB), NOSPLIT, $0-80
	CMPB ·path(SB), $0
	JNE  avx2
	JMP  ·loadGo(SB)

avx2:
	MOVQ x_base+0(FP), DI
	MOVQ x_len+8(FP), R9
	MOVQ rows_base+24(FP), SI
	MOVQ rows_len+32(FP), AX
	MOVQ shift_base+48(FP), DX
	MOVQ n+72(FP), CX
	LEAQ (R9*8), R8
	LEAQ (R8)(R8*2), R12
	XORQ BX, BX
	CMPQ R9, $4
	JLT  rest
	SUBQ $3, CX

four:
	CMPQ BX, CX
	JGE  left
	LEAQ (SI)(AX*8), R15               // a panel later
	MOVQ SI, R10                       // rows BX..BX+3 from the column on
	LEAQ (DI)(BX*8), R11               // x there
	MOVQ DX, R13                       // shift there
	MOVQ R9, R14                       // columns left

tile:                                  // transposed
	VMOVUPD (R13), Y8
	VMOVUPD (R10), Y0
	VMOVUPD (R10)(R8*1), Y1
	VMOVUPD (R10)(R8*2), Y2
	VMOVUPD (R10)(R12*1), Y3
	PREFETCHT1 (R15)
	PREFETCHT1 64(R15)
	ADDQ $128, R15
	VSUBPD Y8, Y0, Y0
	VSUBPD Y8, Y1, Y1
	VSUBPD Y8, Y2, Y2
	VSUBPD Y8, Y3, Y3
	VUNPCKLPD Y1, Y0, Y4
	VUNPCKHPD Y1, Y0, Y5
	VUNPCKLPD Y3, Y2, Y6
	VUNPCKHPD Y3, Y2, Y7
	VPERM2F128 $0x20, Y6, Y4, Y0
	VPERM2F128 $0x20, Y7, Y5, Y1
	VPERM2F128 $0x31, Y6, Y4, Y2
	VPERM2F128 $0x31, Y7, Y5, Y3
	VMOVUPD Y0, (R11)
	VMOVUPD Y1, COLUMN(R11)
	VMOVUPD Y2, (2*COLUMN)(R11)
	VMOVUPD Y3, (3*COLUMN)(R11)
	ADDQ $32, R10
	ADDQ $32, R13
	ADDQ $(4*COLUMN), R11
	SUBQ $4, R14
	JEQ  next
	CMPQ R14, $4
	JGE  tile
	LEAQ -32(R10)(R14*8), R10          // the last four
	LEAQ -32(R13)(R14*8), R13
	SUBQ $4, R14
	IMUL3Q $COLUMN, R14, R14
	ADDQ R14, R11
	MOVQ $4, R14
	JMP  tile

next:
	LEAQ (SI)(R8*4), SI
	ADDQ $4, BX
	JMP  four

left:
	ADDQ $3, CX

rest:                                  // rows BX.. of every column
	CMPQ BX, $(COLUMN/8)
	JEQ  done

column:
	MOVQ SI, R10
	MOVQ BX, R12
	JMP  begin

row:
	VMOVSD (R10), X0
	VSUBSD (DX), X0, X0
	VMOVSD X0, (DI)(R12*8)
	ADDQ R8, R10
	INCQ R12

begin:
	CMPQ R12, CX
	JLT  row
	MOVQ $0x7ff8000000000001, AX
	JMP  full

null:
	MOVQ AX, (DI)(R12*8)
	INCQ R12

full:
	CMPQ R12, $(COLUMN/8)
	JLT  null
	ADDQ $8, SI
	ADDQ $8, DX
	ADDQ $COLUMN, DI
	DECQ R9
	JNE  column

done:
	VZEROUPPER
	RET

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
	MOVQ Map_first(BX), R11
	MOVQ Map_w(BX), R9
	MOVQ (Map_w+8)(BX), R10
	LEAQ -1(R10), AX
	CMPQ AX, $16
	JCC  any                           // none, or more coordinates than there is room for
	XORQ CX, CX

triangle:                              // w_i begins at column 0 and ends at i
	CMPQ (R11)(CX*8), $0
	JNE  any
	INCQ CX
	CMPQ 8(R9), CX
	JNE  any
	ADDQ $24, R9
	CMPQ CX, R10
	JLT  triangle
	JMP  triangle512<>(SB)

any:
	JMP apply512<>(SB)

// The difference of column j in d, of eight rows, to loaded if it is the last; the same where it is in x
// already; and the product of its entry in w_i with d, added to Z0.
#define LESSOF(j, d) \
	MOVQ (8*j)(R11), AX; \
	IMUL3Q $COLUMN, AX, AX; \
	VMOVUPD (DX)(AX*1), d; \
	VSUBPD.BCST (8*j)(R9), d, d; \
	CMPQ R10, $(j+1); \
	JEQ  loaded

#define SAME(j, d) \
	VMOVUPD (j*COLUMN)(R12), d; \
	CMPQ R10, $(j+1); \
	JEQ  loaded

#define ENTRY(j, d) \
	VMULPD.BCST (8*j)(AX), d, Z1; \
	VADDPD Z1, Z0, Z0

// The entries up to column j of w_i, which AX is set to, and what follows the last one, that of column i.
#define BEGIN(i) \
	MOVQ (24*i)(CX), AX; \
	VMULPD.BCST (AX), Z16, Z1; \
	VADDPD Z1, Z12, Z0

#define END(i) \
	VMOVUPD Z0, (i*COLUMN)(DI); \
	VMULPD Z0, Z0, Z1; \
	VADDPD Z1, Z13, Z13; \
	CMPQ R10, $(i+1); \
	JEQ  finished

#define UPTO1 ENTRY(1, Z17)
#define UPTO2 UPTO1; ENTRY(2, Z18)
#define UPTO3 UPTO2; ENTRY(3, Z19)
#define UPTO4 UPTO3; ENTRY(4, Z20)
#define UPTO5 UPTO4; ENTRY(5, Z21)
#define UPTO6 UPTO5; ENTRY(6, Z22)
#define UPTO7 UPTO6; ENTRY(7, Z23)
#define UPTO8 UPTO7; ENTRY(8, Z24)
#define UPTO9 UPTO8; ENTRY(9, Z25)
#define UPTO10 UPTO9; ENTRY(10, Z26)
#define UPTO11 UPTO10; ENTRY(11, Z27)
#define UPTO12 UPTO11; ENTRY(12, Z28)
#define UPTO13 UPTO12; ENTRY(13, Z29)
#define UPTO14 UPTO13; ENTRY(14, Z30)
#define UPTO15 UPTO14; ENTRY(15, Z31)

// applyGo for lower triangles of at most 16 coordinates, eight rows at a time, whose differences stay in
// Z16 .. Z31: nothing is written but z.
//
// DI z, SI norm2, DX x, BX m, R10 coordinates, R8 bytes of rows that are left; CX w, R9 center, R11
// columns, R12 diff, Z12 zeros, Z13 norm2
TEXT triangle512<>(SB), NOSPLIT, $0
	MOVQ Map_columns(BX), R11
	MOVQ Map_center(BX), R9
	MOVQ Map_diff(BX), R12
	MOVQ Map_w(BX), CX
	MOVQ $COLUMN, R8
	VPXORQ Z12, Z12, Z12

block:
	VMOVUPD (DX), Z13                  // NaN where x_0 is, else 0: see NAN
	VMINPD Z13, Z12, Z13
	VMAXPD Z13, Z12, Z13
	VADDPD Z13, Z12, Z13
	CMPQ (Map_center+8)(BX), $0
	JEQ  subtracted
	LESSOF(0, Z16)
	LESSOF(1, Z17)
	LESSOF(2, Z18)
	LESSOF(3, Z19)
	LESSOF(4, Z20)
	LESSOF(5, Z21)
	LESSOF(6, Z22)
	LESSOF(7, Z23)
	LESSOF(8, Z24)
	LESSOF(9, Z25)
	LESSOF(10, Z26)
	LESSOF(11, Z27)
	LESSOF(12, Z28)
	LESSOF(13, Z29)
	LESSOF(14, Z30)
	LESSOF(15, Z31)

subtracted:
	SAME(0, Z16)
	SAME(1, Z17)
	SAME(2, Z18)
	SAME(3, Z19)
	SAME(4, Z20)
	SAME(5, Z21)
	SAME(6, Z22)
	SAME(7, Z23)
	SAME(8, Z24)
	SAME(9, Z25)
	SAME(10, Z26)
	SAME(11, Z27)
	SAME(12, Z28)
	SAME(13, Z29)
	SAME(14, Z30)
	SAME(15, Z31)

loaded:
	BEGIN(0)
	END(0)
	BEGIN(1)
	UPTO1
	END(1)
	BEGIN(2)
	UPTO2
	END(2)
	BEGIN(3)
	UPTO3
	END(3)
	BEGIN(4)
	UPTO4
	END(4)
	BEGIN(5)
	UPTO5
	END(5)
	BEGIN(6)
	UPTO6
	END(6)
	BEGIN(7)
	UPTO7
	END(7)
	BEGIN(8)
	UPTO8
	END(8)
	BEGIN(9)
	UPTO9
	END(9)
	BEGIN(10)
	UPTO10
	END(10)
	BEGIN(11)
	UPTO11
	END(11)
	BEGIN(12)
	UPTO12
	END(12)
	BEGIN(13)
	UPTO13
	END(13)
	BEGIN(14)
	UPTO14
	END(14)
	BEGIN(15)
	UPTO15
	END(15)

finished:
	VMOVUPD Z13, (SI)
	ADDQ $64, SI
	ADDQ $64, DI
	ADDQ $64, DX
	ADDQ $64, R12
	SUBQ $64, R8
	JNE  block
	VZEROUPPER
	RET

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

// func Weigh(h0, factor, share, norm2 *Column, scale, lift, radius, least float64)
TEXT ·Weigh(SB), NOSPLIT, $0-64
	MOVQ  h0+0(FP), DI
	MOVQ  factor+8(FP), SI
	MOVQ  share+16(FP), DX
	MOVQ  norm2+24(FP), BX
	MOVSD scale+32(FP), X0
	MOVSD lift+40(FP), X1
	MOVSD radius+48(FP), X2
	MOVSD least+56(FP), X3
	CMPB  ·path(SB), $1
	JEQ   avx2
	JHI   avx512
	JMP   ·weighGo(SB)

avx2:
	JMP weigh2<>(SB)

avx512:
	JMP weigh512<>(SB)

// func Unit(h0, factor, norm2 *Column, lift, scale float64) (odd uint64)
TEXT ·Unit(SB), NOSPLIT, $0-48
	MOVQ  h0+0(FP), DI
	MOVQ  factor+8(FP), SI
	MOVQ  norm2+16(FP), DX
	MOVSD lift+24(FP), X0
	MOVSD scale+32(FP), X1
	LEAQ  odd+40(FP), R13
	CMPB  ·path(SB), $1
	JEQ   avx2
	JHI   avx512
	JMP   ·unitGo(SB)

avx2:
	JMP unit2<>(SB)

avx512:
	JMP unit512<>(SB)

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

// func Shares(share, norm2 []Column, logWeight []float64, best, total *Column, divided bool)
TEXT ·Shares(SB), NOSPLIT, $0-89
	MOVQ share_base+0(FP), DI
	MOVQ norm2_base+24(FP), SI
	MOVQ logWeight_base+48(FP), DX
	MOVQ logWeight_len+56(FP), R9
	MOVQ best+72(FP), BX
	MOVQ total+80(FP), R13
	MOVBLZX divided+88(FP), R14
	CMPB ·path(SB), $1
	JEQ  avx2
	JHI  avx512
	JMP  ·sharesGo(SB)

avx2:
	JMP shares2<>(SB)

avx512:
	JMP shares512<>(SB)

// func Closest(cell *[Rows]int, score, norm2 *Column, logWeight, radius2 float64, own int)
TEXT ·Closest(SB), NOSPLIT, $0-48
	MOVQ  cell+0(FP), DI
	MOVQ  score+8(FP), SI
	MOVQ  norm2+16(FP), DX
	MOVSD logWeight+24(FP), X0
	MOVSD radius2+32(FP), X1
	MOVQ  own+40(FP), X2
	CMPB  ·path(SB), $1
	JEQ   avx2
	JHI   avx512
	JMP   ·closestGo(SB)

avx2:
	JMP closest2<>(SB)

avx512:
	JMP closest512<>(SB)

// func Live(share, total, less *Column, slope, base, least float64) (live uint64)
TEXT ·Live(SB), NOSPLIT, $0-56
	MOVQ  share+0(FP), DI
	MOVQ  total+8(FP), SI
	MOVQ  less+16(FP), DX
	MOVSD slope+24(FP), X0
	MOVSD base+32(FP), X1
	MOVSD least+40(FP), X2
	LEAQ  live+48(FP), R13
	CMPB  ·path(SB), $1
	JEQ   avx2
	JHI   avx512
	JMP   ·liveGo(SB)

avx2:
	JMP live2<>(SB)

avx512:
	JMP live512<>(SB)

// func Keep(to, from []*Column, at int, rows uint64) (rest uint64)
//
// keepGo for path 2, eight rows of every column at a time: K1 which of them, no more than there is
// room for, K2 as many of the first.
TEXT ·Keep(SB), NOSPLIT, $0-72
	CMPB ·path(SB), $2
	JEQ  avx512
	JMP  ·keepGo(SB)

avx512:
	MOVQ to_base+0(FP), DI
	MOVQ from_base+24(FP), SI
	MOVQ from_len+32(FP), R9
	MOVQ at+48(FP), R10
	MOVQ rows+56(FP), R11
	XORQ R8, R8                        // the first of the eight

eight:
	SHRXQ R8, R11, AX
	MOVBLZX AX, AX
	MOVL $(COLUMN/8), BX
	SUBQ R10, BX
	MOVL $1, CX
	SHLXQ BX, CX, CX
	DECQ CX                            // as many bits as there is room
	PDEPQ AX, CX, AX
	TESTL AX, AX
	JEQ  next
	SHLXQ R8, AX, CX
	XORQ CX, R11
	KMOVB AX, K1
	POPCNTQ AX, BX
	MOVL $1, CX
	SHLXQ BX, CX, CX
	DECQ CX
	KMOVB CX, K2
	XORQ CX, CX

column:
	MOVQ (SI)(CX*8), R12
	MOVQ (DI)(CX*8), R13
	VMOVUPD (R12)(R8*8), Z0
	VCOMPRESSPD.Z Z0, K1, Z0
	VMOVUPD Z0, K2, (R13)(R10*8)
	INCQ CX
	CMPQ CX, R9
	JLT  column
	ADDQ BX, R10

next:
	ADDQ $8, R8
	CMPQ R8, $(COLUMN/8)
	JLT  eight
	MOVQ R11, rest+64(FP)
	VZEROUPPER
	RET

// THREE runs op on three neighbouring registers' rows at p: op(their place, register).
#define THREE(op, p, a, b, c) \
	op((0*WIDTH)(p), a); \
	op((1*WIDTH)(p), b); \
	op((2*WIDTH)(p), c)

#define STORE(p, v) VMOVUPD v, p

// v = p - V6
#define LESS(p, v) VMOVUPD p, v; VSUBPD V6, v, v

// v = NaN where p is NaN, else 0. Minimum and maximum give their second operand (the first as Go
// writes it) if one is NaN: min(0, v) <= 0, max(0, that) is 0 or -0, to which 0 is added. V6 = 0.
#define NAN(p, v) VMOVUPD p, v; VMINPD v, V6, v; VMAXPD v, V6, v; VADDPD v, V6, v

// The differences at R12 times the factor at w are added to a, b and c, rounded twice; and on to the
// next.
#define ADD(w, a, b, c) \
	VBROADCASTSD (w), V6; \
	VMULPD (0*WIDTH)(R12), V6, V7; \
	VMULPD (1*WIDTH)(R12), V6, V8; \
	VMULPD (2*WIDTH)(R12), V6, V9; \
	VADDPD V7, a, a; \
	VADDPD V8, b, b; \
	VADDPD V9, c, c; \
	ADDQ $8, w; \
	ADDQ $COLUMN, R12

// V13 .. V15, norm2, and the squares of a, b and c.
#define SQUARES(a, b, c) \
	VMULPD a, a, V7; \
	VMULPD b, b, V8; \
	VMULPD c, c, V9; \
	VADDPD V7, V13, V13; \
	VADDPD V8, V14, V14; \
	VADDPD V9, V15, V15

// v = s (1 + y c ..), one term of the series: V12 = 1 + (V11 c) V12, V7 = 1.
#define TERM(c) \
	VBROADCASTSD taylor<>+c(SB), V13; \
	VMULPD V13, V11, V13; \
	VMULPD V12, V13, V12; \
	VADDPD V7, V12, V12

#define GREATER $0x1e
#define ATMOST $0x12
#define ATLEAST $0x1d
#define UNEQUAL $4

// SELECT: out = yes where a op b, else no (for NaN too). NONE: to label if a > b nowhere. MASK: all
// ones where a is not b (NaN is not), else zeros. BITS: where a op b. ALIKE: to label if a is b
// everywhere.
#define WIDTH 64
#define ZERO(v) VPXORQ v, v, v
#define SELECT(op, a, b, yes, no, out) VCMPPD op, b, a, K1; VBLENDMPD yes, no, K1, out
#define NONE(a, b, label) VCMPPD GREATER, b, a, K1; KORTESTB K1, K1; JEQ label
#define MASK(a, b, out) VCMPPD UNEQUAL, b, a, K1; VPMOVM2Q K1, out
#define BITS(op, a, b, out) VCMPPD op, b, a, K1; KMOVB K1, out
#define ALIKE(a, b, label) VCMPPD UNEQUAL, b, a, K1; KORTESTB K1, K1; JEQ label
#define APPLY apply512
#define PRODUCTS products512
#define ROUND round512
#define WEIGH weigh512
#define UNIT unit512
#define LIVE live512
#define SHARES shares512
#define CLOSEST closest512
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
#undef MASK
#undef BITS
#undef ALIKE
#undef APPLY
#undef PRODUCTS
#undef ROUND
#undef WEIGH
#undef UNIT
#undef LIVE
#undef SHARES
#undef CLOSEST
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
#define SELECT(op, a, b, yes, no, out) VCMPPD op, b, a, V15; VBLENDVPD V15, yes, no, out
#define NONE(a, b, label) VCMPPD GREATER, b, a, V15; VMOVMSKPD V15, AX; TESTL AX, AX; JEQ label
#define MASK(a, b, out) VCMPPD UNEQUAL, b, a, out
#define BITS(op, a, b, out) VCMPPD op, b, a, V15; VMOVMSKPD V15, out
#define ALIKE(a, b, label) VCMPPD UNEQUAL, b, a, V15; VMOVMSKPD V15, AX; TESTL AX, AX; JEQ label
#define APPLY apply2
#define PRODUCTS products2
#define ROUND round2
#define WEIGH weigh2
#define UNIT unit2
#define LIVE live2
#define SHARES shares2
#define CLOSEST closest2
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
