package component

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// ClippingLaw holds the first-order effect of clipping z ~ N(delta, I+E) in R^d to the ball of
// radius R. With g = min(1, R^2/|z|^2),
//
//	E[sqrt(g) z]   = A1 delta                          + higher order,
//	E[g z z^T]     = A I + B1 E + B2 tr(E) I           + higher order,
//
// where E includes the shift: E <- E + delta delta^T. V and VM are the variances of an off-diagonal
// entry of g z z^T and of its trace divided by d. With c^2 = R^2 - |z|^2, 0 beyond the radius,
//
//	E[c z] = C delta + higher order,
//
// and VC is the variance of a coordinate of c z.
//
// Source: [TYLERPRESS] Section 4.3.
// Differs: closed forms by incomplete gamma functions instead of a quantile rule.
type ClippingLaw struct {
	D                    int
	R2                   float64
	A, A1, B1, B2, V, VM float64
	C, VC                float64
}

// ClippedGaussian returns the law for dimension d >= 1 and squared radius r2 > 0.
func ClippedGaussian(d int, r2 float64) ClippingLaw {
	// below(m) = E[q^m; q <= r2], above(m) = E[q^m; q > r2] for q ~ chi-square with d degrees of
	// freedom.
	full := func(m float64) float64 {
		a, _ := math.Lgamma(float64(d)/2 + m)
		b, _ := math.Lgamma(float64(d) / 2)
		return math.Exp(m*math.Ln2 + a - b)
	}
	below := func(m float64) float64 { return full(m) * mathext.GammaIncReg(float64(d)/2+m, r2/2) }
	above := func(m float64) float64 { return full(m) * mathext.GammaIncRegComp(float64(d)/2+m, r2/2) }
	n := float64(d)
	l := ClippingLaw{D: d, R2: r2}
	eGQ := below(1) + r2*above(0)
	eG2Q2 := below(2) + r2*r2*above(0)
	l.A = eGQ / n
	// d/d delta of E[sqrt(g) z] at 0 is E[sqrt(g) z z^T] = E[q sqrt g]/d I.
	l.A1 = (below(1) + math.Sqrt(r2)*above(.5)) / n
	l.B1 = (below(2) + r2*above(1)) / (n * (n + 2))
	l.B2 = (l.B1 - l.A) / 2
	l.V = eG2Q2 / (n * (n + 2))
	l.VM = math.Max(0, eG2Q2-eGQ*eGQ) / n
	l.C, l.VC = crossGain(d, r2), math.Max(0, r2*below(1)-below(2))/n
	return l
}

// TraceGain returns the derivative of tr E[g z z^T]/d with respect to tr E/d.
func (l ClippingLaw) TraceGain() float64 { return l.B1 + float64(l.D)*l.B2 }

// ClippedVariance returns the v of N(0, v I) whose clipped |z|^2 has the mean trace, in [exp(-20),
// exp(6)].
func ClippedVariance(d int, trace, r2 float64) float64 {
	lo, hi := parts.Bisect(-20, 6, 60, func(log float64) bool {
		v := math.Exp(log)
		return v*ClippedGaussian(d, r2/v).A*float64(d) < trace
	})
	return math.Exp((lo + hi) / 2)
}

// Error returns the expected squared Frobenius error of what the form of the noise says of a
// covariance, recovered from n clipped rows: [TYLERPRESS] Section 4.3, the objective of R^2. An
// error of the number of rows is taken for a change of scale: see traceBy. Of forms that measure
// fewer entries than the mean has, it is with the error of the mean, which costs twice as much:
// |delta|^2/2 nats beside |E|^2/4.
func (l ClippingLaw) Error(n float64, noise Noise) float64 {
	d, gain := float64(l.D), l.TraceGain()
	second2, count2 := sq(noise.Second*l.R2/n), sq(noise.Count/n)
	trace := second2 + d*sq(l.A)*count2
	mean := 0.0
	switch noise.Form {
	case query.CompletedForm:
		trace = second2/(d+1) + d*sq(l.restLeft()/(d+1))*count2
	case query.SphericalForm:
		trace = second2/d + d*sq(l.A)*count2
		fallthrough
	case query.DiagonalForm:
		mean = 2 * d * sq(l.MeanNoise(n, noise))
	}
	return noise.shapes(d)*(2*l.V/n+second2)/(l.B1*l.B1) + (l.VM/n+trace)/(gain*gain) + mean
}

// ClippingRadius2 returns the squared radius that minimises Error + misfit * d (1-A)^2 over a
// public grid. misfit is a utility constant: how much of
// what clipping hides is expected to be unlike a Gaussian's tail.
func ClippingRadius2(d int, n float64, noise Noise, misfit float64) float64 {
	best, at := math.Inf(1), farthest(d)
	for _, l := range grid(d) {
		if e := l.Error(n, noise) + misfit*float64(d)*(1-l.A)*(1-l.A); e < best {
			best, at = e, l.R2
		}
	}
	return at
}

// grid returns that of Radius2, computed once for every d.
func grid(d int) []ClippingLaw {
	if known, is := grids.Load(d); is {
		return known.([]ClippingLaw)
	}
	var laws []ClippingLaw
	for r2 := .4*float64(d) + .5; r2 <= 8*farthest(d); r2 *= 1.08 {
		laws = append(laws, ClippedGaussian(d, r2))
	}
	grids.Store(d, laws)
	return laws
}

var grids sync.Map

func farthest(d int) float64 { return float64(d) + 6*math.Sqrt(float64(d)) + 25 }
