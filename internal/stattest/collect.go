package stattest

import "runtime/debug"

// Most tables of tests are small, and collecting garbage at every four megabytes took a fifth of
// the tests' time. The limit keeps large tables from taking five times their size.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(3 << 30)
}
