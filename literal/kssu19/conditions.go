package kssu19

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
)

// conditions says in words whether what was released meets the conditions (2) to (4), under which
// the source proves that it is near the truth. They are assumptions on the truth; of an estimate
// they show where the theorem cannot be leant on. n is the number of rows, public or released.
//
// Source: [KSSU19] conditions (2), (3) and (4).
func (c Constants) conditions(p estimate.Problem, parts []found, n float64) string {
	total := 0.0
	for _, f := range parts {
		total += f.rows
	}
	return fmt.Sprintf("the source's conditions, on what was released: (2) bounds: %s; (3) separation: %s; (4) not too skinny: %s",
		c.bounds(parts, total), separation(parts, total, n), skinny(parts, n/c.FailureProb, p.Columns))
}

// bounds returns condition (2): |mu_i| <= R, sigma_min <= sigma_i <= sigma_max, w_min <= w_i, as
// far as they are known. (w_min is, always: the default is 1/(2k).)
func (c Constants) bounds(parts []found, total float64) string {
	var broken []string
	least := c.leastWeight(len(parts))
	for i, f := range parts {
		s := math.Sqrt(top(f.cov))
		for _, bound := range []struct {
			what  string
			fails bool
		}{
			{"the mean lies beyond R", c.Radius > 0 && length(f.mean) > c.Radius},
			{"sigma is below sigma_min", c.SigmaMin > 0 && s < c.SigmaMin},
			{"sigma is above sigma_max", c.SigmaMax > 0 && s > c.SigmaMax},
			{"the weight is below w_min", f.rows < least*total},
		} {
			if bound.fails {
				broken = append(broken, fmt.Sprintf("%s of component %d", bound.what, i+1))
			}
		}
	}
	if len(broken) > 0 {
		return "fail: " + strings.Join(broken, ", ")
	}
	if c.Radius == 0 || !c.known() {
		return fmt.Sprintf("hold as far as they were stated, weights at least %.2g", least)
	}
	return "hold"
}

// tooWide is how many times sigma_max a component's width may come out, for noise.
const tooWide = 2.

// impossible reports a component that cannot be one: where sigma_max is publicly known, and the
// number of components is not, it is how parts show that hold several.
func (c Constants) impossible(parts []found) bool {
	for _, f := range parts {
		if c.SigmaMax > 0 && math.Sqrt(top(f.cov)) > tooWide*c.SigmaMax {
			return true
		}
	}
	return false
}

// separation returns condition (3), by the constant C that it holds with.
func separation(parts []found, total, n float64) string {
	least := math.Inf(1)
	for i, f := range parts {
		for _, g := range parts[:i] {
			need := (math.Sqrt(top(f.cov)) + math.Sqrt(top(g.cov))) * separationFactor(len(parts), n, f.rows/total, g.rows/total)
			apart := 0.0
			for j, v := range f.mean {
				apart = math.Hypot(apart, v-g.mean[j])
			}
			least = math.Min(least, apart/need)
		}
	}
	switch {
	case len(parts) < 2:
		return "says nothing of one component"
	case least < 1:
		return fmt.Sprintf("holds with C = %.2g only", least)
	}
	return fmt.Sprintf("holds with C = %.2g", least)
}

// separationFactor returns sqrt(k ln n) + 1/sqrt(w_i) + 1/sqrt(w_j).
func separationFactor(k int, n, w, v float64) float64 {
	return math.Sqrt(float64(k)*math.Log(math.Max(2, n))) + 1/math.Sqrt(w) + 1/math.Sqrt(v)
}

// skinny returns condition (4): |Sigma|_F sqrt(ln(n/beta)) <= tr(Sigma)/8 and |Sigma|_2 ln(n/beta)
// <= tr(Sigma)/8; over is n/beta. As |Sigma|_F >= tr(Sigma)/sqrt(d), none in d < 64 ln(n/beta)
// columns meets it.
func skinny(parts []found, over float64, d int) string {
	fails, l := 0, math.Log(math.Max(2, over))
	for _, f := range parts {
		if tr := mat.Trace(f.cov) / 8; math.Sqrt(symmetric.Frobenius2(f.cov)*l) > tr || top(f.cov)*l > tr {
			fails++
		}
	}
	if fails == 0 {
		return "holds"
	}
	words := fmt.Sprintf("fails for %d of %d components", fails, len(parts))
	if least := 64 * l; float64(d) < least {
		words += fmt.Sprintf(", as every covariance does in fewer than %.0f columns", math.Ceil(least))
	}
	return words + ", and the theorem says nothing of them"
}

// top returns the largest eigenvalue.
func top(s *mat.SymDense) float64 {
	values, ok := symmetric.Eigenvalues(s)
	if !ok {
		return math.Inf(1)
	}
	return math.Max(0, values[len(values)-1])
}

func length(x []float64) (s float64) {
	for _, v := range x {
		s = math.Hypot(s, v)
	}
	return s
}
