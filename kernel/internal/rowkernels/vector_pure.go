//go:build purego || (!amd64 && !arm64)

package rowkernels

func load(x []Column, rows, shift []float64, n int)                 { loadGo(x, rows, shift, n) }
func apply(z []Column, norm2 *Column, x []Column, m *Map)           { applyGo(z, norm2, x, m) }
func products(tiles []tile, h []Column)                             { productsGo(tiles, h) }
func Weigh(h, f, s, n *Column, a, b, c, d float64)                  { weighGo(h, f, s, n, a, b, c, d) }
func Live(s, t, l *Column, a, b, c float64) uint64                  { return liveGo(s, t, l, a, b, c) }
func Keep(to, from []*Column, at int, rows uint64) uint64           { return keepGo(to, from, at, rows) }
func round(h []Column, factor, total *Column)                       { roundGo(h, factor, total) }
func Unit(h, f, n *Column, lift, scale float64) uint64              { return unitGo(h, f, n, lift, scale) }
func Shares(s, n []Column, w []float64, b, t *Column, divided bool) { sharesGo(s, n, w, b, t, divided) }
func Closest(c *[Rows]int, s, n *Column, w, r float64, own int)     { closestGo(c, s, n, w, r, own) }
func Bins(at *[Rows]int, edges []float64, x *Column)                { binsGo(at, edges, x) }
func Places(at *[Rows]int, x *Column, f uint64, s, b int, d bool)   { placesGo(at, x, f, s, b, d) }
