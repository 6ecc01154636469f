//go:build purego || (!amd64 && !arm64)

package panel

func load(x []Column, rows, shift []float64, n int)       { loadGo(x, rows, shift, n) }
func apply(z []Column, norm2 *Column, x []Column, m *Map) { applyGo(z, norm2, x, m) }
func products(tiles []tile, h []Column)                   { productsGo(tiles, h) }
func Weigh(h0, factor, share, norm2 *Column, scale, lift, radius, least float64) {
	weighGo(h0, factor, share, norm2, scale, lift, radius, least)
}
func Round(h []Column, factor, total *Column) { roundGo(h, factor, total) }
func Shares(share, norm2 []Column, logWeight []float64, best, total *Column, divided bool) {
	sharesGo(share, norm2, logWeight, best, total, divided)
}
func Closest(cell *[Rows]int, score, norm2 *Column, logWeight, radius2 float64, own int) {
	closestGo(cell, score, norm2, logWeight, radius2, own)
}
func Bins(at *[Rows]int, edges []float64, x *Column) { binsGo(at, edges, x) }
func Places(at *[Rows]int, x *Column, from uint64, shift, bins int, distance bool) {
	placesGo(at, x, from, shift, bins, distance)
}
