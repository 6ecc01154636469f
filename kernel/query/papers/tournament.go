package papers

import "fmt"

// Tournament scores a mixture by its contests with others: set j is one between its two mixtures, a
// = Sets[j][0] and b = Sets[j][1], over A_j = {f_a > f_b}, of which a wins the rows inside and b
// the others. With p_a and p_b what a and b predict of A_j, n the rows that are not null and #A_j
// those of them in A_j,
//
//	Gamma(a, b) = n                                            if p_a - p_b <= Draw
//	            = max(0, #A_j - round(n (p_b + Margin)))       otherwise
//	Gamma(b, a) = n                                            if p_a - p_b <= Draw
//	            = max(0, n - #A_j - round(n (1 - p_a + Margin))) otherwise
//	score(i)    = min of Gamma(i, .) over its contests, n if it has none:
//
// the number of rows that have to change before it loses one. Everything else is as for
// MinimumDistance.
//
// Sensitivity 1 under both relations. Which contests are draws depends on the query alone. A row
// replaced, n as before: #A_j and n - #A_j move by at most 1. A row more: n grows by 1, round(n p)
// by 0 or 1 (p cut to [0, 1], in integers), and #A_j and n - #A_j by 0 or 1, so a difference of two
// such numbers moves by at most 1. So does the largest of it and 0, and the least of several.
//
// Source: [BSKW19] Algorithm 1; Algorithm 2 (Gamma and the score, as Theorem D.2 of AMN24 cites
// them).
// Differs: each pair has one set, whose complement is b's; where the densities are equal the
// source's two sets leave a row out.
type Tournament struct {
	MinimumDistance         // the mixtures, the sets and what they predict
	Draw, Margin    float64 // in [0, 1]
}

// Kind returns "tournament".
func (Tournament) Kind() string { return "tournament" }

// Validate returns an error if MinimumDistance's does, or if a margin cannot be used.
func (s Tournament) Validate(d int) error {
	if !(s.Draw >= 0 && s.Draw <= 1 && s.Margin >= 0 && s.Margin <= 1) {
		return fmt.Errorf("query: Tournament: want a Draw and a Margin in [0, 1], got %v and %v", s.Draw, s.Margin)
	}
	return s.MinimumDistance.Validate(d)
}

// Scores returns, for every mixture, the number of rows that have to change before it loses a
// contest.
func (s Tournament) Scores(rows []float64, d int) []int64 {
	n, counts := s.counts(rows, d)
	scores := make([]int64, s.Options())
	for i := range scores {
		scores[i] = int64(n)
	}
	for j, pair := range s.Sets {
		a, b := pair[0], pair[1]
		if p, q := s.predicted(a, j), s.predicted(b, j); p-q > s.Draw {
			scores[a] = min(scores[a], max(0, counts[j]-expectedRows(n, q+s.Margin)))
			scores[b] = min(scores[b], max(0, int64(n)-counts[j]-expectedRows(n, 1-p+s.Margin)))
		}
	}
	return scores
}

// predicted returns the mass of mixture i in set j, at most 1.
func (s Tournament) predicted(i, j int) (p float64) {
	for t := i * s.Parts; t < (i+1)*s.Parts; t++ {
		p += float64(s.Share[t] * s.Mass[s.Index[t]][j])
	}
	return min(p, 1)
}
