package shards

import "unsafe"

// This is the one file of the program that uses unsafe. It changes no address and keeps none: both
// functions return the memory that they are handed, as numbers of the other kind, for as long as
// the caller has it.

// Floats returns memory as numbers in the order of bytes of this machine: as many as fit. The
// memory begins where a number can, as pages and large allocations do; elsewhere it panics.
func Floats(memory []byte) []float64 {
	n := len(memory) / number
	if n == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(memory))
	if uintptr(first)%unsafe.Alignof(float64(0)) != 0 {
		panic("shards: numbers begin between two numbers")
	}
	return unsafe.Slice((*float64)(first), n)
}

// Bytes returns the memory of numbers.
func Bytes(numbers []float64) []byte {
	if len(numbers) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), number*len(numbers))
}
