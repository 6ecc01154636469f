//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "vector_constants.h"

// The assembly of the functions in vector.go for registers of two rows (NEON, path 1). load,
// Unit, Live, Keep, Bins and Places are the Go form.
//
// Go's assembler knows no arithmetic on vectors of float64 but the fused one; the macros below are
// the instructions' words (Arm Architecture Reference Manual, C7.2), for two doubles, as the
// assembler orders operands: OP(m, n, d) is V_d = V_n op V_m. The bodies assume what Go sets in FPCR:
// rounding to nearest, subnormals kept. A body is one panel's work. Columns are COLUMN bytes.

#define COLUMN 384

#define FADD(m, n, d) WORD $(0x4e60d400 | (m)<<16 | (n)<<5 | (d))
#define FSUB(m, n, d) WORD $(0x4ee0d400 | (m)<<16 | (n)<<5 | (d))
#define FMUL(m, n, d) WORD $(0x6e60dc00 | (m)<<16 | (n)<<5 | (d))
#define FDIV(m, n, d) WORD $(0x6e60fc00 | (m)<<16 | (n)<<5 | (d))
#define FMLA(m, n, d) WORD $(0x4e60cc00 | (m)<<16 | (n)<<5 | (d))
#define ADD2(m, n, d) WORD $(0x4ee08400 | (m)<<16 | (n)<<5 | (d))
#define FSQRT(m, n, d) WORD $(0x6ee1f800 | (n)<<5 | (d))
// all ones where n = 0
#define FZERO(m, n, d) WORD $(0x4ee0d800 | (n)<<5 | (d))
// all ones where n = m, n > m, n >= m; zeros for NaN
#define FCMEQ(m, n, d) WORD $(0x4e60e400 | (m)<<16 | (n)<<5 | (d))
#define FCMGT(m, n, d) WORD $(0x6ee0e400 | (m)<<16 | (n)<<5 | (d))
#define FCMGE(m, n, d) WORD $(0x6e60e400 | (m)<<16 | (n)<<5 | (d))
// d = n and m; n xor m; n and not m; n where m, else as it was
#define AND(m, n, d) WORD $(0x4e201c00 | (m)<<16 | (n)<<5 | (d))
#define EOR(m, n, d) WORD $(0x6e201c00 | (m)<<16 | (n)<<5 | (d))
#define BIC(m, n, d) WORD $(0x4e601c00 | (m)<<16 | (n)<<5 | (d))
#define BIT(m, n, d) WORD $(0x6ea01c00 | (m)<<16 | (n)<<5 | (d))
// d = n; d = n << 52
#define MOV(m, n, d) WORD $(0x4ea01c00 | (n)<<16 | (n)<<5 | (d))
#define SHL52(m, n, d) WORD $(0x4f745400 | (n)<<5 | (d))

// op on four registers; m the same for all of them, or not. EIGHT and WITH8: on eight.
#define FOUR(op, m, n, d) op(m, n, d); op(m+1, n+1, d+1); op(m+2, n+2, d+2); op(m+3, n+3, d+3)
#define WITH(op, m, n, d) op(m, n, d); op(m, n+1, d+1); op(m, n+2, d+2); op(m, n+3, d+3)
#define EIGHT(op, m, n, d) FOUR(op, m, n, d); FOUR(op, m+4, n+4, d+4)
#define WITH8(op, m, n, d) WITH(op, m, n, d); WITH(op, m, n+4, d+4)

// eight registers, from or to p, which moves on by 128 bytes
#define LOAD0(p) VLD1.P 64(p), [V0.D2, V1.D2, V2.D2, V3.D2]; VLD1.P 64(p), [V4.D2, V5.D2, V6.D2, V7.D2]
#define LOAD16(p) VLD1.P 64(p), [V16.D2, V17.D2, V18.D2, V19.D2]; VLD1.P 64(p), [V20.D2, V21.D2, V22.D2, V23.D2]
#define STORE0(p) VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(p); VST1.P [V4.D2, V5.D2, V6.D2, V7.D2], 64(p)
#define STORE8(p) VST1.P [V8.D2, V9.D2, V10.D2, V11.D2], 64(p); VST1.P [V12.D2, V13.D2, V14.D2, V15.D2], 64(p)
#define STORE16(p) VST1.P [V16.D2, V17.D2, V18.D2, V19.D2], 64(p); VST1.P [V20.D2, V21.D2, V22.D2, V23.D2], 64(p)

// v = the constant at that place, twice
#define CONSTANT(place, v) MOVD constants<>+place(SB), R14; VDUP R14, v

// func load(x []Column, rows, shift []float64, n int)
TEXT ·load(SB), NOSPLIT|NOFRAME, $0-80
	B ·loadGo(SB)

// func Unit(h0, factor, norm2 *Column, lift, scale float64) (odd uint64)
TEXT ·Unit(SB), NOSPLIT|NOFRAME, $0-48
	B ·unitGo(SB)

// func Live(share, total, less *Column, slope, base, least float64) (live uint64)
TEXT ·Live(SB), NOSPLIT|NOFRAME, $0-56
	B ·liveGo(SB)

// func Keep(to, from []*Column, at int, rows uint64) (rest uint64)
TEXT ·Keep(SB), NOSPLIT|NOFRAME, $0-72
	B ·keepGo(SB)

// func Bins(at *[Rows]int, edges []float64, x *Column)
TEXT ·Bins(SB), NOSPLIT|NOFRAME, $0-40
	B ·binsGo(SB)

// func Places(at *[Rows]int, x *Column, from uint64, shift, bins int, distance bool)
TEXT ·Places(SB), NOSPLIT|NOFRAME, $0-41
	B ·placesGo(SB)

// func apply(z []Column, norm2 *Column, x []Column, m *Map)
//
// Sixteen rows at a time: V0.. sums, V8.. norm2, V16.. columns.
TEXT ·apply(SB), NOSPLIT|NOFRAME, $0-64
	MOVBU ·path(SB), R4
	CBNZ  R4, neon
	B     ·applyGo(SB)

neon:
	MOVD z_base+0(FP), R0
	MOVD norm2+24(FP), R1
	MOVD x_base+32(FP), R2
	MOVD m+56(FP), R3
	MOVD $COLUMN, R17
	MOVD $0, R4                         // the block's first row, in bytes

block:
	ADD  R4, R2, R5
	LOAD0(R5)
	EIGHT(FCMEQ, 0, 0, 8)
	EIGHT(BIC, 8, 0, 8)                 // norm2 = NaN where x_0 is NaN, else 0
	MOVD Map_diff(R3), R6
	ADD  R4, R6, R6                     // diff_j
	MOVD R6, R16
	MOVD Map_columns(R3), R7
	MOVD Map_center(R3), R8
	MOVD (Map_center+8)(R3), R9
	CBZ  R9, subtracted

subtract:                               // diff_j = x_columns(j) - center_j
	MOVD.P 8(R7), R5
	MADD R17, R2, R5, R5
	ADD  R4, R5, R5
	LOAD16(R5)
	MOVD.P 8(R8), R14
	VDUP R14, V24.D2
	WITH8(FSUB, 24, 16, 16)
	MOVD R6, R5
	STORE16(R5)
	ADD  R17, R6, R6
	SUB  $1, R9, R9
	CBNZ R9, subtract

subtracted:
	ADD  R4, R0, R10                    // z_i
	MOVD Map_first(R3), R7
	MOVD Map_w(R3), R8
	MOVD (Map_w+8)(R3), R9
	CBZ  R9, next

coordinate:                             // z_i = sum_j w_ij diff_(first_i+j), norm2 += z_i^2
	MOVD.P 8(R7), R5
	MADD R17, R16, R5, R11
	MOVD (R8), R12
	MOVD 8(R8), R13
	ADD  $24, R8, R8
	EIGHT(EOR, 0, 0, 0)
	CBZ  R13, added

add:
	MOVD R11, R5
	LOAD16(R5)
	MOVD.P 8(R12), R14
	VDUP R14, V24.D2
	WITH8(FMUL, 24, 16, 16)
	EIGHT(FADD, 16, 0, 0)
	ADD  R17, R11, R11
	SUB  $1, R13, R13
	CBNZ R13, add

added:
	MOVD R10, R5
	STORE0(R5)
	EIGHT(FMUL, 0, 0, 16)
	EIGHT(FADD, 16, 8, 8)
	ADD  R17, R10, R10
	SUB  $1, R9, R9
	CBNZ R9, coordinate

next:
	ADD  R4, R1, R5
	STORE8(R5)
	ADD  $128, R4, R4
	CMP  $COLUMN, R4
	BLT  block
	RET

// func products(tiles []tile, h []Column)
//
// One tile after another in V0..V8, whose lanes are the parts of a sum; all values are integers below
// 2^53, so that the fused operation rounds nothing.
TEXT ·products(SB), NOSPLIT|NOFRAME, $0-48
	MOVBU ·path(SB), R4
	CBNZ  R4, neon
	B     ·productsGo(SB)

neon:
	MOVD tiles_base+0(FP), R0
	MOVD h_base+24(FP), R1
	MOVD h_len+32(FP), R2
	MOVD $COLUMN, R17
	MADD R17, R1, R2, R2                // the end of h

row:
	MOVD R1, R3

column:
	MOVD R1, R4
	ADD  $COLUMN, R4, R5
	ADD  $COLUMN, R5, R6
	MOVD R3, R7
	ADD  $COLUMN, R7, R8
	ADD  $COLUMN, R8, R9
	FMOVQ 0(R0), F0
	FMOVQ 64(R0), F1
	FMOVQ 128(R0), F2
	FMOVQ 192(R0), F3
	FMOVQ 256(R0), F4
	FMOVQ 320(R0), F5
	FMOVQ 384(R0), F6
	FMOVQ 448(R0), F7
	FMOVQ 512(R0), F8
	MOVD $12, R10                       // times four rows

rows:
	VLD1.P 32(R4), [V16.D2, V17.D2]
	VLD1.P 32(R5), [V18.D2, V19.D2]
	VLD1.P 32(R6), [V20.D2, V21.D2]
	VLD1.P 32(R7), [V22.D2, V23.D2]
	VLD1.P 32(R8), [V24.D2, V25.D2]
	VLD1.P 32(R9), [V26.D2, V27.D2]
	FMLA(22, 16, 0)
	FMLA(24, 16, 1)
	FMLA(26, 16, 2)
	FMLA(22, 18, 3)
	FMLA(24, 18, 4)
	FMLA(26, 18, 5)
	FMLA(22, 20, 6)
	FMLA(24, 20, 7)
	FMLA(26, 20, 8)
	FMLA(23, 17, 0)
	FMLA(25, 17, 1)
	FMLA(27, 17, 2)
	FMLA(23, 19, 3)
	FMLA(25, 19, 4)
	FMLA(27, 19, 5)
	FMLA(23, 21, 6)
	FMLA(25, 21, 7)
	FMLA(27, 21, 8)
	SUB  $1, R10, R10
	CBNZ R10, rows

	FMOVQ F0, 0(R0)
	FMOVQ F1, 64(R0)
	FMOVQ F2, 128(R0)
	FMOVQ F3, 192(R0)
	FMOVQ F4, 256(R0)
	FMOVQ F5, 320(R0)
	FMOVQ F6, 384(R0)
	FMOVQ F7, 448(R0)
	FMOVQ F8, 512(R0)
	ADD  $(9*64), R0, R0
	ADD  $(3*COLUMN), R3, R3
	CMP  R2, R3
	BLT  column
	ADD  $(3*COLUMN), R1, R1
	CMP  R2, R1
	BLT  row
	RET

// func Weigh(h0, factor, share, norm2 *Column, scale, lift, radius, least float64)
//
// Two rows at a time: V0 share, V1 norm2.
TEXT ·Weigh(SB), NOSPLIT|NOFRAME, $0-64
	MOVBU ·path(SB), R4
	CBNZ  R4, neon
	B     ·weighGo(SB)

neon:
	MOVD h0+0(FP), R0
	MOVD factor+8(FP), R1
	MOVD share+16(FP), R2
	MOVD norm2+24(FP), R3
	MOVD scale+32(FP), R14
	VDUP R14, V24.D2
	MOVD lift+40(FP), R14
	VDUP R14, V25.D2
	MOVD radius+48(FP), R14
	VDUP R14, V26.D2
	MOVD least+56(FP), R14
	VDUP R14, V27.D2
	CONSTANT(0, V28.D2)                 // 3<<51
	FMUL(26, 26, 29)
	MOVD $24, R4

rows:
	VLD1.P 16(R2), [V0.D2]
	VLD1.P 16(R3), [V1.D2]
	FSQRT(0, 0, 2)
	FMUL(24, 2, 2)                      // f
	FMUL(25, 2, 3)
	FADD(28, 3, 3)
	FSUB(28, 3, 3)                      // h_0
	FSQRT(0, 1, 4)
	FDIV(4, 26, 4)
	FMUL(2, 4, 4)
	FCMGT(29, 1, 5)
	BIT(5, 4, 2)                        // factor
	FCMGE(27, 0, 5)
	AND(5, 3, 3)
	AND(5, 2, 2)
	VST1.P [V3.D2], 16(R0)
	VST1.P [V2.D2], 16(R1)
	SUB  $1, R4, R4
	CBNZ R4, rows
	RET

// func Round(h []Column, factor, total *Column)
//
// Eight rows at a time: V0.. factor, V4.. total, V8.. where factor is 0, V16.. columns, V24 3<<51.
TEXT ·round(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·path(SB), R4
	CBNZ  R4, neon
	B     ·roundGo(SB)

neon:
	MOVD h_base+0(FP), R0
	MOVD h_len+8(FP), R1
	MOVD factor+24(FP), R2
	MOVD total+32(FP), R3
	CONSTANT(0, V24.D2)                 // 3<<51
	CONSTANT(64, V25.D2)                // GramBound
	MOVD $6, R4

rows:
	VLD1.P 64(R2), [V0.D2, V1.D2, V2.D2, V3.D2]
	VLD1 (R3), [V4.D2, V5.D2, V6.D2, V7.D2]
	FOUR(FZERO, 0, 0, 8)
	MOVD R0, R6
	MOVD R1, R7
	VLD1 (R6), [V16.D2, V17.D2, V18.D2, V19.D2]
	B    squares

column:                                 // h_i = round(h_i factor)
	ADD  $COLUMN, R6, R6
	VLD1 (R6), [V16.D2, V17.D2, V18.D2, V19.D2]
	FOUR(FMUL, 0, 16, 16)
	WITH(FADD, 24, 16, 16)
	WITH(FSUB, 24, 16, 16)
	FOUR(BIC, 8, 16, 16)
	VST1 [V16.D2, V17.D2, V18.D2, V19.D2], (R6)

squares:
	FOUR(FMUL, 16, 16, 16)
	FOUR(FADD, 16, 4, 4)
	SUB  $1, R7, R7
	CBNZ R7, column
	VST1.P [V4.D2, V5.D2, V6.D2, V7.D2], 64(R3)
	FCMGE(4, 25, 8)                     // where GramBound is at least the total
	FCMGE(5, 25, 9)
	FCMGE(6, 25, 10)
	FCMGE(7, 25, 11)
	MOVD R0, R6
	MOVD R1, R7

within:
	VLD1 (R6), [V16.D2, V17.D2, V18.D2, V19.D2]
	FOUR(AND, 8, 16, 16)
	VST1 [V16.D2, V17.D2, V18.D2, V19.D2], (R6)
	ADD  $COLUMN, R6, R6
	SUB  $1, R7, R7
	CBNZ R7, within
	ADD  $64, R0, R0
	SUB  $1, R4, R4
	CBNZ R4, rows
	RET

// one term of the series: V20.. = 1 + (V16.. c) V20.., V29 = 1
#define TERM(place) \
	MOVD taylor<>+place(SB), R14; \
	VDUP R14, V28.D2; \
	WITH(FMUL, 28, 16, 24); \
	FOUR(FMUL, 20, 24, 20); \
	WITH(FADD, 29, 20, 20)

// func Shares(share, norm2 []Column, logWeight []float64, best, total *Column, divided bool)
//
// Eight rows at a time: V0.. best, V4.. total.
TEXT ·Shares(SB), NOSPLIT|NOFRAME, $0-89
	MOVBU ·path(SB), R4
	CBNZ  R4, neon
	B     ·sharesGo(SB)

neon:
	MOVD share_base+0(FP), R0
	MOVD norm2_base+24(FP), R1
	MOVD logWeight_base+48(FP), R2
	MOVD logWeight_len+56(FP), R3
	MOVD best+72(FP), R4
	MOVD total+80(FP), R5
	MOVBU divided+88(FP), R6
	MOVD taylor<>+80(SB), R14           // 1
	VDUP R14, V29.D2
	MOVD $6, R7

rows:
	CONSTANT(8, V0.D2)                  // -Inf
	MOV(0, 0, 1)
	MOV(0, 0, 2)
	MOV(0, 0, 3)
	CONSTANT(16, V28.D2)                // 1/2
	MOVD R0, R8
	MOVD R1, R9
	MOVD R2, R10
	MOVD R3, R11

score:                                  // s_j
	VLD1 (R9), [V8.D2, V9.D2, V10.D2, V11.D2]
	MOVD.P 8(R10), R14
	VDUP R14, V12.D2
	WITH(FMUL, 28, 8, 8)
	FSUB(8, 12, 8)
	FSUB(9, 12, 9)
	FSUB(10, 12, 10)
	FSUB(11, 12, 11)
	VST1 [V8.D2, V9.D2, V10.D2, V11.D2], (R8)
	FOUR(FCMGT, 0, 8, 16)
	FOUR(BIT, 16, 8, 0)
	ADD  $COLUMN, R8, R8
	ADD  $COLUMN, R9, R9
	SUB  $1, R11, R11
	CBNZ R11, score
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R4)
	FOUR(EOR, 4, 4, 4)
	MOVD R0, R8
	MOVD R3, R11

exp:                                    // ExpNegative(V8..), V8.. = s_j - best
	VLD1 (R8), [V8.D2, V9.D2, V10.D2, V11.D2]
	FOUR(FSUB, 0, 8, 8)
	CONSTANT(32, V28.D2)                // 1/ln 2
	WITH(FMUL, 28, 8, 12)
	CONSTANT(0, V28.D2)                 // 3<<51
	WITH(FADD, 28, 12, 12)              // k + 3<<51: k in the last bits
	WITH(FSUB, 28, 12, 16)
	CONSTANT(40, V28.D2)                // ln 2
	WITH(FMUL, 28, 16, 16)
	FOUR(FSUB, 16, 8, 16)               // y
	MOV(0, 29, 20)
	MOV(0, 29, 21)
	MOV(0, 29, 22)
	MOV(0, 29, 23)
	TERM(0)
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
	CONSTANT(48, V28.D2)                // 1023
	WITH(ADD2, 28, 12, 12)
	FOUR(SHL52, 0, 12, 12)              // 2^k
	FOUR(FMUL, 12, 20, 20)
	CONSTANT(24, V28.D2)                // Far
	WITH(FCMGT, 28, 8, 8)
	FOUR(AND, 8, 20, 20)
	VST1 [V20.D2, V21.D2, V22.D2, V23.D2], (R8)
	FOUR(FADD, 20, 4, 4)
	ADD  $COLUMN, R8, R8
	SUB  $1, R11, R11
	CBNZ R11, exp
	VST1.P [V4.D2, V5.D2, V6.D2, V7.D2], 64(R5)
	CBZ  R6, next
	MOVD R0, R8
	MOVD R3, R11

divide:
	VLD1 (R8), [V8.D2, V9.D2, V10.D2, V11.D2]
	FOUR(FDIV, 4, 8, 8)
	VST1 [V8.D2, V9.D2, V10.D2, V11.D2], (R8)
	ADD  $COLUMN, R8, R8
	SUB  $1, R11, R11
	CBNZ R11, divide

next:
	ADD  $64, R0, R0
	ADD  $64, R1, R1
	SUB  $1, R7, R7
	CBNZ R7, rows
	RET

// func Closest(cell *[Rows]int, score, norm2 *Column, logWeight, radius2 float64, own int)
//
// Two rows at a time: V0 norm2, V8 score, V16 cell.
TEXT ·Closest(SB), NOSPLIT|NOFRAME, $0-48
	MOVBU ·path(SB), R4
	CBNZ  R4, neon
	B     ·closestGo(SB)

neon:
	MOVD cell+0(FP), R0
	MOVD score+8(FP), R1
	MOVD norm2+16(FP), R2
	MOVD logWeight+24(FP), R14
	VDUP R14, V24.D2
	MOVD radius2+32(FP), R14
	VDUP R14, V25.D2
	MOVD own+40(FP), R14
	VDUP R14, V26.D2
	CONSTANT(16, V27.D2)                // 1/2
	MOVD $24, R4

rows:
	VLD1.P 16(R2), [V0.D2]
	VLD1 (R1), [V8.D2]
	VLD1 (R0), [V16.D2]
	FMUL(27, 0, 1)
	FSUB(1, 24, 1)                      // the score
	FCMGE(0, 25, 2)                     // radius2 >= norm2
	CONSTANT(56, V3.D2)                 // -1
	BIT(2, 26, 3)
	FCMGT(8, 1, 2)
	BIT(2, 3, 16)
	BIT(2, 1, 8)
	VST1.P [V16.D2], 16(R0)
	VST1.P [V8.D2], 16(R1)
	SUB  $1, R4, R4
	CBNZ R4, rows
	RET
