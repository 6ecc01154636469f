package studies

import (
	"regexp"
	"strings"
)

// A statement is what a source proves of the rows that a method needs, for an error alpha, up to
// constants and logarithms; the rate stands word for word on the page of the source, under the
// method's name.
type statement struct{ key, part, rate string }

func (s statement) String() string { return s.key + " " + s.part }

// Each was read against the restatement of its source. Where the source has a statement of the
// whole method it is that and not one of a part. A method that no source prints has none.
var statements = map[string]statement{
	"gaussian:coinpress":         {"BDKU20", "2.3", "d²/α² + d²/(αμ) + d^1.5 √ln(u)/μ, by the restatement"},
	"univariate:kv18":            {"KV18", "3", "1/α² + 1/(αμ) + ln(1/δ)/ε, by the restatement"},
	"heavy-tailed:paper":         {"KM21", "What it proves", "d²/α² + d^2.5/(√ρ α²) + d^1.5 polylog(u)/√ρ, moments of order 4"},
	"gaussian:kmssu22":           {"KMSSU22", "What it proves", "d²/α² + d²/(αε) + d^2.5/ε"},
	"separated:paper":            {"KSSU19", "Theorem 4.3", "d²/(α²w) + d²/(αwε) + k^9.06 d^1.5/(wε) + (√(dk)/(wε))^(1/(1−a)) + k^1.5/(αwε)"},
	"separated:warm-up":          {"KSSU19", "Theorem 3.1", "dk/α² + d^1.5 k³/ε + dk/(αε) + ℓ^(5/9) k^(5/3)/ε^(10/9) + k²/α²"},
	"separated:sample-aggregate": {"KSSU19", "Theorem 5.1", "(√(kd) + k^1.5)/ε · ln²(1/δ) times the learner's"},
	"univariate:aal21":           {"AAL21", "Theorem 1.1", "k²d ln^1.5(1/δ)/(α²ε)"},
	"axis-aligned:aal21":         {"AAL21", "Theorem 1.1", "k²d ln^1.5(1/δ)/(α²ε)"},
	"general:aal21":              {"AAL21", "Theorem 3.2", "the list decoder's, and (k ln(Lk/α) + ln(1/β)) (1/α² + 1/(αε)), L the length of the list"},
	"univariate:amn24":           {"AMN24", "Theorem 1.5", "k/α² + k ln(1/δ)/(αε)"},
	"general:amn24":              {"AMN24", "Theorem 1.4", "kd²/α² + (kd² + d^1.75 k^1.5 √ln(1/δ) + (k ln(1/δ))^1.5)/(αε) + k²d/α"},
	"gaussian:ppe-line":          {"PPE", "Theorem 4.3.1", "ln(1/δ)/ε times the estimator's for an error of r/(4z²), r what the mask hides"},
	"black-box:paper":            {"PPE", "Theorem 7.1.3", "ln(1/δ)/ε times the learner's for an error of γ/(4z²), γ = εα/(√(k ln(2/δ)) √(d(d + ln(12k/β))) ln(12k/δ))"},
}

// rowsNamed finds the number of rows in a refusal.
var rowsNamed = regexp.MustCompile(`about ([0-9.,e+]+) rows`)

// refused returns a refusal in a few words: the number of rows that it names, or its reason.
func refused(why string) string {
	if m := rowsNamed.FindStringSubmatch(why); m != nil {
		return "refused, " + m[1]
	}
	for _, end := range []string{": ", " (", ", "} {
		why, _, _ = strings.Cut(why, end)
	}
	return "refused: " + strings.TrimPrefix(why, "method ")
}
