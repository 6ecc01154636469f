package query

// What tests of all queries together see of this package beside what it exports.

const (
	RatioUnits   = ratioUnits
	GapDrift     = gapDrift
	GapOctaves   = gapOctaves
	MaxLogWindow = maxLogWindow
	MinLogWindow = minLogWindow
	GapUnits     = gapUnits
	MaxBuckets   = maxBuckets
	MaxDepth     = maxDepth
)

var (
	LogOf       = logOf
	Pack        = pack
	GapPosition = gapPosition
)

// RatioInteger is what a row of log-densities f and g adds.
func RatioInteger(bound, f, g float64) int64 { return (&ratioMap{bound: bound}).integer(f, g) }
