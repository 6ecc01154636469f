package release

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestPlain(t *testing.T) {
	c := gaussian(t).Certificate
	c.Spent.Epsilon = 1 // the last digits of a solver are not the text's matter
	const want = `Who is protected
Everybody with one row in the table. The release is almost as likely to look as it does if any one row is left out or one is added ` +
		`(add-or-remove-one): it hides whether a person is in the table at all, and what the row says.
How strong the promise is
The budget was epsilon = 1 and delta = 1e-06 of differential privacy; the measurements used 1 and 1e-06. Take somebody who knows every ` +
		`other row and weighs two guesses about one person. Seeing the release changes the odds between the two by a factor of at most ` +
		`e^epsilon = 2.72: even odds (50 %) become at most 73.2 %. With chance delta (1 in 1,000,000) the limit may not hold.
`
	if text := said(c); !strings.HasPrefix(text, want) {
		t.Errorf("got\n%swant\n%s", text, want)
	}
}

// TestPlainSays: every field of the certificate that changes the promise changes the words.
func TestPlainSays(t *testing.T) {
	rows := 15892
	has := func(c Certificate, words ...string) {
		t.Helper()
		text := said(c)
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("want %q in\n%s", w, text)
			}
		}
	}
	base := gaussian(t).Certificate
	has(base, "add-or-remove-one", "Private: the release does not say", "Declared beforehand", "made 4 measurements", "No protection is claimed for how long",
		"m times as large")
	if strings.Contains(said(base), "protects nobody") {
		t.Error("a real release is called simulated")
	}
	public := base
	public.Relation, public.Rows, public.Schema, public.Simulated = ReplaceOne, &rows, SchemaInferred, true
	has(public, "(replace-one)", "Public: 15,892 rows", "This choice is outside the promise", "This release protects nobody")
	told := base
	told.Facts = &Facts{MeanWithin: new(float64), EigenvaluesWithin: []float64{0.5, 25}, Moments: 4, KnownCovariance: [][]float64{{4, .5}, {.5, 9}}}
	has(told, "The mean lies within 0 of the origin. The eigenvalues of the covariance lie within 0.5 and 25. Moments up to order 4")
	if strings.Contains(said(base), "What was stated") {
		t.Error("a fit that was told nothing is said to have known something")
	}
	pure := base
	pure.Delta = 0
	has(pure, "That holds always.", "at most 73.2 %")
	large := base
	large.Epsilon = 1000
	has(large, "10^435", "at most 100 %")
	large.Epsilon = 10
	has(large, "become at most 99.996 %")
	rho := concentrated(t).Certificate
	has(rho, "rho = 0.1 of zero-concentrated", "at delta = 1e-06")
}

// TestTestFigure: the success of the best guess, against a direct sum over a grid for N(0,1)
// against N(mu,1), and against (epsilon, delta)-randomised response where the plan is not Gaussian.
func TestTestFigure(t *testing.T) {
	c := concentrated(t).Certificate
	mu := privacy.MuOfRho(0.1)
	const step = 1e-4
	sum := 0.0
	for x := -10.0; x < 10; x += step {
		sum += math.Max(math.Exp(-x*x/2), math.Exp(-(x-mu)*(x-mu)/2)) / math.Sqrt(2*math.Pi) * step / 2
	}
	if got := c.gaussianTest(); math.Abs(got-sum) > 1e-6 {
		t.Errorf("ρ = 0.1: %v, the sum over a grid gives %v", got, sum)
	}
	if want := "at most " + percent(sum) + " of the time"; !strings.Contains(said(c), want) {
		t.Errorf("want %q in %q", want, said(c))
	}
	// Randomised response for epsilon, which tells all with probability delta.
	r := masked(t).Certificate
	e := math.Exp(r.Epsilon)
	if want := "at most " + percent(r.Delta+(1-r.Delta)*e/(1+e)) + " of the time"; !strings.Contains(said(r), want) {
		t.Errorf("want %q in %q", want, said(r))
	}
}

func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		percent(0.5): "50 %", percent(0.7310585): "73.2 %", percent(0.9995): "99.95 %", percent(0.9999546): "99.996 %", percent(1 - 1e-14): "100 %", percent(1): "100 %", percent(0.549): "54.9 %",
		oneIn(1e-6): "1 in 1,000,000", oneIn(0.3): "1 in 3", oneIn(1e-300): "1 in 1e+300", factor(0): "1", factor(math.Ln2): "2", factor(100): "10^44",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// said is all that Plain says, with its headings.
func said(c Certificate) string {
	var all []string
	for _, s := range c.Plain() {
		all = append(all, s.Heading+"\n"+s.Text)
	}
	return strings.Join(all, "\n")
}
