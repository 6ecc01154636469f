//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// What PSHUFB brings to the end of 16 bytes, with zeros in front: the first i of them from byte i+1
// on of this table; none from byte 0 and 1 on.
DATA last<>+0(SB)/8, $0x8080808080808080
DATA last<>+8(SB)/8, $0x8080808080808080
DATA last<>+16(SB)/8, $0x0605040302010080
DATA last<>+24(SB)/8, $0x0e0d0c0b0a090807
DATA last<>+32(SB)/1, $0x0f
GLOBL last<>(SB), RODATA|NOPTR, $33

DATA zero<>+0(SB)/1, $'0'
GLOBL zero<>(SB), RODATA|NOPTR, $1
DATA least<>+0(SB)/1, $('0'+128)          // makes digits the least of signed bytes
GLOBL least<>(SB), RODATA|NOPTR, $1
DATA nine<>+0(SB)/1, $(9-128)
GLOBL nine<>(SB), RODATA|NOPTR, $1
DATA point<>+0(SB)/1, $'.'
GLOBL point<>(SB), RODATA|NOPTR, $1
DATA comma<>+0(SB)/1, $','
GLOBL comma<>(SB), RODATA|NOPTR, $1
DATA quote<>+0(SB)/1, $'"'
GLOBL quote<>(SB), RODATA|NOPTR, $1
DATA ten<>+0(SB)/4, $0x010a010a           // 10 and 1, bytes
GLOBL ten<>(SB), RODATA|NOPTR, $4
DATA hundred<>+0(SB)/4, $0x00010064       // 100 and 1, of two bytes
GLOBL hundred<>(SB), RODATA|NOPTR, $4
DATA myriad<>+0(SB)/4, $0x00012710        // 10,000 and 1, of two bytes
GLOBL myriad<>(SB), RODATA|NOPTR, $4
DATA hundredMillion<>+0(SB)/8, $100000000
GLOBL hundredMillion<>(SB), RODATA|NOPTR, $8

// WHOLE notes where a cell is, and makes its digits a whole number, AX: BX are its bytes up to the
// last digit, DX those before a point, R11 is whether there is a minus, AX where the cell ends. R13
// becomes how many digits are behind a point, R15 the power of five for them.
#define WHOLE \
	VMOVDQU (R8)(R11*1), X0; \
	VINSERTI128 $1, 1(R8)(DX*1), Y0, Y0; \
	MOVQ BX, R13; \
	SUBQ DX, R13; \
	SUBQ R11, DX; \
	SUBQ R11, BX; \
	CMPQ R13, $1; \
	ADCQ $-2, BX; \
	CMPQ BX, $18; \
	JHI  few; \
	CMPQ DX, $16; \
	JGT  stop; \
	CMPQ R13, $17; \
	JGT  stop; \
	SUBQ SI, R8; \
	MOVQ R8, cell_from(DI); \
	LEAQ 1(AX), R8; \
	SUBQ SI, AX; \
	MOVQ AX, cell_to(DI); \
	VMOVDQU 1(R12)(DX*1), X1; \
	VINSERTI128 $1, (R12)(R13*1), Y1, Y1; \
	VPSUBB Y15, Y0, Y0; \
	VPSHUFB Y1, Y0, Y0; \
	VPMADDUBSW Y12, Y0, Y0; \
	VPMADDWD Y11, Y0, Y0; \
	VPACKUSDW Y0, Y0, Y0; \
	VPMADDWD Y10, Y0, Y0; \
	VPMULUDQ Y9, Y0, Y1; \
	VPSRLQ $32, Y0, Y0; \
	VPADDQ Y1, Y0, Y0; \
	VMOVQ X0, AX; \
	VEXTRACTI128 $1, Y0, X0; \
	VMOVQ X0, BX; \
	XORL DX, DX; \
	SUBQ $1, R13; \
	CMOVQLT DX, R13; \
	MOVQ (R10)(R13*8), R15; \
	SHLXQ R13, R15, DX; \
	IMULQ DX, AX; \
	ADDQ BX, AX

// func decimals(text []byte, from, end int, cells []cell) (n, next int)
//
// A cell is found by two masks of its first 32 bytes: what is no digit, and what is neither a digit
// nor a point. The digits before the point fill the lower half of Y0, those behind it the upper one,
// each at its end behind zeros; both halves become numbers at once, digits in pairs, fours, eights
// and sixteens. What follows is value, of a power that is not positive. Cells that are empty, text
// or with an exponent are read behind all that.
//
// SI text, R8 the cell's first byte, R9 that behind the line, DI the next of cells, CX how many are
// left, R11 whether there is a minus, BX the cell's length, DX its bytes before a point, R13 those
// from the point on, R15 a power of five.
TEXT ·decimals(SB), NOSPLIT, $0-80
	MOVQ from+24(FP), R8
	MOVQ cells_len+48(FP), CX
	CMPB ·vectors(SB), $0
	JEQ  done
	MOVQ text_base+0(FP), SI
	MOVQ end+32(FP), R9
	ADDQ SI, R8
	ADDQ SI, R9
	MOVQ cells_base+40(FP), DI
	LEAQ ·fives(SB), R10
	LEAQ last<>(SB), R12
	VPBROADCASTB zero<>(SB), Y15
	VPBROADCASTB least<>(SB), Y14
	VPBROADCASTB nine<>(SB), Y7
	VPBROADCASTB point<>(SB), Y13
	VPBROADCASTD ten<>(SB), Y12
	VPBROADCASTD hundred<>(SB), Y11
	VPBROADCASTD myriad<>(SB), Y10
	VPBROADCASTQ hundredMillion<>(SB), Y9
	VPXOR X8, X8, X8

next:
	VMOVDQU (R8), Y0
	XORL R11, R11
	CMPB (R8), $'-'
	SETEQ R11
	VPSUBB Y14, Y0, Y1
	VPCMPGTB Y7, Y1, Y1                // no digits
	VPCMPEQB Y13, Y0, Y0               // points
	VPANDN Y1, Y0, Y0                  // neither
	VPMOVMSKB Y0, BX
	VPMOVMSKB Y1, DX
	ANDNL BX, R11, BX
	ANDNL DX, R11, DX
	TZCNTL BX, BX
	JCS  stop                          // the cell goes on
	BLSRL DX, AX
	TZCNTL DX, DX
	TZCNTL AX, AX
	CMPL AX, BX
	JLT  stop                          // a second point
	LEAQ (R8)(BX*1), AX                // where the cell ends
	CMPB (AX), $','
	JEQ  ended
	CMPQ AX, R9
	JNE  more                          // there is more in the cell

ended:
	WHOLE

scaled:
	BSRQ R15, DX
	XORQ $63, DX                       // down
	SHLXQ DX, R15, R15                 // y
	SUBQ R13, DX                       // power and down
	MOVQ AX, BX
	ORQ  $1, BX
	BSRQ BX, BX
	XORQ $63, BX                       // up, but 63 of zero
	SUBQ BX, DX
	LEAQ (1023-62)(DX), R13            // the exponent of a power of two
	SHLXQ BX, AX, DX                   // x
	MOVQ DX, AX
	SHRQ $2, DX
	SHLQ $62, AX
	DIVQ R15
	TESTQ DX, DX
	SETNE DX
	ORB  DX, AX
	VCVTSI2SDQ AX, X8, X0
	SHLQ $52, R13
	SHLQ $63, R11
	ORQ  R11, R13
	VMOVQ R13, X1
	VMULSD X1, X0, X0
	VMOVSD X0, cell_value(DI)

read:
	ADDQ $cell__size, DI
	DECQ CX
	JEQ  stop
	CMPQ R8, R9
	JLE  next

stop:
	VZEROUPPER
	SUBQ SI, R8

done:
	MOVQ cells_len+48(FP), AX
	SUBQ CX, AX
	MOVQ AX, n+64(FP)
	MOVQ R8, next+72(FP)
	RET

few: // or many: BX is how many digits there are, but one
	CMPQ BX, $-1
	JNE  stop

none: // the cell ends at AX, and is no number
	SUBQ SI, R8
	MOVQ R8, cell_from(DI)
	LEAQ 1(AX), R8
	SUBQ SI, AX
	MOVQ AX, cell_to(DI)
	MOVQ $0x7FF8000000000001, AX       // math.NaN()
	MOVQ AX, cell_value(DI)
	JMP  read

more: // what is at AX may be an exponent, or a plus sign, which is left
	MOVBLZX (AX), R13
	CMPL R13, $'+'
	JEQ  stop
	ORL  $0x20, R13
	CMPL R13, $'e'
	JEQ  exponent

text: // there are no numbers with anything else in them: they end with a comma or the line
	VMOVDQU (R8), Y0
	VPBROADCASTB comma<>(SB), Y1
	VPCMPEQB Y0, Y1, Y1
	VPMOVMSKB Y1, AX
	TZCNTL AX, AX                      // 32 without a comma
	VPBROADCASTB quote<>(SB), Y1
	VPCMPEQB Y0, Y1, Y1
	VPMOVMSKB Y1, DX
	TZCNTL DX, DX
	CMPL DX, AX
	JLT  stop                          // a quote
	CMPL AX, $32
	SETEQ DX
	ADDQ R8, AX
	CMPQ AX, R9
	JEQ  none
	JHI  last
	TESTB DX, DX
	JEQ  none
	JMP  stop                          // the cell goes on

last:
	MOVQ R9, AX
	JMP  none

exponent: // of one or two digits, from R14 on
	LEAQ 1(AX), R14
	MOVBLZX (R14), R13
	XORL R15, R15
	CMPL R13, $'-'
	SETEQ R15
	JEQ  signed
	CMPL R13, $'+'
	JNE  unsigned

signed:
	INCQ R14
	MOVBLZX (R14), R13

unsigned:
	SUBL $'0', R13
	CMPL R13, $9
	JHI  text
	INCQ R14
	MOVBLZX (R14), AX
	SUBL $'0', AX
	CMPL AX, $9
	JHI  short
	INCQ R14
	LEAL (R13)(R13*4), R13
	LEAL (AX)(R13*2), R13

short:
	CMPB (R14), $','
	JEQ  alone
	CMPQ R14, R9
	JNE  stop                          // there is more in the cell

alone:
	DECQ R15
	XORQ R15, R13
	SUBQ R15, R13                      // more than nothing if the power of ten is less
	MOVQ R14, AX
	MOVQ R13, R14
	WHOLE
	ADDQ R14, R13
	CMPQ R13, $27                      // fives has no more
	JHI  back
	MOVQ (R10)(R13*8), R15
	JMP  scaled

back:
	MOVQ cell_from(DI), R8
	ADDQ SI, R8
	JMP  stop
