package archtest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// evidence says where a registered type of queries is searched for neighbours that move it farther
// than it states, where it is compared with a slow twin, and why workers are not asked it, if they
// are not. Each test is a folder and a function; it has to build a value of the type, itself or in
// what it calls.
type evidence struct{ neighbours, twin, local string }

const (
	inQuery = "kernel/query."
	scores  = "literal algorithms ask it where the fit runs"
	blocked = "it asks estimates of blocks, which lie where the fit runs"
)

var (
	ofSums   = evidence{inQuery + "TestSensitivityBySearch", inQuery + "TestTwin", ""}
	ofPairs  = evidence{inQuery + "TestPairSensitivityOfAny", inQuery + "TestPairTwins", scores}
	ofScores = evidence{inQuery + "TestScoreSensitivity", inQuery + "TestScoreTwins", scores}
)

var tested = map[string]evidence{
	"query.Count":                  ofSums,
	"query.Counts":                 ofSums,
	"query.ClippedMoments":         ofSums,
	"query.Directions":             ofSums,
	"query.CategoryCounts":         {inQuery + "TestCategoryNeighbours", inQuery + "TestCategoryTwin", "codes of categories lie where the fit runs"},
	"query.CategoryValues":         {inQuery + "TestValueNeighbours", "kernel.TestFindValuesTwin", "texts of categories lie where the fit runs"},
	"query.GridCounts":             ofSums,
	"query.LogRatio":               ofSums,
	"query.Parts":                  {inQuery + "TestPartsSensitivity", inQuery + "TestTwin", ""},
	"query.Partial":                {inQuery + "TestPartial", inQuery + "TestPartial", ""},
	"query.PairOctaves":            {inQuery + "TestPairSensitivityOfAny", inQuery + "TestOctaves", ""},
	"query/papers.PairDistances":   ofPairs,
	"query/papers.PairMoments":     ofPairs,
	"query/papers.PairSpread":      ofPairs,
	"query.Pairs":                  {"kernel.TestPairsInLeavesOfNeighbours", "kernel.TestBucketsTwin", "workers are asked for the pairs that were drawn"},
	"query.SpacingMasses":          {inQuery + "TestGapNeighbours", inQuery + "TestGapTwin", "workers are asked for columns in order, rings.Placing"},
	"query/papers.SpacingBuckets":  {inQuery + "TestGapBucketNeighbours", inQuery + "TestGapTwin", scores},
	"query.BoxKeys":                {inQuery + "TestBoxNeighbours", inQuery + "TestBoxNames", ""},
	"query/papers.Selection":       {inQuery + "TestSelectionSensitivity", "kernel.TestSelectLaw", scores},
	"query/papers.BallCounts":      ofScores,
	"query/papers.GoodRadius":      ofScores,
	"query/papers.TerrificRadius":  ofScores,
	"query/papers.TerrificCenters": ofScores,
	"query/papers.MaxBoxCount":     ofScores,
	"query/papers.MultisetOverlap": ofScores,
	"query/papers.MinimumDistance": ofScores,
	"query/papers.Tournament":      ofScores,
	"query/papers.CellDeficits":    ofScores,
	"query/papers.LineDeficits":    {inQuery + "TestLineDeficitsNeighbours", inQuery + "TestLineDeficitsTwin", scores},
	"blocks.Stability":             {"kernel/blocks.TestStableTestAudit", "kernel/blocks.TestStableDecidesByH", blocked},
	"pure.Popularity":              {"kernel/pure.TestPopularTestAudit", "kernel/pure.TestPopularDecides", blocked},
	"pure.Line":                    {"kernel/pure.TestLineAudit", "kernel/pure.TestLineDecides", blocked},
	"pure.StatedSpace":             {"kernel/pure.TestOwnAnchors", "kernel/pure.TestOwnIsLine", blocked},
}

// checked is where release/check is compared with what every type says of itself.
const checked = "release/check.TestSensitivities"

// uncheckedShape is the one type without a sensitivity in its shape: a curve is charged for it.
const uncheckedShape = "pure.Popularity"

// registered are the types of the kernel's registry, by their names below kernel.
func registered() map[string]bool {
	all := map[string]bool{}
	kinds, wrappers := query.Registry()
	for _, name := range kinds {
		all[name] = true
	}
	for _, name := range wrappers {
		all[name] = true
	}
	return all
}

// TestRegisteredAreTested: every registered type has a search over neighbours, a slow twin and a
// comparison with release/check that build it, and stands in the format of workers or has a reason
// not to.
func TestRegisteredAreTested(t *testing.T) {
	all := registered()
	for name := range tested {
		if !all[name] {
			t.Errorf("%s is tested, but not registered in kernel/query/registry.go", name)
		}
	}
	onWire := wired(t)
	for name := range all {
		e, ok := tested[name]
		if !ok {
			t.Errorf("%s is registered without tests: name its search over neighbours and its twin here", name)
			continue
		}
		for _, test := range []string{e.neighbours, e.twin, checked} {
			if (test != checked || name != uncheckedShape) && !builds(t, test)[name] {
				t.Errorf("%s: %s does not build one: it is not tested there", name, test)
			}
		}
		if onWire[name] == (e.local != "") {
			t.Errorf("%s: in the format of workers: %v; want it in kernel/sharded/wire.go, or a reason here", name, onWire[name])
		}
		if onWire[name] && !builds(t, "kernel/sharded.TestKinds")[name] {
			t.Errorf("%s: workers are asked it, and TestKinds does not", name)
		}
	}
}

// TestOnlyRegistered: no type of the module has the method by which the core knows a query, but
// those of the registry: not by embedding one, not behind a pointer, not within a function. Types
// of tests are not in the program, and the core refuses them.
func TestOnlyRegistered(t *testing.T) {
	all, found := registered(), 0
	for folder := range exported(t) {
		p := checkedPackage(t, folder, program)
		for at, name := range p.info.Defs {
			tn, ok := name.(*types.TypeName)
			if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) || !asks(tn.Type()) && !asks(types.NewPointer(tn.Type())) {
				continue
			}
			if tn.Parent() != p.pkg.Scope() || !all[strings.TrimPrefix(folder, "kernel/")+"."+tn.Name()] {
				t.Errorf("%s: %s.%s could be measured, and is not in kernel/query/registry.go", p.set.Position(at.Pos()), folder, tn.Name())
			}
			found++
		}
	}
	if found != len(all) {
		t.Errorf("%d types of queries were found, and %d are registered", found, len(all))
	}
}

// asks reports a type with the method Kind() string, by which the core knows a query.
func asks(of types.Type) bool {
	object, _, _ := types.LookupFieldOrMethod(of, false, nil, "Kind")
	f, ok := object.(*types.Func)
	if !ok {
		return false
	}
	s := f.Signature()
	return s.Params().Len() == 0 && s.Results().Len() == 1 && types.Identical(s.Results().At(0).Type(), types.Typ[types.String])
}

// wired are the types in the format of workers: the arguments of reflect.TypeFor in the list asked.
func wired(t *testing.T) map[string]bool {
	t.Helper()
	p, names := checkedPackage(t, "kernel/sharded", program), map[string]bool{}
	for _, object := range p.info.Defs {
		v, ok := object.(*types.Var)
		if !ok || v.Name() != "asked" || v.Parent() != p.pkg.Scope() {
			continue
		}
		ast.Inspect(p.decls[v], func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if of, ok := p.info.Instances[id]; ok {
					names[named(of.TypeArgs.At(0))] = true
				}
			}
			return true
		})
	}
	if len(names) < 5 {
		t.Fatalf("the format of workers has only %v: this test looks in the wrong place", names)
	}
	return names
}

// named is a type's folder below kernel and its name, "" for others.
func named(of types.Type) string {
	n, ok := types.Unalias(of).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	folder, ok := strings.CutPrefix(n.Obj().Pkg().Path(), module+"/kernel/")
	if !ok {
		return ""
	}
	return folder + "." + n.Obj().Name()
}

// builds are the types of which a test makes a value: it, or what it calls in its own package.
func builds(t *testing.T, test string) map[string]bool {
	t.Helper()
	if names, ok := built[test]; ok {
		return names
	}
	folder, function, _ := strings.Cut(test, ".")
	names := map[string]bool{}
	for _, which := range []part{outside, inside} {
		p := checkedPackage(t, folder, which)
		start := p.pkg.Scope().Lookup(function)
		if start == nil {
			continue
		}
		seen, next := map[types.Object]bool{}, []types.Object{start}
		for len(next) > 0 {
			at := next[0]
			if next = next[1:]; seen[at] || p.decls[at] == nil {
				continue
			}
			seen[at] = true
			ast.Inspect(p.decls[at], func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if of := p.info.Types[n].Type; of != nil {
						names[named(of)] = true
					}
				case *ast.Ident:
					if used := p.info.Uses[n]; used != nil {
						next = append(next, used)
					}
				}
				return true
			})
		}
		built[test] = names
		return names
	}
	t.Errorf("%s: there is no such test", test)
	return nil
}

var built = map[string]map[string]bool{}

// checkedFiles are the files of a package, types and all.
type checkedFiles struct {
	set   *token.FileSet
	pkg   *types.Package
	info  *types.Info
	decls map[types.Object]ast.Node // of what stands at the top
}

// A part is which files of a package are looked at.
type part string

const (
	program part = "program" // without tests
	inside  part = "inside"  // and with the tests that lie within the package
	outside part = "outside" // the tests beside it alone
)

// checkedPackage checks the types of a package of ours.
func checkedPackage(t *testing.T, folder string, which part) *checkedFiles {
	t.Helper()
	key := folder + " " + string(which)
	if p := checkedAll[key]; p != nil {
		return p
	}
	listed := exported(t)[folder]
	names := map[part][]string{program: listed.files, inside: slices.Concat(listed.files, listed.inside), outside: listed.outside}[which]
	p := &checkedFiles{set: token.NewFileSet(), decls: map[types.Object]ast.Node{}, info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
	}}
	var trees []*ast.File
	for _, name := range names {
		tree, err := parser.ParseFile(p.set, filepath.Join(root, folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	config := types.Config{Importer: importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(archive(path)) })}
	if which != program { // what tests export to themselves is not in the archives
		config.Error = func(error) {}
	}
	var err error
	if p.pkg, err = config.Check(module+"/"+folder, p.set, trees, p.info); err != nil && which == program {
		t.Fatal(err)
	}
	for _, tree := range trees {
		p.declare(tree)
	}
	checkedAll[key] = p
	return p
}

var checkedAll = map[string]*checkedFiles{}

// declare keeps what every name at the top stands for.
func (p *checkedFiles) declare(tree *ast.File) {
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			p.decls[p.info.Defs[d.Name]] = d
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						p.decls[p.info.Defs[name]] = v
					}
				}
			}
		}
	}
}

// A listedPackage is the files of one package of ours.
type listedPackage struct{ files, inside, outside []string }

// exported are the packages of the module by their folders.
func exported(t *testing.T) map[string]listedPackage {
	t.Helper()
	all, err := archives()
	if err != nil {
		t.Fatal(err)
	}
	return all.ours
}

// archive is the file with what a package exports.
func archive(path string) string {
	all, _ := archives()
	return all.files[path]
}

type archived struct {
	files map[string]string
	ours  map[string]listedPackage
}

// archives has the compiler write what every package exports, which the build has done already.
var archives = sync.OnceValues(func() (all archived, err error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f",
		"{{.ImportPath}}\t{{.Export}}\t{{join .GoFiles \" \"}}\t{{join .TestGoFiles \" \"}}\t{{join .XTestGoFiles \" \"}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	all = archived{map[string]string{}, map[string]listedPackage{}}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		all.files[f[0]] = f[1]
		if folder, our := ours(f[0]); our {
			all.ours[folder] = listedPackage{strings.Fields(f[2]), strings.Fields(f[3]), strings.Fields(f[4])}
		}
	}
	return all, err
})
