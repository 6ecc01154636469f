package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/literal"
)

//go:embed papers.json
var papersSource []byte

// A paperEntry says where one algorithm of a source lives.
type paperEntry struct {
	Key       string `json:"key"`
	Algorithm string `json:"algorithm"`
	Package   string `json:"package"`
	Symbol    string `json:"symbol"`
	File      string `json:"file"`
	Literal   bool   `json:"literal"` // it runs as its source prints it
}

func papersCommand() shell.Command {
	return shell.Command{
		Use: "papers [KEY]", Short: "which algorithm of which source lives where",
		Least: 0, Most: 1, Run: papers,
	}
}

func papers(e *shell.Env, args []string) error {
	var all []paperEntry
	if err := json.Unmarshal(papersSource, &all); err != nil {
		return fmt.Errorf("papers: the table in the program is damaged: %w", err)
	}
	entries := all
	if len(args) == 1 {
		entries = slices.DeleteFunc(slices.Clone(all), func(p paperEntry) bool { return !strings.EqualFold(p.Key, args[0]) })
		if len(entries) == 0 {
			return shell.Wrong("papers", "one of "+strings.Join(keysOf(all), ", "), fmt.Sprintf("%q", args[0]),
				"gauze papers lists everything")
		}
	}
	if e.JSON {
		return e.Print(entries)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "source\talgorithm\tform\tpackage\tsymbol\tfile")
	for _, p := range entries {
		form := ""
		if p.Literal {
			form = "as printed"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Key, p.Algorithm, form, p.Package, p.Symbol, p.File)
	}
	if len(args) == 0 {
		listMethods(w, "method", catalog.Methods().All())
		listMethods(w, "as printed", append(literal.One(), literal.Mixtures()...))
	}
	return w.Flush()
}

func listMethods(w io.Writer, what string, methods []estimate.Estimator) {
	fmt.Fprintf(w, "\n%s\tsource\twhat it fits\n", what)
	for _, m := range methods {
		fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name(), m.Source(), m.Summary())
	}
}

// keysOf lists the keys once each, in their order: entries of one key stand together.
func keysOf(all []paperEntry) (keys []string) {
	for _, p := range all {
		keys = append(keys, p.Key)
	}
	return slices.Compact(keys)
}
