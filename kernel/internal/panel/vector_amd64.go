//go:build !purego

package panel

import "golang.org/x/sys/cpu"

func init() {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL:
		path = 2
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		path = 1
	}
}

//go:noescape
func load(x []Column, rows, shift []float64, n int)

//go:noescape
func apply(z []Column, norm2 *Column, x []Column, m *Map)

//go:noescape
func products(tiles []tile, h []Column)

// Round is roundGo.
//
//go:noescape
func Round(h []Column, factor, total *Column)

// Shares is sharesGo.
//
//go:noescape
func Shares(share, norm2 []Column, logWeight []float64, best, total *Column, divided bool)

// Closest is closestGo.
//
//go:noescape
func Closest(cell *[Rows]int, score, norm2 *Column, logWeight, radius2 float64, own int)
