package stattest

import (
	"hash/fnv"
	"os"
	"testing"
)

// SeedVariable is the environment variable that changes all seeds of Seed: set it
// to any text to run the statistical tests on fresh randomness.
const SeedVariable = "GAUZE_TEST_SEED"

// Trials returns how many trials a search makes that cannot fail by chance: few, or many where
// GAUZE_LONG is set.
func Trials(few, many int) int {
	if os.Getenv("GAUZE_LONG") != "" {
		return many
	}
	return few
}

// Seed returns a seed that depends on t's name and on SeedVariable only: nobody
// picks it, it is the same in every run, and other text gives another one.
func Seed(t testing.TB) uint64 {
	h := fnv.New64a()
	// A hash.Hash never returns an error.
	_, _ = h.Write([]byte(t.Name() + "\x00" + os.Getenv(SeedVariable)))
	return h.Sum64()
}
