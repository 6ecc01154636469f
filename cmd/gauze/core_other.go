//go:build !unix

package main

// noCore does nothing where there are no core files.
func noCore() {}
