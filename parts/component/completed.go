package component

import (
	"math"

	"github.com/gauze-dp/gauze/parts"
)

// A release of the completed form (query.CompletedForm) measures the trace and the mean twice, with
// noise that is independent: the trace by the diagonal of the second moment and by what is left of
// R^2, and the mean by the sum of z and by the sum of c z, c^2 = R^2 - |z|^2, 0 beyond the radius.

// Counted returns the sums with the count that all entries say together: the corner's, and that of
// the trace and the rest, which are R^2 times the count.
func (s Sums) Counted(r2 float64) Sums {
	if s.Cross == nil {
		return s
	}
	all, sd := (s.Trace+s.Rest)/r2, math.Hypot(s.TraceSD, s.SecondSD)/r2
	part := 1 / (1 + sq(sd/s.CountSD))
	s.Count += part * (all - s.Count)
	s.CountSD = sd * math.Sqrt(part)
	return s
}

// restLeft returns R^2 - (d+1) A, what an error of the relative number of rows does to the trace
// that traceBy finds, times (d+1)/d.
func (l ClippingLaw) restLeft() float64 { return l.R2 - float64(l.D+1)*l.A }

// traceBy returns the sum of |z|^2 of n rows, and the noise sd of what it is more than A d n: the
// diagonal says T and the rest R^2 n - S, each weighted by one over the variance of its noise. sd
// is that of n.
func (s Sums) traceBy(n, sd float64, l ClippingLaw) (trace, noise float64) {
	d := float64(l.D)
	part := d / (d + 1)
	return (1-part)*s.Trace + part*(l.R2*n-s.Rest), math.Hypot(s.SecondSD*math.Sqrt(part), part*l.restLeft()*sd)
}

// meanBy returns the mean of n rows by the sums of z and, in the completed form, of c z, in the
// part with the least variance, and the noise sd of a coordinate.
func (s Sums) meanBy(n float64, l ClippingLaw) (mean []float64, noise float64) {
	mean, noise = parts.Map(s.Sum, func(v float64) float64 { return v / n / l.A1 }), s.SumSD/n/l.A1
	if s.Cross == nil {
		return mean, noise
	}
	cross := s.CrossSD / n / l.C
	part, _ := l.CrossPart(sq(s.SumSD/n), sq(s.CrossSD/n), n)
	for i, v := range s.Cross {
		mean[i] += part * (v/n/l.C - mean[i])
	}
	return mean, math.Hypot((1-part)*noise, part*cross)
}

// RestPart returns the part of the second measurement in the mean of |z|^2 with the least variance,
// and that variance, of the noise alone: noise2 is that of a diagonal entry, as a mean over the
// rows, and count2 the relative variance of the number of rows that sums are divided by, which both
// measurements share. From the diagonal the mean is T/N, with an error of d noise2 and -A d dN/N;
// from the rest it is R^2 - S/N, with an error of noise2 and (R^2 - A d) dN/N.
//
// The first is that of every law of the rows, and so is the mean; only the part assumes a Gaussian.
func (l ClippingLaw) RestPart(noise2, count2 float64) (part, variance float64) {
	d := float64(l.D)
	part = (d*noise2 + l.R2*l.A*d*count2) / ((d+1)*noise2 + l.R2*l.R2*count2)
	off := part*l.R2 - l.A*d
	return part, ((1-part)*(1-part)*d+part*part)*noise2 + off*off*count2
}

// CrossPart returns the part of the second measurement in a coordinate of the mean delta with the
// least variance, and the variance of the difference of both, sampling included. direct2 and cross2
// are the variances of the noise of a coordinate of the means of z and of c z.
func (l ClippingLaw) CrossPart(direct2, cross2, rows float64) (part, apart2 float64) {
	direct := (direct2 + l.A/rows) / (l.A1 * l.A1)
	cross := (cross2 + l.VC/rows) / (l.C * l.C)
	both := 1 / (l.A1 * rows) // E[c z z] = C, as all of the first is z where c is not 0
	apart2 = direct + cross - 2*both
	return math.Min(math.Max((direct-both)/apart2, 0), 1), apart2
}

// crossGain returns the derivative C of E[c z] with respect to the mean, E[c |z|^2]/d: with x =
// R^2/2,
//
//	C = R^(d+3) B(d/2+1, 3/2) e^-x M(3/2, d/2+5/2, x) / (d 2^(d/2) Gamma(d/2)),
//
// M being Kummer's function, whose series has positive terms.
func crossGain(d int, r2 float64) float64 {
	n, x := float64(d), r2/2
	lgamma := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	log := (n+3)/2*math.Log(r2) + lgamma(n/2+1) + lgamma(1.5) - lgamma((n+5)/2) - x - n/2*math.Ln2 - lgamma(n/2)
	// terms grow up to about k = x, and then fall; the sum is held below what overflows
	const most = 1e200
	sum, term := 0.0, 1.0
	for k := 0.0; ; k++ {
		sum += term
		ratio := (1.5 + k) / (n/2 + 2.5 + k) * x / (k + 1)
		if term *= ratio; ratio < 1 && term < 1e-16*sum {
			return sum * math.Exp(log) / n
		}
		if sum > most {
			sum, term, log = sum/most, term/most, log+math.Log(most)
		}
	}
}
