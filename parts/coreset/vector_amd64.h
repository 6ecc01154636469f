// The bodies, for registers V0..V15 of WIDTH bytes.

// sharesGo, a register of points at a time.
//
// DI share, SI scale, DX x, R9 blocks, BX parts, R10 their number, R13 loglik, R15 wide, R14 score
TEXT SHARES<>(SB), NOSPLIT, $0
block:
	XORQ R8, R8

points:
	VMOVUPD (block_at+0*LANES)(DX)(R8*1), V0
	VMOVUPD (block_at+1*LANES)(DX)(R8*1), V1
	VMOVUPD (block_at+2*LANES)(DX)(R8*1), V2
	VMOVUPD (block_at+3*LANES)(DX)(R8*1), V3
	VBROADCASTSD constants<>+56(SB), V13
	VBROADCASTSD constants<>+0(SB), V14 // the best score
	LEAQ (DI)(R8*1), R12
	MOVQ BX, CX
	MOVQ R10, R11

part:                                  // log - (z_0^2 + .. )/2, z = inverse (x - mean)
	VBROADCASTSD (part_mean+0)(CX), V4
	VBROADCASTSD (part_mean+8)(CX), V5
	VSUBPD V4, V0, V4
	VSUBPD V5, V1, V5
	VBROADCASTSD (part_inverse+0)(CX), V8
	VMULPD V4, V8, V8
	VMULPD V8, V8, V12
	VBROADCASTSD (part_inverse+32)(CX), V8
	VMULPD V4, V8, V8
	TERM((part_inverse+40)(CX), V5)
	SQUARE
	TESTL R15, R15
	JEQ  squared
	VBROADCASTSD (part_mean+16)(CX), V6
	VBROADCASTSD (part_mean+24)(CX), V7
	VSUBPD V6, V2, V6
	VSUBPD V7, V3, V7
	VBROADCASTSD (part_inverse+64)(CX), V8
	VMULPD V4, V8, V8
	TERM((part_inverse+72)(CX), V5)
	TERM((part_inverse+80)(CX), V6)
	SQUARE
	VBROADCASTSD (part_inverse+96)(CX), V8
	VMULPD V4, V8, V8
	TERM((part_inverse+104)(CX), V5)
	TERM((part_inverse+112)(CX), V6)
	TERM((part_inverse+120)(CX), V7)
	SQUARE

squared:
	VMULPD V13, V12, V12
	VBROADCASTSD part_log(CX), V8
	VSUBPD V12, V8, V8
	VMOVUPD V8, (R12)
	VMAXPD V14, V8, V14                // V14 if V8 is NaN
	ADDQ $part__size, CX
	ADDQ $PANEL, R12
	DECQ R11
	JNE  part
	VBROADCASTSD constants<>+8(SB), V0
	VBROADCASTSD constants<>+16(SB), V1
	VBROADCASTSD constants<>+24(SB), V2
	VBROADCASTSD constants<>+32(SB), V3
	VBROADCASTSD constants<>+40(SB), V4
	VBROADCASTSD constants<>+48(SB), V5
	VBROADCASTSD taylor<>+48(SB), V6    // 1
	ZERO(V7)
	ZERO(V13)                          // the total
	LEAQ (DI)(R8*1), R12
	MOVQ R10, R11

exponential:                           // of V8 = score - best
	VMOVUPD (R12), V8
	VSUBPD V14, V8, V8
	ZERO(V12)
	NONE(V8, V0, store)
	VMULPD V1, V8, V9
	VADDPD V2, V9, V9                  // k + 3<<51: k in the last bits
	VSUBPD V2, V9, V10
	VMULPD V3, V10, V10
	VSUBPD V10, V8, V10
	VMULPD V4, V10, V10                // y
	VBROADCASTSD taylor<>+0(SB), V11
	SERIES(taylor<>+8(SB), V10, V11, V12)
	SERIES(taylor<>+16(SB), V10, V11, V12)
	SERIES(taylor<>+24(SB), V10, V11, V12)
	SERIES(taylor<>+32(SB), V10, V11, V12)
	SERIES(taylor<>+40(SB), V10, V11, V12)
	SERIES(taylor<>+48(SB), V10, V11, V12)
	VMULPD V11, V11, V11
	VMULPD V11, V11, V11
	VMULPD V11, V11, V11
	VPADDQ V5, V9, V9                  // 2^k
	VPSLLQ $52, V9, V9
	VMULPD V9, V11, V11
	SELECT(V8, V0, V11, V7, V12)

store:
	VMOVUPD V12, (R12)
	VADDPD V12, V13, V13
	ADDQ $PANEL, R12
	DECQ R11
	JNE  exponential
	VMAXPD V6, V13, V13
	VMOVUPD block_weight(DX)(R8*1), V7
	VDIVPD V13, V7, V8
	VMOVUPD V8, (SI)(R8*1)
	TESTL R14, R14
	JEQ  next
	VBROADCASTSD constants<>+64(SB), V8 // the logarithm of V13
	VPSUBQ V8, V13, V8
	VPSRLQ $52, V8, V8                 // k
	VPSLLQ $52, V8, V9
	VPSUBQ V9, V13, V9                 // m
	VBROADCASTSD constants<>+72(SB), V10
	POR V10, V8, V8
	VSUBPD V10, V8, V8                 // k as a number
	VMULPD V3, V8, V8
	VSUBPD V6, V9, V10
	VADDPD V6, V9, V9
	VDIVPD V9, V10, V9                 // t
	VMULPD V9, V9, V10                 // u
	VBROADCASTSD odd<>+0(SB), V11
	SERIES(odd<>+8(SB), V10, V11, V12)
	SERIES(odd<>+16(SB), V10, V11, V12)
	SERIES(odd<>+24(SB), V10, V11, V12)
	SERIES(odd<>+32(SB), V10, V11, V12)
	SERIES(odd<>+40(SB), V10, V11, V12)
	SERIES(odd<>+48(SB), V10, V11, V12)
	SERIES(odd<>+56(SB), V10, V11, V12)
	VADDPD V9, V9, V9
	VMULPD V9, V11, V11
	VADDPD V8, V11, V8
	VADDPD V14, V8, V8
	VMULPD V7, V8, V8
	VADDPD (R13)(R8*1), V8, V8
	VMOVUPD V8, (R13)(R8*1)

next:
	ADDQ $WIDTH, R8
	CMPQ R8, $LANES
	JLT  points
	ADDQ $LANES, DI
	ADDQ $LANES, SI
	ADDQ $block__size, DX
	DECQ R9
	JNE  block
	VZEROUPPER
	RET

// gatherGo, a register of points at a time, in two runs: masses, means and variances within leaves,
// then outer products, as many sums as there are registers for.
//
// DI to, SI share, R12 scale, DX x, R9 blocks, BX p; of a register's lanes R14, AX, CX and R10
TEXT GATHER<>(SB), NOSPLIT, $0
	XORQ R8, R8

points:
	LEAQ (DI)(R8*1), R14
	LEAQ (SI)(R8*1), AX
	LEAQ (R12)(R8*1), CX
	LEAQ (DX)(R8*1), R10
	MOVQ R9, R11
	FETCH(0, V0)
	FETCH(1, V1)
	FETCH(2, V2)
	FETCH(3, V3)
	FETCH(4, V4)
	FETCH(5, V5)
	FETCH(6, V6)
	FETCH(7, V7)
	FETCH(8, V8)

mean:
	VMOVUPD (AX), V9
	EMPTY(V9, weighed)
	VMULPD (CX), V9, V9                // g
	VADDPD V9, V0, V0
	LESS(0, V10)
	LESS(1, V11)
	LESS(2, V12)
	LESS(3, V13)
	ADD(V9, V10, V1)
	ADD(V9, V11, V2)
	ADD(V9, V12, V3)
	ADD(V9, V13, V4)
	ADD(V9, (block_cell+0*LANES)(R10), V5)
	ADD(V9, (block_cell+1*LANES)(R10), V6)
	ADD(V9, (block_cell+2*LANES)(R10), V7)
	ADD(V9, (block_cell+3*LANES)(R10), V8)

weighed:
	ADDQ $LANES, AX
	ADDQ $LANES, CX
	ADDQ $block__size, R10
	DECQ R11
	JNE  mean
	STORE(0, V0)
	STORE(1, V1)
	STORE(2, V2)
	STORE(3, V3)
	STORE(4, V4)
	STORE(5, V5)
	STORE(6, V6)
	STORE(7, V7)
	STORE(8, V8)
	LEAQ (SI)(R8*1), AX
	LEAQ (R12)(R8*1), CX
	LEAQ (DX)(R8*1), R10
	MOVQ R9, R11
	FETCH(9, V0)
	FETCH(10, V1)
	FETCH(11, V2)
	FETCH(12, V3)
	FETCH(13, V4)
	FETCH(14, V5)
	FETCH(15, V6)
	FETCH(16, V7)
	FETCH(17, V8)
	FETCH(18, V9)

product:
	VMOVUPD (AX), V14
	EMPTY(V14, multiplied)
	LESS(0, V10)
	LESS(1, V11)
	LESS(2, V12)
	LESS(3, V13)
	VMULPD (CX), V14, V14              // g, then g d_a
	VMULPD V10, V14, V15
	VMULPD V10, V15, V10
	VADDPD V10, V0, V0
	VMULPD V11, V15, V10
	VADDPD V10, V1, V1
	VMULPD V12, V15, V10
	VADDPD V10, V2, V2
	VMULPD V13, V15, V10
	VADDPD V10, V3, V3
	VMULPD V11, V14, V10
	ADD(V10, V11, V4)
	ADD(V10, V12, V5)
	ADD(V10, V13, V6)
	VMULPD V12, V14, V10
	ADD(V10, V12, V7)
	ADD(V10, V13, V8)
	VMULPD V13, V14, V10
	ADD(V10, V13, V9)

multiplied:
	ADDQ $LANES, AX
	ADDQ $LANES, CX
	ADDQ $block__size, R10
	DECQ R11
	JNE  product
	STORE(9, V0)
	STORE(10, V1)
	STORE(11, V2)
	STORE(12, V3)
	STORE(13, V4)
	STORE(14, V5)
	STORE(15, V6)
	STORE(16, V7)
	STORE(17, V8)
	STORE(18, V9)
	ADDQ $WIDTH, R8
	CMPQ R8, $LANES
	JLT  points
	VZEROUPPER
	RET
