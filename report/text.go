package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gauze-dp/gauze/release"
)

// Text writes a short summary of r for a terminal: weights, mean +- standard deviation of each
// column and component, and what the release cost. It fails as HTML does for a model that is not
// valid, or if w fails.
func Text(w io.Writer, r *release.Release) error {
	if isProfile(r) {
		return textProfile(w, r)
	}
	if r != nil && r.Groups != nil {
		c := &r.Certificate
		fmt.Fprintf(w, "%d groups, by %s; what all of them cost together:\nspent: %s, relation %s\n", len(r.Groups), clean(strings.Join(c.By, ", ")), spentText(*c), c.Relation)
	}
	for i := 0; r != nil && i < len(r.Groups); i++ {
		g := &r.Groups[i]
		if _, err := fmt.Fprintf(w, "\ngroup %s\n", clean(g.Name(r.Certificate.By))); err != nil {
			return err
		}
		if none := g.NoRelease; none != nil {
			fmt.Fprintf(w, "no release: %s\n", clean(none.Reason))
		} else if err := Text(w, r.Of(i)); err != nil {
			return err
		}
	}
	if r != nil && r.Groups != nil {
		return nil
	}
	if err := check(r); err != nil {
		return err
	}
	b := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if err := says().Execute(b, "text.txt", newPage(r, Options{})); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return b.Flush()
}

// spentText returns what was spent, and of how much.
func spentText(c release.Certificate) string {
	var parts []string
	for _, s := range spentRows(c) {
		if part := s.Name + " = " + number(s.Spent, 6); !s.Unknown {
			if s.Asked > 0 {
				part += " of " + number(s.Asked, 6)
			}
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// beside is the number of components in one table of Text.
const beside = 5

// A block of components, [From, To), which are [First, Last) in a row that begins with a cell of
// all rows.
type block struct{ From, To, First, Last int }

// blocks divides the components into those of each table.
func blocks(all []componentRow) (out []block) {
	for from := 0; from < len(all); from += beside {
		to := min(from+beside, len(all))
		out = append(out, block{from, to, from + 1, to + 1})
	}
	return out
}
