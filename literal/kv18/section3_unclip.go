package kv18

import "math"

// unclip returns the Gaussian N(mean, sd^2) whose first and second moment are the given ones after
// it is clipped to [-radius, radius]: by bisection, for moments that a clipped law can have.
//
// Source: [TYLERPRESS] Section 4.3 with d = 1.
// Differs: the expectations of one column are known in closed form.
func unclip(first, second, radius float64) (mean, sd float64) {
	low, high := math.Log(1e-6*radius), math.Log(1e3*radius)
	for range 60 {
		middle := (low + high) / 2
		sd = math.Exp(middle)
		mean = centred(first, sd, radius)
		if _, got := clipped(mean, sd, radius); got < second {
			low = middle
		} else {
			high = middle
		}
	}
	return mean, sd
}

// centred returns the mean with which the clipped mean is first.
func centred(first, sd, radius float64) float64 {
	reach := radius + 10*sd
	low, high := -reach, reach
	for range 60 {
		middle := (low + high) / 2
		if got, _ := clipped(middle, sd, radius); got < first {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// clipped returns E x and E x^2 for x ~ N(mean, sd^2) moved to the nearest end of [-radius, radius]
// if it lies outside.
func clipped(mean, sd, radius float64) (first, second float64) {
	a, b := (-radius-mean)/sd, (radius-mean)/sd
	below, above := tail(-a), tail(b)
	inside := 1 - below - above
	da, db := density(a), density(b)
	first = radius*(above-below) + mean*inside + sd*(da-db)
	second = radius*radius*(above+below) + mean*mean*inside + 2*mean*sd*(da-db) + sd*sd*(inside+a*da-b*db)
	return first, second
}

// tail returns P(Z > x) for a standard Gaussian Z.
func tail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

func density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
