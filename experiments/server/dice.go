package server

import (
	"math/rand/v2"
	"sync"
)

// Dice are a seeded generator that several goroutines share. The order of their draws is not fixed.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed uint64) *dice { return &dice{r: rand.New(rand.NewPCG(seed, 22))} }

// below draws one of 0, .., n-1.
func (d *dice) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// part draws a number from 0 to 1.
func (d *dice) part() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64()
}

// normal draws a standard normal.
func (d *dice) normal() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.NormFloat64()
}
