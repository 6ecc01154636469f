//go:build !unix

package shell

// noCore does nothing where there are no core files.
func noCore() {}
