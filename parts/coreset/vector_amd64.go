//go:build !purego

package coreset

import "golang.org/x/sys/cpu"

func init() {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		path = 2
	case cpu.X86.HasAVX2:
		path = 1
	}
}

//go:noescape
func shares(share [][panel]lanes, scale *[panel]lanes, x []block, parts []part, loglik *lanes, wide, score bool)

//go:noescape
func gather(to *[len(sums{})]lanes, share, scale *[panel]lanes, x []block, p *part)
