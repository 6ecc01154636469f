package pure

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/core"
)

// A Metric is a user's own space of estimates: a distance, and a mask that covers it. It receives
// estimates of secret blocks, so its author answers for it, as the author of an own learner does
// (blocks.Secret). All of the guarantee rests on these statements, for the numbers of the
// [OwnSpace] that brings it:
//
//  1. Both methods are functions of their arguments alone, which they neither change, keep nor
//     show, and return; they end neither the process nor their goroutine.
//  2. Two distances of at most Friends, to one estimate in the middle, mean a distance of at most
//     Covers. (A z-approximate r-restricted triangle inequality, r = Covers and Friends = r/(2z),
//     says so.)
//  3. For any two estimates whose distance is at most Covers, in either order, what Mask returns is
//     Mu-GDP and of Rényi divergence at most a Mu^2/2 at every order a > 1, given that all draws of
//     gaussian are independent.
//
// The kernel does the rest: it counts friends in both orders, so that distances are symmetric,
// draws the noise, charges Mu before it draws the blocks, and takes a panic for a distance that is
// too large, or for no release. Certificates say that the space is not part of Gauze.
type Metric interface {
	// Distance returns how far two estimates are apart; NaN or an infinite number if one of them is
	// no estimate.
	Distance(a, b []blocks.Component) float64
	// Mask returns an estimate with noise: gaussian draws a Gaussian of mean 0 and that standard
	// deviation, rounded to an integer, anew with every call. Adding the same to integers is a
	// function of the Gaussian mechanism, since round(X) + k = round(X + k).
	Mask(y []blocks.Component, gaussian func(sigma float64) int64) []blocks.Component
}

// PopularOwnKind is the name of ReleasePopular in a user's own space, in plans and certificates.
const PopularOwnKind = "of blocks: popular estimate in its author's space"

// StatedSpace is the certificate's entry for a user's own space: its mask covers estimates that are
// at most Reach apart, in the units of its distance, at a cost of Mu. Its author vouches for this.
type StatedSpace struct {
	Reach int64
	Mu    float64
}

// Kind returns PopularOwnKind.
func (StatedSpace) Kind() string { return PopularOwnKind }

// Covers returns the largest distance of two estimates that the mask covers: its sensitivity.
func (s StatedSpace) Covers() int64 { return s.Reach }

// OwnSpace is the space of a [Metric], with its author's statements.
type OwnSpace struct {
	Metric Metric
	// Components and Columns are those of an estimate, as of a learner's. Required.
	Components, Columns int
	// Friends is the distance up to which two estimates count as close: r/(2z), at most half of
	// Covers. Required.
	Friends float64
	// Covers is r, a whole number of units of the distance, 2 to 2^52. Required.
	Covers int64
	// Mu is the cost of the mask, in Gaussian DP. Required.
	Mu float64
}

func (h OwnSpace) asked() asked { return StatedSpace{h.Covers, h.Mu} }

func (h OwnSpace) mask() (line core.Measurement, components, columns int, err error) {
	if h.Metric == nil || !(h.Friends > 0 && 2*h.Friends <= float64(h.Covers)) || h.Covers < 2 || h.Covers > mostUnits {
		return line, h.Components, h.Columns, fmt.Errorf("want an OwnSpace with a Metric, Friends above 0 and at most half of Covers, and Covers of 2 to 2^52, got Friends %v, Covers %d", h.Friends, h.Covers)
	}
	sigma, err := core.Sigma(PopularOwnKind, float64(h.Covers), h.Mu)
	return core.Measurement{Sensitivity: float64(h.Covers), Noise: sigma, Mu: h.Mu}, h.Components, h.Columns, err
}

// close reports whether two estimates are at most Friends apart, in both orders.
func (h OwnSpace) close(a, b []blocks.Component) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return h.Metric.Distance(a, b) <= h.Friends && h.Metric.Distance(b, a) <= h.Friends
}

func (h OwnSpace) friends(all [][]blocks.Component) []int {
	counts := make([]int, len(all))
	for i, y := range all {
		if y == nil {
			continue
		}
		counts[i]++
		for j := range i {
			if all[j] != nil && h.close(y, all[j]) {
				counts[i]++
				counts[j]++
			}
		}
	}
	return counts
}

// masked returns the mask's estimate, or nil if that is no estimate: the release is a function of
// the mask's result.
func (h OwnSpace) masked(d *core.Draw, y []blocks.Component) (out []blocks.Component) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	out = h.Metric.Mask(y, d.Gaussian)
	if len(out) != h.Components || blocks.Decode(rowsOf(out), h.Columns) == nil {
		return nil
	}
	return out
}

// rowsOf returns components in the form that learners return.
func rowsOf(components []blocks.Component) (rows [][]float64) {
	for _, c := range components {
		rows = append(rows, append(append([]float64{c.Weight}, c.Mean...), c.Root...))
	}
	return rows
}
