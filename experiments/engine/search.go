package engine

import "slices"

// A step is a number of rows that was tried.
type step struct {
	N    int
	Pass bool
}

// smallest looks for the smallest n of a rising grid that passes, from the grid's n closest to
// start: down as long as it passes, or up until it does. most > 0 bounds the steps away from start.
// The n found is 0 if none passed; where the last step down still passed, it is an upper bound.
//
// A test that passes by chance on the way down is believed. pass is called at most once for an n.
func smallest(grid []int, start, most int, pass func(n int) (bool, error)) (n int, tried []step, err error) {
	at := nearest(grid, start)
	try := func(i int) bool {
		if err != nil {
			return false
		}
		var ok bool
		if ok, err = pass(grid[i]); err != nil {
			return false
		}
		tried = append(tried, step{grid[i], ok})
		if ok {
			n = grid[i]
		}
		return ok
	}
	lowest, highest := 0, len(grid)-1
	if most > 0 {
		lowest, highest = max(0, at-most), min(len(grid)-1, at+most)
	}
	if try(at) {
		for i := at - 1; i >= lowest && try(i); i-- {
		}
	} else {
		for i := at + 1; i <= highest && err == nil && !try(i); i++ {
		}
	}
	return n, tried, err
}

// nearest returns the index in an increasing grid of the value whose ratio to x is closest to 1.
func nearest(grid []int, x int) int {
	i, found := slices.BinarySearch(grid, x)
	switch {
	case found || i == 0:
		return i
	case i == len(grid):
		return i - 1
	case float64(x)/float64(grid[i-1]) < float64(grid[i])/float64(x):
		return i - 1
	}
	return i
}
