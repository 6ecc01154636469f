//go:build !purego && (amd64 || arm64)

package rowkernels

//go:noescape
func load(x []Column, rows, shift []float64, n int)

//go:noescape
func apply(z []Column, norm2 *Column, x []Column, m *Map)

//go:noescape
func products(tiles []tile, h []Column)

// Weigh computes the same as weighGo.
//
//go:noescape
func Weigh(h0, factor, share, norm2 *Column, scale, lift, radius, least float64)

// Unit computes the same as unitGo.
//
//go:noescape
func Unit(h0, factor, norm2 *Column, lift, scale float64) (odd uint64)

//go:noescape
func round(h []Column, factor, total *Column)

// Shares computes the same as sharesGo.
//
//go:noescape
func Shares(share, norm2 []Column, logWeight []float64, best, total *Column, divided bool)

// Closest computes the same as closestGo.
//
//go:noescape
func Closest(cell *[Rows]int, score, norm2 *Column, logWeight, radius2 float64, own int)

// Bins computes the same as binsGo.
//
//go:noescape
func Bins(at *[Rows]int, edges []float64, x *Column)

// Places computes the same as placesGo.
//
//go:noescape
func Places(at *[Rows]int, x *Column, from uint64, shift, bins int, distance bool)

// Live computes the same as liveGo.
//
//go:noescape
func Live(share, total, less *Column, slope, base, least float64) (live uint64)

// Keep computes the same as keepGo.
//
//go:noescape
func Keep(to, from []*Column, at int, rows uint64) (rest uint64)
