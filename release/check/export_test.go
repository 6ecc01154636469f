package check

import (
	"maps"
	"slices"
)

// Kinds returns the kinds that are known here, of measurements and of scores.
func Kinds() (measured, chosenBy []string) {
	return slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(scores))
}
