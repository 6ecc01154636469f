package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A promise is something that somebody may want to trust, and the packages that it rests on: all
// that the compiler lets the named ones reach within the folders named.
type promise struct {
	what   string
	of     []string // whose imports decide; "x/..." stands for all below x
	within []string // folders that count
	also   []string // packages that count whoever imports them
}

// sees are the folders in which rows and noise meet. (Of parallel, which starts goroutines, nothing
// depends but that they end.)
var sees = []string{"kernel", "dense"}

var promises = []promise{
	{"the core", []string{"kernel"}, sees, nil},
	{"`gaussian`, `heavy-tailed`", []string{"estimate/gaussian", "estimate/gaussian"}, sees, nil},
	{"`general`, `separated`, `univariate`, `axis-aligned`", []string{"estimate/general", "estimate/univariate", "estimate/axisaligned"}, sees, nil},
	{"a known covariance", []string{"estimate/knowncov"}, sees, nil},
	{"`black-box`", []string{"estimate/blackbox"}, sees, nil},
	{"the literal algorithms", []string{"literal/..."}, sees, nil},
	{"`--unit` and `--by`, beside the method", []string{"kernel/people"}, sees, []string{".", "ledger", "source"}},
	{"workers (`gauze-beam`), beside the method", []string{"kernel/sharded"}, sees, []string{"beam", "beam/objects", "source/parsed", "source/shards"}},
	{"what is read are the rows (`source`)", []string{"source/inputs"}, []string{"source"}, nil},
}

// toTrust writes the table of what has to be read for each promise.
func toTrust(w io.Writer, packages []*pkg) {
	fmt.Fprint(w, "| to trust | Go | assembly | packages | beside the core |\n|---|---|---|---|---|\n")
	core := reached(packages, promises[0])
	for _, p := range promises {
		code, assembly := 0, 0
		var beside []string
		all := reached(packages, p)
		for _, q := range all {
			code, assembly = code+q.code, assembly+q.assembly
			if !slices.Contains(core, q) {
				beside = append(beside, "`"+q.folder+"`")
			}
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %s |\n", p.what, code, assembly, len(all), strings.Join(beside, ", "))
	}
}

// reached returns the packages that a promise rests on.
func reached(packages []*pkg, p promise) (all []*pkg) {
	needed := map[string]bool{}
	mark := func(from []*pkg) {
		for _, q := range from {
			needed[q.ImportPath] = true
			for _, d := range q.Deps {
				needed[d] = true
			}
		}
	}
	var of, first []*pkg
	for _, q := range packages {
		for _, name := range p.of {
			below, tree := strings.CutSuffix(name, "/...")
			if q.folder == name || tree && under(q.folder, below) {
				of = append(of, q)
			}
		}
	}
	mark(of)
	for _, q := range packages {
		if needed[q.ImportPath] && under(q.folder, p.within[0]) {
			first = append(first, q)
		}
	}
	// What estimators use of the other folders is theirs: of those counts what the first uses.
	clear(needed)
	mark(first)
	for _, q := range packages {
		counts := slices.ContainsFunc(p.within, func(f string) bool { return under(q.folder, f) })
		if needed[q.ImportPath] && counts || slices.Contains(p.also, q.folder) {
			all = append(all, q)
		}
	}
	return all
}

// byLayer writes what each folder of the root holds.
func byLayer(w io.Writer, packages []*pkg) {
	fmt.Fprint(w, "\n| folder | packages | Go | assembly | tests | exported names | most imported |\n|---|---|---|---|---|---|---|\n")
	var layers []string
	held := map[string][]*pkg{}
	for _, p := range packages {
		top, _, _ := strings.Cut(p.folder, "/")
		if held[top] == nil {
			layers = append(layers, top)
		}
		held[top] = append(held[top], p)
	}
	slices.Sort(layers)
	row := func(what string, of []*pkg) {
		var sum pkg
		most := &pkg{}
		for _, p := range of {
			sum.code, sum.assembly, sum.tests, sum.exported = sum.code+p.code, sum.assembly+p.assembly, sum.tests+p.tests, sum.exported+p.exported
			if p.importedBy > most.importedBy {
				most = p
			}
		}
		fanIn := ""
		if most.importedBy > 0 {
			fanIn = fmt.Sprintf("`%s`, by %d", most.folder, most.importedBy)
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %s |\n", what, len(of), sum.code, sum.assembly, sum.tests, sum.exported, fanIn)
	}
	for _, layer := range layers {
		row("`"+layer+"`", held[layer])
	}
	row("all", packages)
	row("of these, reached by no program: for tests, or tools", unreached(packages))
}

// unreached returns the packages that neither a command nor a worker contains.
func unreached(packages []*pkg) (all []*pkg) {
	reached := map[string]bool{}
	for _, p := range packages {
		if under(p.folder, "cmd") || under(p.folder, "beam") {
			reached[p.ImportPath] = true
			for _, d := range p.Deps {
				reached[d] = true
			}
		}
	}
	for _, p := range packages {
		if !reached[p.ImportPath] {
			all = append(all, p)
		}
	}
	return all
}

// under reports that a folder is another one or lies below it.
func under(folder, above string) bool {
	return folder == above || strings.HasPrefix(folder, above+"/")
}
