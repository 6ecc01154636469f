//go:build unix

package shell

import "syscall"

// noCore keeps the memory, which holds the table, out of core files. A limit of one byte, unlike
// none, keeps Linux from handing it to a program as well.
func noCore() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = min(1, limit.Max)
		syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}
