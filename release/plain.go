package release

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Statement is one point of a certificate in plain words.
type Statement struct{ Heading, Text string }

// plainSource is the text of Plain: headings behind "# ", each followed by its text.
//
//go:embed plain.txt
var plainSource string

// plainTemplate is parsed when a certificate is first put into words.
var plainTemplate = sync.OnceValue(func() *fill.Set {
	return fill.Text("plain", plainSource, fill.Funcs{"figure": figure, "factor": factor, "percent": percent, "oneIn": oneIn, "plural": words.Plural})
})

// Plain returns, in plain words, what the certificate promises and what it does not.
//
// That (epsilon, delta) acts like an answer that shifts odds by at most e^epsilon, and with
// probability delta tells all, is exact: every such mechanism is a post-processing of that one
// (Kairouz, Oh and Viswanath 2015).
func (c Certificate) Plain() []Statement {
	of := struct {
		Certificate
		Concentrated                                    bool
		RequestedEpsilon, RequestedDelta, Odds, Success float64
		Measurements, Curved                            int
	}{Certificate: c, Concentrated: c.Concentrated(), Success: c.success()}
	of.RequestedEpsilon, of.RequestedDelta = c.asked()
	of.Odds = 1 / (1 + math.Exp(-of.RequestedEpsilon))
	for _, s := range c.Plan {
		of.Measurements += s.Count
		if s.curved() {
			of.Curved += s.Count
		}
	}
	var text strings.Builder
	if err := plainTemplate().Execute(&text, "plain", of); err != nil {
		panic(err) // a strings.Builder never fails, and the fields that the template names exist
	}
	var out []Statement
	for _, section := range strings.Split("\n"+text.String(), "\n# ")[1:] {
		heading, words, _ := strings.Cut(section, "\n")
		out = append(out, Statement{heading, strings.Join(strings.Fields(words), " ")})
	}
	return out
}

// plainDelta is the delta at which a rho-zCDP budget is put into words.
const plainDelta = 1e-6

// Concentrated reports whether the budget was requested as rho alone.
func (c Certificate) Concentrated() bool { return c.Epsilon == 0 && c.Rho > 0 }

// Implied returns an epsilon that rho-zCDP implies, and the delta at which it is stated.
func Implied(rho float64) (epsilon, delta float64) {
	return privacy.EpsilonOfRho(plainDelta, rho), plainDelta
}

// asked returns the (epsilon, delta) that the certificate's words are about: the requested one, or
// for a zCDP budget the one it implies at plainDelta.
func (c Certificate) asked() (eps, delta float64) {
	if c.Concentrated() {
		return Implied(c.Rho)
	}
	return c.Epsilon, c.Delta
}

// success returns the success rate of the best guess between two neighbouring tables, each equally
// likely. Under (epsilon, delta) alone the two errors meet at (1 - delta)/(1 + e^epsilon), so it is
// (e^epsilon + delta)/(1 + e^epsilon). Where every measurement counts in mu it is Phi(mu/2) for the
// total mu, which is at most MuOf(epsilon, delta), and thresholds add less than delta to it:
// usually much less. The mu spent plays no part: see Spent.
func (c Certificate) success() float64 {
	eps, delta := c.asked()
	success := 1 - (1-delta)/(1+math.Exp(eps))
	if c.planTotals().orders == nil {
		success = math.Min(success, c.gaussianTest())
	}
	return success
}

func (c Certificate) gaussianTest() float64 {
	mu, delta := 0.0, 0.0
	switch {
	case c.Concentrated():
		mu = privacy.MuOfRho(c.Rho)
	case c.Epsilon > 0 && c.Delta > 0 && c.Delta < 1:
		mu, delta = privacy.MuOf(c.Epsilon, c.Delta), c.Delta
	default:
		return 1
	}
	return math.Erfc(-mu/2/math.Sqrt2)/2 + delta
}

// figure returns a number with at most four significant digits.
func figure(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// factor returns e^eps as text; large values are hard to read as digits.
func factor(eps float64) string {
	if eps > 20 {
		return fmt.Sprintf("10^%.0f", math.Ceil(eps/math.Ln10))
	}
	return strconv.FormatFloat(math.Ceil(math.Exp(eps)*100*(1-1e-12))/100, 'f', -1, 64)
}

// percent returns a share rounded up: to a tenth of a percent, and from 99.9 % on to the first
// digit that is not a 9, so that an upper bound just below 1 is not read as certainty.
func percent(share float64) string {
	const most = 8 // digits after the point
	for places := 1; ; places++ {
		scale := math.Pow10(places)
		up := math.Ceil(share*100*scale*(1-1e-12)) / scale
		if up < 100 || share >= 1 || places == most {
			return strconv.FormatFloat(up, 'f', -1, 64) + " %"
		}
	}
}

// oneIn returns a probability as "1 in 1,000,000".
func oneIn(p float64) string {
	n := math.Floor(1 / p * (1 + 1e-12))
	if n > 1e15 {
		return "1 in " + figure(n)
	}
	return "1 in " + words.Digits(int(n))
}
