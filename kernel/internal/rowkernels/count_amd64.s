//go:build !purego

#include "textflag.h"

// What counts values: for registers of eight rows (AVX-512, path 2); else it is the Go form.

#define ATLEAST $0x1d
#define EQUAL $0
#define BELOW $1

// One of the halvings that find the bins of eight rows: at += half where x >= BX_at. V is scratch.
#define HALVE(x, at, v, k, l) \
	KXNORB k, k, k; \
	VGATHERQPD (BX)(at*8), k, v; \
	VCMPPD ATLEAST, v, x, l; \
	VPADDQ Z30, at, l, at

// The first four halvings lead to 1, 2, 4 and 8 edges, which a register holds: code is the number of
// one among them, a bit for every halving, and Z24 the numbers of edges that codes stand for.
//
// FETCH: Z25 = the edges that are compared with, Z30 = half. CHOOSE: code += bit where x >= its
// edge. CODES: Z24 += half where codes have the bit.
#define FETCH 	LEAQ 1(CX), AX; 	SHRQ $1, AX; 	SUBQ AX, CX; 	LEAQ -8(SI)(AX*8), BX; 	VPBROADCASTQ AX, Z30; 	KXNORB K1, K1, K1; 	VGATHERQPD (BX)(Z24*8), K1, Z25
#define CHOOSE(x, code, v, bit, k) 	VPERMPD Z25, code, v; 	VCMPPD ATLEAST, v, x, k; 	VPADDQ bit, code, k, code
#define CHOOSEALL(bit) 	CHOOSE(Z0, Z8, Z16, bit, K1); 	CHOOSE(Z1, Z9, Z17, bit, K2); 	CHOOSE(Z2, Z10, Z18, bit, K3); 	CHOOSE(Z3, Z11, Z19, bit, K4); 	CHOOSE(Z4, Z12, Z20, bit, K5); 	CHOOSE(Z5, Z13, Z21, bit, K6)
#define CODES(bits) 	MOVL bits, AX; 	KMOVB AX, K1; 	VPADDQ Z30, Z24, K1, Z24

// The last of the four: code becomes its number of edges, and half more where x >= its edge.
#define LAST(x, code, v, k) 	VPERMPD Z25, code, v; 	VCMPPD ATLEAST, v, x, k; 	VPERMQ Z24, code, code; 	VPADDQ Z30, code, k, code

// func Bins(at *[Rows]int, edges []float64, x *Column)
//
// binsGo, all rows at once: Z0.. x, Z8.. at.
TEXT ·Bins(SB), NOSPLIT, $0-40
	CMPB ·path(SB), $2
	JEQ  avx512
	JMP  ·binsGo(SB)

avx512:
	MOVQ at+0(FP), DI
	MOVQ edges_base+8(FP), SI
	MOVQ edges_len+16(FP), CX
	MOVQ x+32(FP), DX
	VMOVUPD 0(DX), Z0
	VMOVUPD 64(DX), Z1
	VMOVUPD 128(DX), Z2
	VMOVUPD 192(DX), Z3
	VMOVUPD 256(DX), Z4
	VMOVUPD 320(DX), Z5
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	CMPQ CX, $8
	JLT  left
	VPXORQ Z24, Z24, Z24
	MOVL $1, AX
	VPBROADCASTQ AX, Z26
	VPADDQ Z26, Z26, Z27
	VPADDQ Z27, Z27, Z28
	FETCH
	CHOOSEALL(Z26)
	CODES($0xaa)
	FETCH
	CHOOSEALL(Z27)
	CODES($0xcc)
	FETCH
	CHOOSEALL(Z28)
	CODES($0xf0)
	FETCH
	LAST(Z0, Z8, Z16, K1)
	LAST(Z1, Z9, Z17, K2)
	LAST(Z2, Z10, Z18, K3)
	LAST(Z3, Z11, Z19, K4)
	LAST(Z4, Z12, Z20, K5)
	LAST(Z5, Z13, Z21, K6)
	JMP  left

halve:
	LEAQ 1(CX), AX
	SHRQ $1, AX
	LEAQ -8(SI)(AX*8), BX
	VPBROADCASTQ AX, Z30
	HALVE(Z0, Z8, Z16, K1, K2)
	HALVE(Z1, Z9, Z17, K3, K4)
	HALVE(Z2, Z10, Z18, K5, K6)
	HALVE(Z3, Z11, Z19, K1, K2)
	HALVE(Z4, Z12, Z20, K3, K4)
	HALVE(Z5, Z13, Z21, K5, K6)
	SUBQ AX, CX

left:
	TESTQ CX, CX
	JNE  halve
	VMOVDQU64 Z8, 0(DI)
	VMOVDQU64 Z9, 64(DI)
	VMOVDQU64 Z10, 128(DI)
	VMOVDQU64 Z11, 192(DI)
	VMOVDQU64 Z12, 256(DI)
	VMOVDQU64 Z13, 320(DI)
	VZEROUPPER
	RET

// func Places(at *[Rows]int, x *Column, from uint64, shift, bins int, distance bool)
//
// placesGo, eight rows at a time.
TEXT ·Places(SB), NOSPLIT, $0-41
	CMPB ·path(SB), $2
	JEQ  avx512
	JMP  ·placesGo(SB)

avx512:
	MOVQ at+0(FP), DI
	MOVQ x+8(FP), DX
	VPBROADCASTQ from+16(FP), Z16
	VMOVQ shift+24(FP), X17
	VPBROADCASTQ bins+32(FP), Z18
	MOVBLZX distance+40(FP), AX
	VPTERNLOGQ $0xff, Z31, Z31, Z31    // -1
	VPXORQ Z30, Z30, Z30
	VPSRLQ $1, Z31, Z29                // all bits but the sign
	VPANDNQ Z31, Z29, Z28              // the sign
	VPSUBQ Z31, Z30, Z27               // 1
	VPADDQ Z27, Z27, Z26               // 2
	VMOVDQA64 Z31, Z19                 // which bits of x count
	VMOVDQA64 Z27, Z20                 // what is taken from its number
	TESTL AX, AX
	JEQ  values
	VMOVDQA64 Z29, Z19
	VMOVDQA64 Z30, Z20

values:
	MOVQ $6, CX

rows:
	VPANDQ (DX), Z19, Z0
	VPSRAQ $63, Z0, Z1
	VPANDQ Z29, Z0, Z2
	VPXORQ Z1, Z2, Z2
	VPSUBQ Z1, Z2, Z2
	VPSUBQ Z20, Z2, Z2
	VPXORQ Z28, Z2, Z2                 // Place
	VPSRLQ X17, Z2, Z2
	VPCMPUQ BELOW, Z16, Z2, K1
	VCMPPD EQUAL, Z30, Z0, K2
	VPSUBQ Z16, Z2, Z2
	VPMINUQ Z18, Z2, Z2
	VPADDQ Z26, Z2, Z2
	VMOVDQA64 Z27, K1, Z2
	VMOVDQA64 Z30, K2, Z2
	VMOVDQU64 Z2, (DI)
	ADDQ $64, DX
	ADDQ $64, DI
	DECQ CX
	JNE  rows
	VZEROUPPER
	RET
