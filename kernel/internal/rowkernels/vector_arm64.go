//go:build !purego

package rowkernels

func init() { path = 1 }
