package release

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/privacy/convert"
)

// A Statement is one point of a certificate in plain words.
type Statement struct{ Heading, Text string }

// plainDelta is the delta at which a rho-zCDP budget is put into words.
const plainDelta = 1e-6

// Plain says in plain words what the certificate promises and what it does not.
//
// That (epsilon, delta) acts like an answer that shifts odds by at most e^epsilon, and with
// probability delta tells all, is exact: every such mechanism is a post-processing of that one
// (Kairouz, Oh and Viswanath 2015).
func (c Certificate) Plain() []Statement {
	var out []Statement
	say := func(heading string, sentences ...string) {
		out = append(out, Statement{heading, strings.Join(sentences, " ")})
	}
	if c.Simulated {
		say("This release protects nobody", "Its rows or its noise were drawn from a known seed, for a test.",
			"Everything below describes what the same plan would promise with real noise.")
	}
	say("Who is protected", c.who())
	say("How well", c.howWell())
	if test := c.test(); test != "" {
		say("Put to a test", test)
	}
	say("By what", c.byWhat())
	if text := c.learner(); text != "" {
		say("What ran on blocks of rows", text)
	}
	say("The number of rows", c.rows())
	say("The columns", c.columns())
	if text := c.known(); text != "" {
		say("What was known", text)
	}
	say("What is not promised",
		"What is true of people in general is not hidden: if the model shows that two columns go together, it says so about people who are not in the table as well.",
		"A person with several rows is protected less: with m rows, as if mu or epsilon were m times as large and delta larger still.",
		"Other releases from the same rows add to this one; whoever holds the rows has to keep the sum.",
		"No protection is claimed for how long the fit took, how much memory it used, or what its messages told the custodian.",
		"This text does not show that the program ran as described: the file is not signed.")
	return out
}

// PlainText is Plain for a terminal: headings, and text in lines of at most 78 characters.
func (c Certificate) PlainText() string {
	var b strings.Builder
	for i, s := range c.Plain() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s.Heading + "\n")
		wrap(&b, s.Text, 78)
	}
	return b.String()
}

// wrap writes text in lines of at most width characters, indented by two.
func wrap(b *strings.Builder, text string, width int) {
	used := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case used == 0:
			b.WriteString("  ")
			used = 2 + n
		case used+1+n > width:
			b.WriteString("\n  ")
			used = 2 + n
		default:
			b.WriteByte(' ')
			used += 1 + n
		}
		b.WriteString(word)
	}
	b.WriteByte('\n')
}

func (c Certificate) who() string {
	if c.Relation == AddRemoveOne {
		return "Everybody with one row in the table. The release is almost as likely to look as it does if any one row is left out or one is added " +
			"(add-or-remove-one): it hides whether a person is in the table at all, and what the row says."
	}
	return "Everybody with one row in the table. The release is almost as likely to look as it does if any one row is replaced by any other " +
		"(replace-one): it hides what a person's row says, and which person's row it is, but not how many rows there are."
}

// asked is the (epsilon, delta) that the certificate's words are about: as asked, or for a zCDP
// budget the one it implies at plainDelta.
func (c Certificate) asked() (eps, delta float64) {
	if c.Epsilon == 0 && c.Rho > 0 {
		return convert.EpsilonOfRho(plainDelta, c.Rho), plainDelta
	}
	return c.Epsilon, c.Delta
}

func (c Certificate) howWell() string {
	eps, delta := c.asked()
	var b strings.Builder
	if c.Epsilon == 0 && c.Rho > 0 {
		fmt.Fprintf(&b, "The budget was rho = %s of zero-concentrated differential privacy, which implies epsilon = %s at delta = %s. ",
			figure(c.Rho), figure(eps), figure(delta))
	} else {
		fmt.Fprintf(&b, "The budget was epsilon = %s and delta = %s of differential privacy; the measurements used %s and %s. ",
			figure(eps), figure(delta), figure(c.Spent.Epsilon), figure(c.Spent.Delta))
	}
	b.WriteString("Take somebody who knows every other row and weighs two guesses about one person. ")
	fmt.Fprintf(&b, "Seeing the release changes the odds between the two by a factor of at most e^epsilon = %s: even odds (50 %%) become at most %s. ",
		factor(eps), percent(1/(1+math.Exp(-eps))))
	if delta > 0 {
		fmt.Fprintf(&b, "Beyond that it is no worse than if, with probability delta (%s), nothing were promised at all.", oneIn(delta))
	} else {
		b.WriteString("That holds always.")
	}
	return b.String()
}

// test is the success of the best guess between two neighbouring tables, each as likely. Under
// (epsilon, delta) alone the two errors meet at (1 - delta)/(1 + e^epsilon), so it is (e^epsilon +
// delta)/(1 + e^epsilon). Where every measurement counts in mu it is Phi(mu/2) for the total mu,
// which is at most MuOf(epsilon, delta), and thresholds add less than delta to it: usually much
// less. The mu spent plays no part: see Spent.
func (c Certificate) test() string {
	eps, delta := c.asked()
	success := 1 - (1-delta)/(1+math.Exp(eps))
	if c.planTotals().orders == nil {
		success = math.Min(success, c.gaussianTest())
	}
	if !(success >= 0.5) {
		return ""
	}
	return fmt.Sprintf("Somebody is shown the release and two tables that differ in that one row, and told that it was made from one of them, "+
		"each as likely. The best possible guess which is right at most %s of the time; a tossed coin is right 50 %% of the time.", percent(success))
}

func (c Certificate) gaussianTest() float64 {
	mu, delta := 0.0, 0.0
	switch {
	case c.Epsilon == 0 && c.Rho > 0:
		mu = privacy.MuOfRho(c.Rho)
	case c.Epsilon > 0 && c.Delta > 0 && c.Delta < 1:
		mu, delta = privacy.MuOf(c.Epsilon, c.Delta), c.Delta
	default:
		return 1
	}
	return math.Erfc(-mu/2/math.Sqrt2)/2 + delta
}

func (c Certificate) byWhat() string {
	measurements, curved := 0, 0
	for _, s := range c.Plan {
		measurements += s.Count
		if s.curved() {
			curved += s.Count
		}
	}
	cost := fmt.Sprintf("together they cost mu = %s of Gaussian differential privacy.", figure(c.Spent.Mu))
	if curved > 0 {
		cost = fmt.Sprintf("those with Gaussian noise cost mu = %s of Gaussian differential privacy together, the noise of %s has a Rényi curve of its own, "+
			"and all were converted to epsilon and delta as one.", figure(c.Spent.Mu), plural(curved, "measurement"))
	}
	return fmt.Sprintf("The method %q made %s, listed in the plan. Each was perturbed by random noise large enough to hide any one row; "+
		"%s Everything else in the release was computed from their noisy answers.", c.Method, plural(measurements, "measurement"), cost)
}

// learner says what summarised the blocks of rows, and what an own one leaves to whoever brought
// it.
func (c Certificate) learner() string {
	if c.Learner == nil {
		return ""
	}
	if c.Learner.Name == OwnLearner {
		return "A learner that is not part of Gauze, brought along by whoever made this release. It was handed the rows of each block. The promise holds if it " +
			"kept and showed none of them, and answered for every block from that block alone: whoever brought it answers for that. How good it is " +
			"matters to the model alone."
	}
	text := fmt.Sprintf("The learner %q of Gauze, which gives the promise nothing and takes nothing from it: one row changes what is learned from one block.", c.Learner.Name)
	if c.Learner.Trim > 0 {
		text += fmt.Sprintf(" It left out the %s of each block's rows that were least likely, as was asked beforehand.", percent(c.Learner.Trim))
	}
	return text
}

func (c Certificate) rows() string {
	if c.Rows == nil {
		return "Private: the release does not say how many rows there are, beyond what a noisy count among the measurements gives."
	}
	return fmt.Sprintf("Public: %s. Rows with a missing or malformed cell are counted in it.", plural(*c.Rows, "row"))
}

func (c Certificate) columns() string {
	if c.Schema == SchemaInferred {
		return "Chosen by looking at the cells (an inferred schema). This choice is outside the promise: which columns there are " +
			"may depend on a single cell. Declare the columns to be covered wholly."
	}
	return "Declared beforehand: no cell could change which columns there are. Their names and units are public."
}

// known says which facts the fit was told, if any.
func (c Certificate) known() string {
	if c.Facts == nil {
		return ""
	}
	var facts []string
	if r := c.Facts.MeanWithin; r != nil {
		facts = append(facts, "the mean lies within "+figure(*r)+" of the origin")
	}
	if e := c.Facts.EigenvaluesWithin; len(e) == 2 {
		facts = append(facts, "the eigenvalues of the covariance lie within "+figure(e[0])+" and "+figure(e[1]))
	}
	if k := c.Facts.Moments; k != 0 {
		facts = append(facts, fmt.Sprintf("moments up to order %d are bounded as a Gaussian's are", k))
	}
	if k := c.Facts.KnownCovariance; k != nil {
		facts = append(facts, "every component has the same covariance, which is stated in the certificate")
	}
	return "Whoever asked for the release said beforehand, as public facts: " + strings.Join(facts, "; ") + ". If one of them is wrong, so may " +
		"the model be; the promise does not rest on them, provided that they were not read off the rows."
}

// figure writes a number with at most four significant digits.
func figure(x float64) string {
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// factor writes e^eps, which may be far beyond what reads well.
func factor(eps float64) string {
	if eps > 20 {
		return fmt.Sprintf("10^%.0f", math.Ceil(eps/math.Ln10))
	}
	return strconv.FormatFloat(math.Ceil(math.Exp(eps)*100*(1-1e-12))/100, 'f', -1, 64)
}

// percent writes a share rounded up: to a tenth of a percent, and from 99.9 % on to the first digit
// that is not a 9, so that an upper bound just below 1 is not read as certainty.
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

// oneIn writes a probability as "1 in 1,000,000".
func oneIn(p float64) string {
	n := math.Floor(1 / p * (1 + 1e-12))
	if n > 1e15 {
		return "1 in " + figure(n)
	}
	return "1 in " + digits(int(n))
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return digits(n) + " " + noun
}

// digits writes a count with commas between thousands.
func digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
