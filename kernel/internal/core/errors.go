package core

import "errors"

// ErrExhausted is wrapped by the error of a measurement that the sub-budget cannot pay. Nothing is
// spent.
var ErrExhausted = errors.New("the budget is exhausted")

// errInternal is all that is said of a fault in code that has seen rows: what a panic says of
// itself may depend on them. A measurement was charged before; what Secretly does is not.
var errInternal = errors.New("kernel: internal error while rows were read; what was charged by then is spent")
