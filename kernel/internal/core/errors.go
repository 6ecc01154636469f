package core

import "errors"

// ErrExhausted is wrapped by the error of a measurement that the sub-budget cannot pay. Nothing is
// spent.
var ErrExhausted = errors.New("the budget is exhausted")

// errInternal is the only report of a fault in code that has seen rows: the message of a panic may
// depend on them. A measurement was charged by then; Secretly charges nothing.
var errInternal = errors.New("kernel: internal error while rows were read; what was charged by then is spent")
