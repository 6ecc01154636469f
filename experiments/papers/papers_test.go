package papers

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/literal"
)

// Every cell has a name of its own and a table that can be drawn.
func TestCells(t *testing.T) {
	enginetest.Lines(t, Study, func(l *line) error {
		_, _, err := l.Cell.draw(1, 10)
		return err
	})
}

// Every method that runs what a paper prints is asked.
func TestAllMethods(t *testing.T) {
	for _, m := range append(literal.One(), literal.Mixtures()...) {
		found := false
		for _, x := range tasks {
			found = found || x.method == m.Name()
		}
		if !found {
			t.Errorf("no task for %s", m.Name())
		}
	}
}

// All pages, of one method.
func TestSummaries(t *testing.T) {
	row := regexp.MustCompile(`\| univariate:kv18 +\| 1 \| 1 `)
	for _, e := range Study.Experiments {
		var out bytes.Buffer
		o := enginetest.Options(t)
		o.Stdout, o.Out, o.Methods, o.Runs = &out, "", []string{"univariate:kv18"}, 1
		err := Study.Run(context.Background(), o, []string{e.Name})
		if text := out.String(); err != nil || !row.MatchString(text) || !strings.Contains(text, "1/1") {
			t.Errorf("%s: %v\n%s", e.Name, err, text)
		}
	}
}
