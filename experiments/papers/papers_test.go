package papers

import (
	"bytes"
	"context"
	"fmt"
	"os"
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

// What the page of rates says is proved stands on the page of the source beside the method's name,
// word for word, and its number is one that the page has, and in the list of statements if it is a
// theorem.
func TestProvedAsRestated(t *testing.T) {
	const root = "../../papers/"
	list, err := os.ReadFile(root + "statements.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tasks {
		s, ok := statements[x.method]
		if !ok {
			t.Errorf("no statement of %s", x.method)
			continue
		}
		page, err := os.ReadFile(root + s.key + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("- %s, `%s`: %s\n", s.part, x.method, s.rate); !strings.Contains(string(page), want) {
			t.Errorf("papers/%s.md has no line %q", s.key, want)
		}
		if strings.HasPrefix(s.part, "Theorem") {
			if !strings.Contains(string(list), "\n"+s.key+","+s.part+",") {
				t.Errorf("%s: not in the list of statements", s)
			}
		} else if !regexp.MustCompile(`(?m)^##+ ` + regexp.QuoteMeta(s.part) + `\b`).Match(page) {
			t.Errorf("%s: the page has no such section", s)
		}
	}
	if len(statements) != len(tasks) {
		t.Errorf("%d statements of %d methods", len(statements), len(tasks))
	}
}

// A refusal in a few words keeps the number of rows that it names.
func TestRefused(t *testing.T) {
	for why, want := range map[string]string{
		"noise would hide every ball (about 1.7e+11 rows, or a larger epsilon)":      "refused, 1.7e+11",
		"method univariate:aal21 enumerates mixtures (columns: 1): use a larger one": "refused: univariate:aal21 enumerates mixtures",
	} {
		if got := refused(why); got != want {
			t.Errorf("%q, want %q", got, want)
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
