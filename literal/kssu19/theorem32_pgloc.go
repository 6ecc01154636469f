package kssu19

import "github.com/gauze-dp/gauze/kernel"

// ballFactor is what PGLOC multiplies GoodRadius' answer by.
const ballFactor = 4.0

// pglocSteps returns the steps of PGLOC; slack is for all its thresholds together.
func pglocSteps(prefix string, share float64, most int, slack float64) []kernel.Step {
	return append(goodRadiusSteps(prefix, share/2, most), goodCenterSteps(prefix, share/2, most, slack/2)...)
}

// pgloc finds, for every part, a ball that holds at least half of t of its rows and is not much
// larger than the smallest one that holds t; nil is bottom.
//
// Source: [KSSU19] Theorem 3.2; Section B.3 of the restatement.
// Differs: mu^2 is halved where the source halves epsilon.
func (r *run) pgloc(prefix string, parts []part, mu2 float64) ([]*ball, error) {
	radii, err := r.goodRadius(prefix, parts, mu2/2)
	if err != nil {
		return nil, err
	}
	balls, err := r.goodCenter(prefix, parts, radii, mu2/2)
	if err != nil {
		return nil, err
	}
	for _, b := range balls {
		if b != nil {
			b.radius *= ballFactor
		}
	}
	return balls, nil
}
