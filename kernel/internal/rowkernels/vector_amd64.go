//go:build !purego

package rowkernels

import "golang.org/x/sys/cpu"

func init() {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT:
		path = 2
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		path = 1
	}
}
