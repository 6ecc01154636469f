package shards

import "golang.org/x/sys/unix"

// block is zeros in large pages, or in others where there are none; nil if they can't be had.
func block(size int) []byte {
	zeros, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(zeros, unix.MADV_HUGEPAGE)
	return zeros
}
