//go:build !purego

package panel

func init() { path = 1 }
