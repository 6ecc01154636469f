//go:build purego || !amd64

package panel

func apply(z []Column, norm2 *Column, x []Column, m *Map) { applyGo(z, norm2, x, m) }
func products(tiles []tile, h []Column)                   { productsGo(tiles, h) }
func round(h []Column, factor, total *Column)             { roundGo(h, factor, total) }
