package ppe

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// relaxation is z: dist_COMP, and so dist_PARAM, satisfies dist(1,3) <= z (dist(1,2) + dist(2,3))
// where both distances are at most 1.
//
// Source: [PPE] Lemma 5.0.1; Lemma 6.2.2.
// Differs: for dist_MEAN the inequality needs the distance of the covariances as well, which the
// source's proof leaves out.
const relaxation = 1.5

// mask returns B_GMM for k components in d columns, accurate to alpha: each component's weight,
// mean and covariance get noise of their own,
//
//	R_W(w)       = w + eta_W g                                       g ~ N(0, 1)
//	R_MEAN(m, S) = m + eta_MEAN S^(1/2) g                            g ~ N(0, I)
//	R_COV(S)     = S^(1/2) (I + eta_COV G)(I + eta_COV G)' S^(1/2)   G of d x d N(0, 1)
//
// and the components are shuffled. The masked mixture is within alpha of the one that is masked, in
// dist_PARAM, with probability 1 - Beta: each of the 3k parts fails with probability b = Beta/(3k)
// at most,
//
//	eta_W    = alpha/sqrt(2 + 2 ln(1/b))
//	eta_MEAN = alpha/sqrt(3 (1+alpha) (d + ln(1/b)))
//	eta_COV  = alpha/(C_1 (sqrt d + sqrt(ln(4/b)))).
//
// Theorem: C_1 = 7 sqrt d is large enough for alpha <= 1. Let E = (I + h G)(I + h G)' - I = h
// (G+G') + h^2 GG', h = eta_COV, and l = sqrt(ln(4/b)). |G+G'|_F^2 is 4 times a chi-square of
// d(d+1)/2 <= d^2 degrees of freedom, |G|_F^2 one of d^2, and |G| <= 2 sqrt d + sqrt2 l with
// probability 1 - b/4: so with probability 1 - 3b/4, |G+G'|_F <= 2 (d + sqrt2 l), |G|_F <= d +
// sqrt2 l. With u = sqrt d (sqrt d + l) >= d + l, e = |E|_F <= 2 sqrt2 (h u + h^2 u^2), which is at
// most .47 alpha <= alpha/(1+alpha) for h = alpha/(7u). Then |E|_F <= alpha, and the other half of
// dist_COV, |(I+E)^-1 - I|_F <= e/(1-e), too.
//
// Source: [PPE] Algorithm 2; Lemma 5.1.1; Lemma 5.2.1; Lemma 5.3.3; Lemma 6.1.1.
// Differs: C_1 grows with sqrt d. As printed Lemma 5.3.3 holds for the spectral norm only: |G+G'|_F
// is about sqrt2 d, whatever the constant is. There is a factor 1+alpha in eta_MEAN: dist_MEAN is
// in units of either covariance, and the masked one may be so much smaller in the mean's direction.
// A single component's weight is 1 and is not told, so that its noise is as large as the mask
// takes.
func (c Constants) mask(k, d int, alpha float64) privacy.ParameterMask {
	b, n := c.Beta/float64(3*k), float64(d)
	m := privacy.ParameterMask{Components: k, Dimension: d,
		EtaWeight: alpha / math.Sqrt(2+2*math.Log(1/b)),
		EtaMean:   alpha / math.Sqrt(3*(1+alpha)*(n+math.Log(1/b))),
		EtaCov:    alpha / (c.CovFactor * math.Sqrt(n) * (math.Sqrt(n) + math.Sqrt(math.Log(4/b)))),
	}
	if k == 1 {
		m.EtaWeight = mostEta
	}
	return m
}

// mostEta is the largest noise that a mask takes.
const mostEta = 1e3

// closedGamma returns the largest distance dist_PARAM at which the closed forms prove that B_GMM is
// (epsilon, delta)-indistinguishable. Each of its components is B_COMP with 3e and 3s, by basic
// composition of
//
//	Lemma 5.1.1  R_W:     gamma <= alpha e/(2 sqrt2 ln(2/s) sqrt(1 + ln(1/b)))
//	Lemma 5.2.1  R_MEAN:  gamma <= min(1/2, e alpha/(24 ln(2/s) sqrt((1+alpha) (d + ln(1/b)))))
//	Lemma 5.3.2  R_COV:   gamma <= min(sqrt(e/(2d (d + 1/h^2))), e/(8d sqrt(ln(2/s))),
//	                               e/(8 ln(2/s)), e h/(12 sqrt(d ln(2/s)))), h = eta_COV
//
// and k of them compose to sqrt(2k ln(1/3ks)) 3e + 18 k e^2 <= epsilon, 6ks = delta, for e <=
// ln(2)/3.
//
// Source: [PPE] Lemma 5.0.2; Lemma 6.1.1; Lemma 6.2.1.
// Differs: epsilon stands outside the root of advanced composition, where the source has it inside;
// Lemma 5.3.2 is sufficient, if S1^-1/2 S2^1/2 is replaced by what is left of it after a rotation
// (its polar factor), which the source leaves out. Epsilon may be larger than ln(2)/3: e is what
// must not.
func (c Constants) closedGamma(k, d int, alpha, epsilon, delta float64) float64 {
	components, n := float64(k), float64(d)
	s := delta / (6 * components)
	e := math.Min(epsilon/(6*math.Sqrt(2*components*math.Log(2/delta))), math.Min(math.Sqrt(epsilon/(36*components)), math.Ln2/3))
	b, log, h := c.Beta/(3*components), math.Log(2/s), c.mask(k, d, alpha).EtaCov
	gamma := math.Min(.5, alpha*e/(24*log*math.Sqrt((1+alpha)*(n+math.Log(1/b)))))
	if k > 1 {
		gamma = math.Min(gamma, alpha*e/(2*math.Sqrt2*log*math.Sqrt(1+math.Log(1/b))))
	}
	return min(gamma, math.Sqrt(e/(2*n*(n+1/(h*h)))), e/(8*n*math.Sqrt(log)), e/(8*log), e*h/(12*math.Sqrt(n*log)))
}
