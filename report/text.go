package report

import (
	_ "embed"
	"fmt"
	"io"
	"text/tabwriter"
	"text/template"

	"github.com/gauze-dp/gauze/release"
)

//go:embed text.txt
var textSource string

var textTemplate = template.Must(template.New("text").Funcs(said).Parse(textSource))

// Text writes a short summary of r for a terminal: weights, mean +- standard deviation of each
// column and component, and what the release cost. It fails as HTML does for a model that is not
// valid, or if w fails.
func Text(w io.Writer, r *release.Release) error {
	if err := check(r); err != nil {
		return err
	}
	b := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if err := textTemplate.Execute(b, newPage(r, Options{})); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return b.Flush()
}

// beside is how many components' means stand beside each other in Text.
const beside = 5

// A block of components, [From, To).
type block struct{ From, To int }

// blocks parts the components into those that stand beside each other.
func blocks(all []componentRow) (out []block) {
	for from := 0; from < len(all); from += beside {
		out = append(out, block{from, min(from+beside, len(all))})
	}
	return out
}
