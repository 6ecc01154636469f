package literal

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A MixtureBound is a lower bound for every method on mixtures: on some mixture its mean total
// variation distance from the truth, 1 where it releases nothing, is at least this. 0 says nothing.
type MixtureBound struct {
	Components     int     `json:"components"`
	TotalVariation float64 `json:"total_variation"`
	// WithoutPrivacy holds for every method.
	WithoutPrivacy float64 `json:"total_variation_without_privacy"`
	// Rows are needed by every method for a mean total variation of Learned.
	Rows    float64 `json:"rows_needed"`
	Learned float64 `json:"for_total_variation"`
}

// Learned is the total variation distance below which a mixture counts as learned.
const Learned = .15

// MixtureBoundOf returns a lower bound on the mean total variation distance of every (epsilon,
// delta)-differentially private method, for mixtures of k Gaussians of the shape p.Covariance in
// p.Columns columns from that many rows, for methods without bounds on the means. The method may
// know k, the weights and how the components are distinguished. Whatever distribution Q it
// releases, for every such method there is a mixture P (in fact: it is so on average over those of
// the proof) with E TV(P, Q) at least the largest of three terms: places, sampling and privacy.
//
// Proof: mixture_proof.md, steps 1 to 7.
//
// Source: [AMN24] Theorem 1.6 A lower bound on the rows; [KMS22] the fingerprinting lemma for
// exponential families.
// Differs: constants are explicit, and every term is a mean total variation instead of a number of
// rows. Theorem 1.6 has the sum of the terms, k d^2 (1/alpha^2 + 1/(alpha epsilon)) + k
// ln(1/delta)/(alpha epsilon); here it is their largest, d^2 is d or d^2/4, and the constants are
// small.
func MixtureBoundOf(p estimate.Problem, b privacy.Budget, k int, rows float64) MixtureBound {
	if k < 1 || p.Columns < 1 || !(rows > 0) {
		return MixtureBound{}
	}
	l := mixtureLimit{k: float64(k), families: familiesOf(p)}
	plain := l
	if !b.Concentrated() && b.Delta > 0 {
		l.epsilon, l.delta, l.addRemove = b.Epsilon, b.Delta, p.Relation == privacy.AddRemoveOne
	}
	out := MixtureBound{Components: k, TotalVariation: l.at(rows), WithoutPrivacy: plain.at(rows), Learned: Learned}
	low, high := 0., 1.
	for l.at(high) > Learned {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := math.Floor((low + high) / 2); l.at(mid) > Learned {
			low = mid
		} else {
			high = mid
		}
	}
	out.Rows = high
	return out
}

// A mixtureLimit is what the bound depends on but for the rows.
type mixtureLimit struct {
	k              float64
	families       []family
	epsilon, delta float64 // 0 without privacy
	addRemove      bool
}

// farthest keeps e^epsilon/delta a float64.
const farthest = 600

// at returns the bound for so many rows.
func (l mixtureLimit) at(n float64) float64 {
	most := 0.0
	for _, f := range l.families {
		most = math.Max(most, f.sampling(n/l.k)/2)
	}
	if l.delta == 0 || l.epsilon-math.Log(l.delta) > farthest {
		return most
	}
	epsilon, delta := l.epsilon, l.delta
	if l.addRemove {
		epsilon, delta = 2*epsilon, (1+math.Exp(epsilon))*delta
	}
	for _, f := range l.families {
		most = math.Max(most, f.private(n/l.k, epsilon, delta)/2)
	}
	return math.Max(most, l.places(n))
}

// A family is one of the families of the comment above.
type family struct {
	d, numbers    float64
	distance      func(x float64) float64 // G
	gamma, lambda float64
	slopes        bool
}

// familiesOf returns those that the problem's shape contains.
func familiesOf(p estimate.Problem) []family {
	d := float64(p.Columns)
	out := []family{{d: d, numbers: d, distance: func(x float64) float64 { return math.Erf(x / math.Sqrt2) }, gamma: 1, lambda: 1}}
	if p.Covariance != estimate.Full || p.KnownCovariance != nil || p.Columns < 2 {
		return out
	}
	f := family{d: d, numbers: float64(p.Columns / 2 * ((p.Columns + 1) / 2)), gamma: math.Sqrt(2 / math.Pi), lambda: 1, slopes: true}
	f.distance = func(x float64) float64 { return 2 / math.Pi * math.Atan(x) }
	if f.numbers == 1 {
		f.lambda = 1.14
	}
	return append(out, f)
}

// sampling returns the bound on a of Assouad's lemma, at the best of some tau.
func (f family) sampling(m float64) float64 {
	most := 0.0
	for t := .05; t < 2; t *= 1.1 {
		most = math.Max(most, f.distance(t*math.Sqrt(f.numbers/m))*distuv.UnitNormal.CDF(-t))
	}
	return most
}

// private returns the bound on a by fingerprinting.
func (f family) private(m, epsilon, delta float64) float64 {
	u, root := math.Sqrt(2*math.Log(1/delta)), math.Sqrt(f.d)
	if !(u > 0) {
		return 0
	}
	rest := delta * (root + u + 1/u)
	if f.slopes {
		rest = delta * ((root+u)*(root+u)/2 + root/u + 1)
	}
	rest *= (1 + math.Exp(-epsilon)) * math.Sqrt(2*math.Pi) // over phi(0)
	return math.Max(0, (f.gamma*f.numbers-rest*m)/(f.lambda*f.gamma*f.numbers+2*m*math.Sinh(epsilon)))
}

// places returns the bound by the places of the components, at the best of some weights.
func (l mixtureLimit) places(n float64) float64 {
	most := l.k * l.lost(n, 1/l.k) / l.k
	if l.k == 1 {
		return most
	}
	// rows that are found about half of the time, and a few more
	enough := math.Log1p(math.Expm1(l.epsilon)/l.delta) / l.epsilon
	for m := enough / 8; m < 2*enough; m *= 1.15 {
		w := m / n
		if rest := 1 - (l.k-1)*w; rest >= w {
			most = math.Max(most, (l.k-1)*w*l.lost(n, w)+rest*l.lost(n, rest))
		}
	}
	return most
}

// missed returns 1 - p_m: the part of components of m rows that no method finds.
func (l mixtureLimit) missed(m float64) float64 {
	up := math.Exp(l.epsilon)
	grown := func(m float64) float64 { return l.delta * math.Expm1(m*l.epsilon) / (up - 1) }
	turn := math.Floor(math.Log1p((1-l.delta)/(1+up)*(up-1)/l.delta)/l.epsilon) + 1
	if m <= turn {
		return 1 - grown(m)
	}
	down := math.Exp(-l.epsilon * (m - turn))
	return math.Max(0, down*(1-grown(turn))-l.delta*(1-down)/(up-1))
}

// lost returns E(1 - p_m) for m of Binomial(n, w), up to what lies 9 standard deviations out; where
// there are many m, a little less.
func (l mixtureLimit) lost(n, w float64) float64 {
	mean := n * w
	if mean > 1e4 {
		return l.missed(mean+10*math.Sqrt(mean)) * 100 / 101 // by Cantelli's inequality
	}
	reach := 9*math.Sqrt(mean) + 20
	total, lost := 0.0, 0.0
	add := func(m, mass float64) {
		total += mass
		lost += mass * l.missed(m)
	}
	mode := math.Floor(math.Min(n, mean))
	odds := w / (1 - w)
	if w >= 1 {
		add(n, 1)
		return lost / total
	}
	add(mode, 1)
	for m, mass := mode, 1.0; m < math.Min(n, mean+reach) && mass > 1e-30; m++ {
		mass *= (n - m) / (m + 1) * odds
		add(m+1, mass)
	}
	for m, mass := mode, 1.0; m > math.Max(0, mean-reach) && mass > 1e-30; m-- {
		mass *= m / ((n - m + 1) * odds)
		add(m-1, mass)
	}
	return lost / total
}
