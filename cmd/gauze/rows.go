package main

import (
	crand "crypto/rand"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/model/synthetic"
	"github.com/gauze-dp/gauze/release"
)

// A drawn is a part of what rows are drawn from, and the release that it is of.
type drawn struct {
	synthetic.Part
	of *release.Release
}

// writeRows draws rows and writes them as CSV.
func writeRows(e *shell.Env, from []drawn, head []string, rows int, rng *rand.Rand) error {
	var parts []synthetic.Part
	for _, d := range from {
		parts = append(parts, d.Part)
	}
	return synthetic.Write(e.Ctx, e.Stdout, parts, head, rows, rng)
}

// ofGroups returns the models of a release of groups, in proportion to their noisy numbers of rows,
// each with its categories before its rows if by is set.
func ofGroups(r *release.Release, by bool) (out []drawn, head []string) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Model == nil {
			continue
		}
		d := drawn{synthetic.Part{Model: g.Model, Weight: max(g.Rows, 1)}, r.Of(i)}
		if by {
			head, d.Head = r.Certificate.By, g.Categories(r.Certificate.By)
		}
		out = append(out, d)
	}
	return out, head
}

// seeded draws the same numbers for the same seed, on every machine.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// unseeded draws unpredictable numbers.
func unseeded() *rand.Rand {
	var key [32]byte
	if _, err := crand.Read(key[:]); err != nil {
		panic("the system has no randomness: " + err.Error())
	}
	return rand.New(rand.NewChaCha8(key))
}
