package shards

import "golang.org/x/sys/unix"

// block returns zeroed memory in large pages, or in others if there are none; nil if it cannot be
// had.
func block(size int) []byte {
	zeros, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(zeros, unix.MADV_HUGEPAGE)
	return zeros
}
