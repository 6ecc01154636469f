package release

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
)

// String returns a figure with the standard deviation of its noise.
func (n Noisy) String() string { return fmt.Sprintf("%.6g ± %.2g", n.Value, n.Noise) }

// String returns the certificate in one line; [Certificate.Plain] has it in words.
func (c Certificate) String() string {
	rows := "a private number of rows"
	if c.Rows != nil {
		rows = words.Plural(*c.Rows, "row")
	}
	asked := fmt.Sprintf("epsilon = %g, delta = %g", c.Epsilon, c.Delta)
	if c.Concentrated() {
		asked = fmt.Sprintf("rho = %g", c.Rho)
	}
	return fmt.Sprintf("%s under %s: method %s on %s", asked, c.Relation, c.Method, rows)
}

// String returns the release in one line.
func (r *Release) String() string {
	if r == nil {
		return "no release"
	}
	what := "table one of " + words.Plural(len(r.Profile), "column")
	switch {
	case r.Model != nil:
		groups, _ := r.Model.Split()
		what = words.Plural(len(groups), "component") + " over " + words.Plural(r.Model.Dim(), "column")
	case r.Groups != nil:
		what = words.Plural(len(r.Groups), "group")
	}
	parts := []string{what}
	if title := r.Title(); title != "" {
		parts = []string{title + ": " + what}
	}
	if !r.Bare() {
		parts = append(parts, r.Certificate.String())
	}
	return strings.Join(parts, "; ")
}
