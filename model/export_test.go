package model

// BottleneckAssignment is bottleneckAssignment, for the property test against brute force.
var BottleneckAssignment = bottleneckAssignment
