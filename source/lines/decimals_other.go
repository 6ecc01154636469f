//go:build purego || !amd64

package lines

var vectors = false

// decimals reads no cell and leaves all to read.
func decimals(_ []byte, from, _ int, _ []cell) (n, next int) { return 0, from }
