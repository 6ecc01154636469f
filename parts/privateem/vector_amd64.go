//go:build !purego

package privateem

import "golang.org/x/sys/cpu"

func init() { path = cpu.X86.HasAVX2 }

//go:noescape
func square(out *lanes, x []lanes, w []float64, stride, rows int, mean []float64, off []lanes)

//go:noescape
func exp(v *lanes)
