package stable

import "fmt"

// Rules say when estimates agree and which of them count in the mean. All fields are public.
//
// An estimate is k components (w, mean, A), A lower triangular with positive diagonal: what a
// learner returned, with its roots made triangular. A component stands for the lifted matrix P = L
// L' of size D = d+1, L = sqrt(w) [[A, mean], [0, 1]]; a map x -> Bx+b of the data acts as P ->
// TPT'. d(P, P') = (sum of log^2 of the eigenvalues of P^-1 P')^(1/2), an invariant metric.
// Components are told apart by their means, in units of what they have in common, and by their
// sizes: S = sum of w_a AA'_a / sum of w_a is the scale of an estimate, |v|_S = (v' S^-1 v)^(1/2),
// and level_a = ln|A_a|/sqrt(d). That is nothing that noise in the components' shapes could blur.
//
//	valid:    every weight in [1e-6, 1], Skeel's condition of every A, and of the triangular root of S, at most 1e6, everything finite, and sep >= 1e-3: the
//	          least max(|mean_a - mean_b|_S, |level_a - level_b|) of two components, infinite for one component and only then.
//	friends:  valid Y and Y' with all logarithms of eigenvalues of S^-1 S' in [-1.1, 1.1], and a permutation pi such that |mean_a - mean'_pi(a)|, in S
//	          and in S', and |level_a - level'_pi(a)| are at most c min(sep, sep') for every a, c = .181, and (sum of d(Y_a, Y'_pi(a))^2)^(1/2) <=
//	          Radius. A valid estimate is its own friend. Another pi would put two components of Y' within 2c sep' < sep' of one another, so pi is
//	          unique, and the first component that is near enough is the one. For one component nothing is asked but the last.
//	q_i, H:   the number of friends of estimate i, and the largest h such that h estimates have h friends at least.
//	weights:  w_i = min(1, max(0, (q_i - Core + 1)/(Pass - Core))); the core is what has w_i > 0, that is q_i >= Core.
//	mean:     in the core, components are labelled as the anchor's are, the anchor having the largest q: by pi, or by way of a common friend.
//	          For each label a the matrix X_a that minimises the weighted sum of d(X_a, P_i,a)^2 (see Agreement.Mean).
//
// Theorem. Replace one estimate, i*, by anything. (a) H changes by at most 1. (b) If H >= Pass
// before and after, there is a mean before and after, and, for some order of the labels, (sum over
// a of d(X_a, X'_a)^2)^(1/2) <= Gamma.
//
// Proof. Let t = Estimates, h = Pass, r = Radius. Validity and friendship are functions of the
// estimate, and of the pair: those of others than i* stay.
//  1. Of H estimates with q >= H, at least H-1 are not i* and have q' >= H-1. This is (a).
//  2. Call an estimate wide, before or after, if it has Core-1 friends or more among the t-1 that
//     stay, itself included. q >= Core makes it wide. Any three wide ones share a friend that
//     stays, for one component any two: see Core.
//  3. A closed walk over three or four friendships leads every component to itself. If not, start
//     at the estimate with the largest sep (where one starts does not matter: the permutations are
//     conjugate): some component a comes back as b. Each step changes the mean by at most c sep in
//     the norm of either end, and |v|_S <= e^(1.1/2) |v|_S' for friends; so in the norm of the
//     start the first and the last step are at most c sep and the others, which have an end one
//     step from the start, e^.55 c sep. The levels change by c sep a step. So a and b are within (2
//     + 2 e^.55) c sep < sep of one another, in both.
//  4. For wide i, j the permutation by way of a common friend p does not depend on p: two of them
//     make a walk of four. It is pi_ij if i and j are friends: a walk of three. For wide i, j, l a
//     common friend p of all three, by 2, gives pi_il = pi_jl pi_ij. So the cores before and after,
//     all of them wide, have one labelling together, up to one permutation, whichever the anchors
//     are, and any two of their members are within 2r in it: by way of a friend that stays.
//  5. Of those that stay at least h-1 have q >= h, hence q' >= h-1 and w = w' = 1; the other t-h at
//     most change by 1/(h-Core) at most, as q changes by 1 at most. The estimate i* takes 1 at most
//     away and the new one brings 1 at most. Let W' >= W >= h be the sums of weights (else exchange
//     before and after), N the sum of (w - w')+ and P >= N that of (w' - w)+, i* counted as two: N
//     + P <= 2 + (t-h)/(h-Core), and N <= 1 + the part of the t-h that falls. First exchange a mass
//     N of w for as much of what is new, within 2r: p1 = (common part + that)/W is N/W 2r from p =
//     w/W in the distance of transport. Then p' = w'/W' = (W/W') p1 + (1 - W/W') p2, where p2 is
//     the rest of what is new, and p' is from p1 at most 1 - W/W' <= (P-N)/h times the largest mean
//     distance of p1 from a point y of p2. y is in the core after: at most t-Core of the estimates
//     after are no friends of it, each has weight 1/W <= 1/h in p1 at most, and is within 2r; the
//     others are within r. So the mean distance is at most R = r min(2, 1 + (t-Core)/h), and p' is
//     within (2r N + R (P-N))/h of p: linear, and largest for N = 1, P = 1 + (t-h)/(h-Core), as 2r
//     - R <= R.
//  6. With d, the positive definite matrices have no positive curvature (Hadamard space); so have
//     their k-fold products with the l2 sum of d, whose mean is the means of the components. There
//     the mean is 1-Lipschitz in the distance of transport (Sturm 2003): this is Gamma.
//
// Rounding. The triangular roots are taken as exact; how they were rounded is between a learner and
// utility. What the code computes is a function of the pair as well, so 1, 2 and 5 hold as they
// stand; 3, 4 and 6 need that it implies what it should:
//   - relative computes K = A^-1 A' as X A', X A near I. Each entry is within 2u |A^-1| |A| |K| of
//     the truth, u = 2^-53 (d+2), so K is off by a factor I + E, |E| <= 2u 1e6 sqrt(d) |K| |K^-1|
//     in Frobenius norms, which d sees twice.
//   - labels: 3 holds for any S = R R', and any levels, that the estimate alone determines, so for
//     what R and the levels are computed to be, however well. X R is I to 1e-8, X being R's
//     computed inverse, as above; so the computed norms are right to a factor 1 + 1e-7 (what
//     underflows is far below c sep), and the eigenvalues of S^-1 S' to 1 + 1e-6. Differences of
//     levels are right to 2^-53 of themselves. (2 + 2 e^.55) c = .9895 leaves 1 % for that.
//   - d: off by 1e-5 at most for friends, all components together, as |K| |K^-1| is at most 90 for
//     one, and then near 21 for the others; so friends are those whose computed distance leaves
//     1e-5. A surplus (see within) is off by 4u 1e6 sqrt(d) (|C|^2 + |C^-1|^2), and that sum is at
//     most 36 + 2D where the surplus alone decides: so for each component 1e-5 is left for it.
//   - the mean: the factors in the anchor's frame are computed with 160 bits and rounded once,
//     which moves them by 1e-10 at most (D 2^-53 times the condition e^(2r/sqrt 2) <= 4900); the
//     certificate of the iteration is 1e-8 for each component, itself right to 1e-8, and sqrt(k) <=
//     8 times that for all; X = F F' is rounded to D 2^-53 cond(F)^2 <= 1e-7 (cond(F)^2 <= e^(2r
//     sqrt 2)). Twice all that, once for either neighbour, is less than Slack = 1e-6, which Gamma
//     adds.
//
// Source: [PPE] Section B5 of the restatement; Sections B1, B2 and B4 of the restatement.
// Differs: labels are told by means in a common scale instead of a metric of components, which
// bears blocks a third of the size, and hold over walks of four, so that a core of two thirds is
// enough, of one half for one component; what the new weights bring counts by its distance from the
// mean, not from the farthest; Core may be larger than the least, Radius is bounded, and friends
// leave 1e-5 of it for rounding.
type Rules struct {
	Estimates, Components, Columns int // t, k, d
	// an estimate with so many friends counts in the mean; at least Core(t, k)
	Core int
	// the least H at which the mean is private; at least Core+2
	Pass   int
	Radius float64 // how far apart friends may be; 1e-3 to MaxRadius
}

// MaxRadius bounds Radius: cores that are wider than that cost digits, and tell little.
const MaxRadius = 6

// Bounds on the size of a problem, for the rounding in Rules and the sets of components, which are
// bits of a word.
const (
	leastRadius   = 1e-3
	mostEstimates = 1 << 16
	mostParts     = 64
	mostColumns   = 20
)

// Slack is what Gamma adds for rounding, see Rules.
const Slack = 1e-6

// Core is the least Rules.Core for t estimates of k components. Of t-1 that stay, any three
// estimates that have a-1 friends each share one if 3(a-1) > 2(t-1), any two if 2(a-1) > t-1.
func Core(t, k int) int {
	if k == 1 {
		return (t-1)/2 + 2
	}
	return 2*(t-1)/3 + 2
}

// Validate reports what is wrong.
func (r Rules) Validate() error {
	switch {
	case r.Estimates < 1 || r.Estimates > mostEstimates || r.Components < 1 || r.Components > mostParts || r.Columns < 1 || r.Columns > mostColumns:
		return fmt.Errorf("stable: want 1 to %d estimates of 1 to %d components in 1 to %d columns, got %d, %d and %d",
			mostEstimates, mostParts, mostColumns, r.Estimates, r.Components, r.Columns)
	case r.Core < Core(r.Estimates, r.Components):
		return fmt.Errorf("stable: Core: want at least %d for %d estimates, got %d", Core(r.Estimates, r.Components), r.Estimates, r.Core)
	case r.Pass < r.Core+2 || r.Pass > r.Estimates:
		return fmt.Errorf("stable: Pass: want from Core+2 = %d to the %d estimates, got %d", r.Core+2, r.Estimates, r.Pass)
	case !(r.Radius >= leastRadius && r.Radius <= MaxRadius):
		return fmt.Errorf("stable: Radius: want from %v to %v, got %v", leastRadius, MaxRadius, r.Radius)
	}
	return nil
}

// Gamma bounds how far one changed estimate moves the means of all components together, if H >=
// Pass before and after: see Rules. Its own rounding is part of Slack.
func (r Rules) Gamma() float64 {
	t, core, h := float64(r.Estimates), float64(r.Core), float64(r.Pass)
	return r.Radius*(2+min(2, 1+(t-core)/h)*(t-h)/(h-core))/h + Slack
}
