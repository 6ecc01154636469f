//go:build linux || darwin || freebsd || netbsd || openbsd

package shards

import (
	"os"

	"golang.org/x/sys/unix"
)

// Map returns the first bytes of a file as memory.
func Map(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Unmap unmaps memory that Map returned.
func Unmap(shard []byte) error { return unix.Munmap(shard) }

// Drop drops whole pages from this process's memory; the file keeps them.
func Drop(pages []byte) { _ = unix.Madvise(pages, unix.MADV_DONTNEED) }
