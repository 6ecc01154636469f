// The bodies, for registers V0..V15 of WIDTH bytes. Comments write columns as x_j, one register's
// rows of them at a time.

// applyGo, in blocks of three registers of rows, so that of a hundred columns a block's differences
// stay in the processor's first cache, and two coordinates at a time where the second starts no
// earlier than the first and no later than that ends, as those of triangles and full matrices do:
// each difference is then fetched once for both. Of diagonals differences have no place of their own.
//
// DI z, SI norm2, DX x, BX m
TEXT APPLY<>(SB), NOSPLIT, $0
	XORQ R8, R8                        // the block's first row, in bytes

block:
	LEAQ (DX)(R8*1), AX
	ZERO(V6)
	THREE(NAN, AX, V13, V14, V15)      // V13.. norm2
	CMPB Map_diagonal(BX), $0
	JNE  scaled
	MOVQ Map_diff(BX), R12
	ADDQ R8, R12
	MOVQ Map_columns(BX), R11
	MOVQ Map_center(BX), R9
	MOVQ (Map_center+8)(BX), R10
	TESTQ R10, R10
	JEQ  subtracted

subtract:                              // diff_j = x_columns(j) - center_j
	IMUL3Q $COLUMN, (R11), AX
	ADDQ DX, AX
	ADDQ R8, AX
	VBROADCASTSD (R9), V6
	THREE(LESS, AX, V0, V1, V2)
	THREE(STORE, R12, V0, V1, V2)
	ADDQ $8, R9
	ADDQ $8, R11
	ADDQ $COLUMN, R12
	DECQ R10
	JNE  subtract

subtracted:
	LEAQ (DI)(R8*1), R13               // z_i
	MOVQ Map_first(BX), R11
	MOVQ Map_w(BX), R9
	MOVQ (Map_w+8)(BX), R10
	TESTQ R10, R10
	JEQ  next

coordinate:                            // z_i = sum_j w_ij diff_(first_i+j), norm2 += z_i^2
	IMUL3Q $COLUMN, (R11), R12
	ADDQ Map_diff(BX), R12
	ADDQ R8, R12
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	MOVQ (R9), CX
	MOVQ 8(R9), R15                    // what is left of w_i
	CMPQ R10, $1
	JEQ  alone
	MOVQ 8(R11), AX
	SUBQ (R11), AX                     // by how much i+1 starts later
	JLT  alone
	CMPQ AX, R15
	JGT  alone
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	MOVQ 24(R9), R14                   // w_(i+1)
	SUBQ AX, R15
	TESTQ AX, AX
	JEQ  begun

begin:
	ADD(CX, V0, V1, V2)
	DECQ AX
	JNE  begin

begun:
	MOVQ 32(R9), AX                    // what both have
	CMPQ AX, R15
	CMOVQGT R15, AX
	SUBQ AX, R15
	TESTQ AX, AX
	JEQ  ended

both:
	VMOVUPD (0*WIDTH)(R12), V7
	VMOVUPD (1*WIDTH)(R12), V8
	VMOVUPD (2*WIDTH)(R12), V9
	VBROADCASTSD (CX), V6
	VMULPD V7, V6, V10
	VMULPD V8, V6, V11
	VMULPD V9, V6, V12
	VADDPD V10, V0, V0
	VADDPD V11, V1, V1
	VADDPD V12, V2, V2
	VBROADCASTSD (R14), V6
	VMULPD V7, V6, V10
	VMULPD V8, V6, V11
	VMULPD V9, V6, V12
	VADDPD V10, V3, V3
	VADDPD V11, V4, V4
	VADDPD V12, V5, V5
	ADDQ $8, CX
	ADDQ $8, R14
	ADDQ $COLUMN, R12
	DECQ AX
	JNE  both

ended:                                 // of w_(i+1) what is beyond R14 is left, if nothing is of w_i
	TESTQ R15, R15
	JNE  first
	MOVQ 32(R9), AX
	LEAQ (R14), R15
	SUBQ 24(R9), R15
	SHRQ $3, R15
	SUBQ R15, AX
	JEQ  added

second:
	ADD(R14, V3, V4, V5)
	DECQ AX
	JNE  second
	JMP  added

first:
	ADD(CX, V0, V1, V2)
	DECQ R15
	JNE  first

added:
	THREE(STORE, R13, V0, V1, V2)
	SQUARES(V0, V1, V2)
	ADDQ $24, R9
	ADDQ $8, R11
	ADDQ $COLUMN, R13
	DECQ R10
	THREE(STORE, R13, V3, V4, V5)
	SQUARES(V3, V4, V5)
	JMP  stored

alone:
	TESTQ R15, R15
	JEQ  summed

sum:
	ADD(CX, V0, V1, V2)
	DECQ R15
	JNE  sum

summed:
	THREE(STORE, R13, V0, V1, V2)
	SQUARES(V0, V1, V2)

stored:
	ADDQ $24, R9
	ADDQ $8, R11
	ADDQ $COLUMN, R13
	DECQ R10
	JNE  coordinate

next:
	THREE(STORE, SI, V13, V14, V15)
	ADDQ $(3*WIDTH), SI
	ADDQ $(3*WIDTH), R8
	CMPQ R8, $COLUMN
	JLT  block
	VZEROUPPER
	RET

scaled:                                // z_i = w_ii (x_columns(i) - center_i) of a diagonal
	LEAQ (DI)(R8*1), R13
	MOVQ Map_columns(BX), R11
	MOVQ Map_center(BX), R9
	MOVQ Map_w(BX), R12
	MOVQ (Map_w+8)(BX), R10
	ZERO(V4)

entry:
	IMUL3Q $COLUMN, (R11), AX
	ADDQ DX, AX
	ADDQ R8, AX
	VBROADCASTSD (R9), V6
	THREE(LESS, AX, V0, V1, V2)
	MOVQ (R12), CX
	VBROADCASTSD (CX), V6
	VMULPD V0, V6, V0
	VMULPD V1, V6, V1
	VMULPD V2, V6, V2
	VADDPD V0, V4, V0                  // -0 becomes 0, as in a sum
	VADDPD V1, V4, V1
	VADDPD V2, V4, V2
	THREE(STORE, R13, V0, V1, V2)
	SQUARES(V0, V1, V2)
	ADDQ $8, R9
	ADDQ $8, R11
	ADDQ $24, R12
	ADDQ $COLUMN, R13
	DECQ R10
	JNE  entry
	JMP  next

// productsGo, one tile after another in nine registers; the lanes of a register are the parts of a
// sum. All values are integers below 2^53, so that the fused operation rounds nothing.
//
// DI tiles, SI h, R9 columns of h
TEXT PRODUCTS<>(SB), NOSPLIT, $0
	IMUL3Q $COLUMN, R9, R9
	ADDQ SI, R9                        // the end of h

row:
	MOVQ SI, DX

column:
	VMOVUPD 0(DI), V0
	VMOVUPD 64(DI), V1
	VMOVUPD 128(DI), V2
	VMOVUPD 192(DI), V3
	VMOVUPD 256(DI), V4
	VMOVUPD 320(DI), V5
	VMOVUPD 384(DI), V6
	VMOVUPD 448(DI), V7
	VMOVUPD 512(DI), V8
	XORQ R8, R8

rows:
	VMOVUPD (DX)(R8*1), V9
	VMOVUPD COLUMN(DX)(R8*1), V10
	VMOVUPD (2*COLUMN)(DX)(R8*1), V11
	VMOVUPD (SI)(R8*1), V12
	VFMADD231PD V9, V12, V0
	VFMADD231PD V10, V12, V1
	VFMADD231PD V11, V12, V2
	VMOVUPD COLUMN(SI)(R8*1), V13
	VFMADD231PD V9, V13, V3
	VFMADD231PD V10, V13, V4
	VFMADD231PD V11, V13, V5
	VMOVUPD (2*COLUMN)(SI)(R8*1), V14
	VFMADD231PD V9, V14, V6
	VFMADD231PD V10, V14, V7
	VFMADD231PD V11, V14, V8
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	VMOVUPD V0, 0(DI)
	VMOVUPD V1, 64(DI)
	VMOVUPD V2, 128(DI)
	VMOVUPD V3, 192(DI)
	VMOVUPD V4, 256(DI)
	VMOVUPD V5, 320(DI)
	VMOVUPD V6, 384(DI)
	VMOVUPD V7, 448(DI)
	VMOVUPD V8, 512(DI)
	ADDQ $(9*64), DI
	ADDQ $(3*COLUMN), DX
	CMPQ DX, R9
	JLT  column
	ADDQ $(3*COLUMN), SI
	CMPQ SI, R9
	JLT  row
	VZEROUPPER
	RET

// weighGo, a register of rows at a time.
//
// DI h_0, SI factor, DX share, BX norm2, X0 scale, X1 lift, X2 radius, X3 least
TEXT WEIGH<>(SB), NOSPLIT, $0
	VBROADCASTSD X0, V0
	VBROADCASTSD X1, V1
	VBROADCASTSD X2, V2
	VBROADCASTSD X3, V3
	VMULPD V2, V2, V4
	VBROADCASTSD constants<>+0(SB), V5
	VBROADCASTSD taylor<>+80(SB), V6    // 1
	ZERO(V12)
	XORQ R8, R8

rows:
	VMOVUPD (DX)(R8*1), V7
	VMOVAPD V7, V8
	ALIKE(V7, V6, rooted)               // one component has all of its rows
	VSQRTPD V7, V8

rooted:
	VMULPD V8, V0, V8                  // f
	VMULPD V8, V1, V9
	VADDPD V5, V9, V9
	VSUBPD V5, V9, V9                  // h_0
	VMOVUPD (BX)(R8*1), V10
	SELECT(ATLEAST, V7, V3, V10, V12, V10)
	NONE(V10, V4, within)              // for rows without a share norm2 does not matter
	VSQRTPD V10, V11
	VDIVPD V11, V2, V11
	SELECT(GREATER, V10, V4, V11, V6, V11)
	VMULPD V8, V11, V8

within:
	SELECT(ATLEAST, V7, V3, V9, V12, V9)
	SELECT(ATLEAST, V7, V3, V8, V12, V8)
	VMOVUPD V9, (DI)(R8*1)
	VMOVUPD V8, (SI)(R8*1)
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	VZEROUPPER
	RET

// liveGo, a register of rows at a time: R9 the bits so far, CX how many.
//
// DI share, SI total, DX less, X0 slope, X1 base, X2 least, R13 where the bits go
TEXT LIVE<>(SB), NOSPLIT, $0
	VBROADCASTSD X0, V0
	VBROADCASTSD X1, V1
	VBROADCASTSD X2, V2
	VBROADCASTSD constants<>+0(SB), V3  // 3<<51
	VBROADCASTSD constants<>+64(SB), V4 // GramBound
	XORQ R8, R8
	XORQ R9, R9
	XORQ CX, CX

rows:
	VMOVUPD (DI)(R8*1), V5
	VMULPD V5, V0, V6
	VADDPD V1, V6, V6
	VADDPD V3, V6, V6
	VSUBPD V3, V6, V6                  // most
	VSUBPD V6, V4, V7
	VMOVUPD V7, (DX)(R8*1)
	VMOVUPD (SI)(R8*1), V8
	VADDPD V6, V8, V9
	SELECT(ATLEAST, V5, V2, V9, V8, V8)
	VMOVUPD V8, (SI)(R8*1)
	BITS(ATLEAST, V5, V2, AX)
	BITS(ATMOST, V8, V4, BX)
	ANDL BX, AX
	SHLQ CX, AX
	ORQ  AX, R9
	ADDQ $(WIDTH/8), CX
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	MOVQ R9, (R13)
	VZEROUPPER
	RET

// unitGo, a register of rows at a time: R9 the bits so far of rows that are not odd, CX how many.
//
// DI h_0, SI factor, DX norm2, X0 lift, X1 scale, R13 where the bits go
TEXT UNIT<>(SB), NOSPLIT, $0
	VBROADCASTSD X0, V0
	VBROADCASTSD X1, V1
	VMULPD V0, V0, V2
	VBROADCASTSD constants<>+0(SB), V3  // 3<<51
	VBROADCASTSD constants<>+72(SB), V4 // MaxFloat64
	VBROADCASTSD constants<>+80(SB), V5 // 1e-280
	XORQ R8, R8
	XORQ R9, R9
	XORQ CX, CX

rows:
	VMOVUPD (DX)(R8*1), V6
	VADDPD V2, V6, V6                  // n
	VSQRTPD V6, V7
	VDIVPD V7, V1, V7
	VMOVUPD V7, (SI)(R8*1)
	VMULPD V7, V0, V8
	VADDPD V3, V8, V8
	VSUBPD V3, V8, V8
	VMOVUPD V8, (DI)(R8*1)
	BITS(GREATER, V4, V6, AX)
	BITS(ATLEAST, V6, V5, BX)
	ANDL BX, AX
	SHLQ CX, AX
	ORQ  AX, R9
	ADDQ $(WIDTH/8), CX
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	MOVQ $((1<<(COLUMN/8))-1), AX
	XORQ AX, R9
	MOVQ R9, (R13)
	VZEROUPPER
	RET

// roundGo, a register of rows at a time: V0 factor, V1 total, V3 where factor is not 0, V6 3<<51,
// V7 GramBound.
//
// DI h, R9 columns of h, DX factor, BX total
TEXT ROUND<>(SB), NOSPLIT, $0
	VBROADCASTSD constants<>+0(SB), V6
	VBROADCASTSD constants<>+64(SB), V7
	XORQ R8, R8

rows:
	VMOVUPD (DX)(R8*1), V0
	ZERO(V3)
	MASK(V0, V3, V3)
	VMOVUPD (BX)(R8*1), V1
	LEAQ (DI)(R8*1), SI
	MOVQ R9, CX
	VMOVUPD (SI), V2
	JMP  square

column:                                // h_i = round(h_i factor)
	ADDQ $COLUMN, SI
	VMULPD (SI), V0, V2
	VADDPD V6, V2, V2
	VSUBPD V6, V2, V2
	VANDPD V3, V2, V2
	VMOVUPD V2, (SI)

square:
	VMULPD V2, V2, V2
	VADDPD V2, V1, V1
	DECQ CX
	JNE  column
	VMOVUPD V1, (BX)(R8*1)
	BITS(ATMOST, V1, V7, AX)           // not NaN
	CMPL AX, $((1<<(WIDTH/8))-1)
	JEQ  next
	VBROADCASTSD constants<>+56(SB), V2
	ZERO(V3)
	SELECT(ATMOST, V1, V7, V2, V3, V3)
	LEAQ (DI)(R8*1), SI
	MOVQ R9, CX

within:
	VANDPD (SI), V3, V2
	VMOVUPD V2, (SI)
	ADDQ $COLUMN, SI
	DECQ CX
	JNE  within

next:
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	VZEROUPPER
	RET

// sharesGo, a register of rows at a time.
//
// DI share, SI norm2, DX logWeight, R9 their number, BX best, R13 total, R14 divided
TEXT SHARES<>(SB), NOSPLIT, $0
	VBROADCASTSD constants<>+32(SB), V4 // 1/ln 2
	VBROADCASTSD constants<>+0(SB), V5  // 3<<51
	VBROADCASTSD constants<>+40(SB), V6 // ln 2
	VBROADCASTSD taylor<>+80(SB), V7    // 1
	VBROADCASTSD constants<>+48(SB), V8
	XORQ R8, R8

rows:
	VBROADCASTSD constants<>+8(SB), V0  // the best score
	VBROADCASTSD constants<>+16(SB), V1
	LEAQ (SI)(R8*1), R10
	LEAQ (DI)(R8*1), R11
	MOVQ DX, R12
	MOVQ R9, CX

score:                                 // s_j; the maximum is its second operand if s_j is NaN
	VMULPD (R10), V1, V2
	VBROADCASTSD (R12), V3
	VSUBPD V2, V3, V2
	VMOVUPD V2, (R11)
	VMAXPD V0, V2, V0
	ADDQ $COLUMN, R10
	ADDQ $COLUMN, R11
	ADDQ $8, R12
	DECQ CX
	JNE  score
	VBROADCASTSD constants<>+24(SB), V1 // Far
	ZERO(V2)
	ZERO(V3)                           // the total
	LEAQ (DI)(R8*1), R11
	MOVQ R9, CX

exp:                                   // e_j = ExpNegative(V9), V9 = s_j - best
	VMOVUPD (R11), V9
	VSUBPD V0, V9, V9
	VMOVAPD V7, V14
	ALIKE(V9, V2, store)                // exp(0) = 1: all are their only component's
	ZERO(V14)
	NONE(V9, V1, store)
	VMULPD V4, V9, V10
	VADDPD V5, V10, V10                // k + 3<<51: k in the last bits
	VSUBPD V5, V10, V11
	VMULPD V6, V11, V11
	VSUBPD V11, V9, V11                // y = V9 - k ln 2
	VMOVAPD V7, V12
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
	VPADDQ V8, V10, V10                // 2^k
	VPSLLQ $52, V10, V10
	VMULPD V10, V12, V12
	SELECT(GREATER, V9, V1, V12, V2, V14)

store:
	VMOVUPD V14, (R11)
	VADDPD V14, V3, V3
	ADDQ $COLUMN, R11
	DECQ CX
	JNE  exp
	VMOVUPD V0, (BX)(R8*1)
	VMOVUPD V3, (R13)(R8*1)
	TESTL R14, R14
	JEQ  next
	ALIKE(V3, V7, next)                 // divided by 1
	LEAQ (DI)(R8*1), R11
	MOVQ R9, CX

divide:
	VMOVUPD (R11), V9
	VDIVPD V3, V9, V9
	VMOVUPD V9, (R11)
	ADDQ $COLUMN, R11
	DECQ CX
	JNE  divide

next:
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	VZEROUPPER
	RET

// closestGo.
//
// DI cell, SI score, DX norm2, X0 logWeight, X1 radius2, X2 own
TEXT CLOSEST<>(SB), NOSPLIT, $0
	VBROADCASTSD X0, V0
	VBROADCASTSD X1, V1
	VPBROADCASTQ X2, V2
	VBROADCASTSD constants<>+56(SB), V3 // -1
	VBROADCASTSD constants<>+16(SB), V4
	XORQ R8, R8

rows:
	VMOVUPD (DX)(R8*1), V5
	VMOVUPD (SI)(R8*1), V6
	VMULPD V4, V5, V7
	VSUBPD V7, V0, V7
	SELECT(ATMOST, V5, V1, V2, V3, V8)
	VMOVUPD (DI)(R8*1), V9
	SELECT(GREATER, V7, V6, V8, V9, V8)
	VMOVUPD V8, (DI)(R8*1)
	VMAXPD V6, V7, V6
	VMOVUPD V6, (SI)(R8*1)
	ADDQ $WIDTH, R8
	CMPQ R8, $COLUMN
	JLT  rows
	VZEROUPPER
	RET
