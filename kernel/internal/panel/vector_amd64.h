// The bodies, for registers V0..V15 of WIDTH bytes. Comments write columns as x_j, one register's
// rows of them at a time.

// applyGo, in blocks of six registers of rows.
//
// DI z, SI norm2, DX x, BX m
TEXT APPLY<>(SB), NOSPLIT, $0
	XORQ R8, R8                        // the block's first row, in bytes

block:
	LEAQ (DX)(R8*1), AX
	ZERO(V6)
	SIX(NAN, AX)
	VMOVAPD V0, V10                    // V10.. norm2
	VMOVAPD V1, V11
	VMOVAPD V2, V12
	VMOVAPD V3, V13
	VMOVAPD V4, V14
	VMOVAPD V5, V15
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
	SIX(LESS, AX)
	SIX(STORE, R12)
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
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	MOVQ (R9), CX
	MOVQ 8(R9), AX
	TESTQ AX, AX
	JEQ  added

add:
	VBROADCASTSD (CX), V6
	SIX(DOT, R12)
	ADDQ $8, CX
	ADDQ $COLUMN, R12
	DECQ AX
	JNE  add

added:
	SIX(STORE, R13)
	VMULPD V0, V0, V0
	VMULPD V1, V1, V1
	VMULPD V2, V2, V2
	VMULPD V3, V3, V3
	VMULPD V4, V4, V4
	VMULPD V5, V5, V5
	VADDPD V0, V10, V10
	VADDPD V1, V11, V11
	VADDPD V2, V12, V12
	VADDPD V3, V13, V13
	VADDPD V4, V14, V14
	VADDPD V5, V15, V15
	ADDQ $24, R9
	ADDQ $8, R11
	ADDQ $COLUMN, R13
	DECQ R10
	JNE  coordinate

next:
	VMOVUPD V10, (0*WIDTH)(SI)(R8*1)
	VMOVUPD V11, (1*WIDTH)(SI)(R8*1)
	VMOVUPD V12, (2*WIDTH)(SI)(R8*1)
	VMOVUPD V13, (3*WIDTH)(SI)(R8*1)
	VMOVUPD V14, (4*WIDTH)(SI)(R8*1)
	VMOVUPD V15, (5*WIDTH)(SI)(R8*1)
	ADDQ $(6*WIDTH), R8
	CMPQ R8, $COLUMN
	JLT  block
	VZEROUPPER
	RET

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

// roundGo, three registers of rows at a time: V0.. factor, V3.. total.
//
// DI h, R9 columns of h, DX factor, BX total
TEXT ROUND<>(SB), NOSPLIT, $0
	VBROADCASTSD magic<>(SB), V6
	XORQ R8, R8                        // the registers' first row, in bytes

rows:
	VMOVUPD (0*WIDTH)(DX)(R8*1), V0
	VMOVUPD (1*WIDTH)(DX)(R8*1), V1
	VMOVUPD (2*WIDTH)(DX)(R8*1), V2
	VMOVUPD (0*WIDTH)(BX)(R8*1), V3
	VMOVUPD (1*WIDTH)(BX)(R8*1), V4
	VMOVUPD (2*WIDTH)(BX)(R8*1), V5
	LEAQ (DI)(R8*1), SI
	MOVQ R9, CX
	VMOVUPD (0*WIDTH)(SI), V7
	VMOVUPD (1*WIDTH)(SI), V8
	VMOVUPD (2*WIDTH)(SI), V9
	JMP  squares

column:
	ADDQ $COLUMN, SI
	VMULPD (0*WIDTH)(SI), V0, V7
	VMULPD (1*WIDTH)(SI), V1, V8
	VMULPD (2*WIDTH)(SI), V2, V9
	VADDPD V6, V7, V7
	VADDPD V6, V8, V8
	VADDPD V6, V9, V9
	VSUBPD V6, V7, V7
	VSUBPD V6, V8, V8
	VSUBPD V6, V9, V9
	VMOVUPD V7, (0*WIDTH)(SI)
	VMOVUPD V8, (1*WIDTH)(SI)
	VMOVUPD V9, (2*WIDTH)(SI)

squares:
	VMULPD V7, V7, V7
	VMULPD V8, V8, V8
	VMULPD V9, V9, V9
	VADDPD V7, V3, V3
	VADDPD V8, V4, V4
	VADDPD V9, V5, V5
	DECQ CX
	JNE  column
	VMOVUPD V3, (0*WIDTH)(BX)(R8*1)
	VMOVUPD V4, (1*WIDTH)(BX)(R8*1)
	VMOVUPD V5, (2*WIDTH)(BX)(R8*1)
	ADDQ $(3*WIDTH), R8
	CMPQ R8, $COLUMN
	JLT  rows
	VZEROUPPER
	RET
