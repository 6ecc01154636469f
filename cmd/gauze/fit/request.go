package fit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// A Request is the flags that fit and plan share: everything that a fit is asked.
type Request struct {
	// Profile: what is asked is table one, so that nothing is said of a model.
	Profile bool

	set                 *pflag.FlagSet
	epsilon, delta, rho float64
	relation            string
	components          string
	maxComponents       int
	method              string
	covariance          string
	columns, schema     string
	infer               bool
	unit                string
	text                Text
	by                  []string
	meanWithin          float64
	eigenvaluesWithin   string
	moments             int
	knownCovariance     string
	known               *source.Covariance // as its file has it; nil if none is given
	learner, constants  string
	momentBound         float64
	leastWeight         float64
	force               bool
	trim                float64
}

// Register adds the flags to a command's.
func (f *Request) Register(flags *pflag.FlagSet) {
	f.set = flags
	model := flags
	if f.Profile { // its flags keep their defaults
		model = pflag.NewFlagSet("model", pflag.ContinueOnError)
	}
	flags.Float64Var(&f.epsilon, "epsilon", 0, "budget: epsilon (required, with --delta)")
	flags.Float64Var(&f.delta, "delta", 0, "budget: delta, far below one over the number of rows, or 0, only with --method univariate:kv18 (required, with --epsilon)")
	flags.Float64Var(&f.rho, "rho", 0, "budget as zCDP, in place of --epsilon and --delta")
	flags.StringVar(&f.relation, "relation", privacy.ReplaceOne.String(), "replace-one (the number of rows is public) or add-remove-one")
	model.StringVar(&f.components, "components", catalog.Auto, "number of components, or auto")
	model.IntVar(&f.maxComponents, "max-components", 0, "most components that auto may choose (default: what the rows can carry)")
	model.StringVar(&f.method, "method", catalog.Auto, methodsHelp())
	model.StringVar(&f.constants, "constants", practicalConstants, "of a method as a paper prints it: practical (they run), or printed (the paper's own constants; they usually need too many rows)")
	model.StringVar(&f.covariance, "covariance", estimate.Full.String(), "full, diagonal or spherical")
	model.StringVar(&f.learner, "learner", "", "what --method black-box runs on blocks of rows: em (its default), spectral, pearson-lines or moitra-valiant; separated:sample-aggregate: spectral-spheres (its default), vempala-wang, spectral or em")
	model.Float64Var(&f.trim, "trim", 0, "part of each block's rows, the least likely, that the learner leaves out: for data with outliers, below 0.2")
	flags.StringVar(&f.columns, "columns", "", "columns to fit, a,b,sex:category(f,m): the public schema")
	f.text.Register(flags)
	flags.BoolVar(&f.infer, "infer-schema", false, "have the cells choose the columns: the promise does not cover that choice, and the release says so")
	flags.StringVar(&f.unit, "unit", "", "column whose values are persons, for tables in which a person has several rows: what is protected is a person; none says that every row is one")
	flags.StringSliceVar(&f.by, "by", nil, "columns whose categories, which the schema declares, make groups: each gets a model of its own (default: those of the schema; none for one model)")
	flags.StringVar(&f.schema, "schema", "", "file with the public schema: "+schemaExample)
	model.Float64Var(&f.meanWithin, "mean-within", 0, "publicly known: the mean is within this distance of the origin, 0 if it is the origin")
	model.StringVar(&f.eigenvaluesWithin, "eigenvalues-within", "", "publicly known: a,b, bounds on the eigenvalues of the covariance")
	model.StringVar(&f.knownCovariance, "known-covariance", "", "publicly known: file with the covariance of every component, CSV or JSON")
	flags.BoolVar(&f.force, "force", false, "replace files that exist; allow epsilon above 20, or delta of one over the rows or more")
	model.IntVar(&f.moments, "moments", 0, "publicly known: moments up to this even order are bounded as a Gaussian's are")
	model.Float64Var(&f.momentBound, "moment-bound", 0, "publicly known, with --moments: those of that order are at most so many times the variance's power, in every direction")
	model.Float64Var(&f.leastWeight, "least-weight", 0, "publicly known: every component has at least this part of the rows")
	f.values(flags, model)
}

// values tells shells which values flags can have.
func (f *Request) values(flags, model *pflag.FlagSet) {
	shell.Values(flags, "relation", privacy.ReplaceOne.String(), privacy.AddRemoveOne.String())
	shell.Values(model, "components", catalog.Auto, "1", "2", "3")
	shell.Values(model, "method", append(catalog.Methods().Names(), printedNames()...)...)
	shell.Values(model, "constants", practicalConstants, release.ConstantsPrinted)
	shell.Values(model, "covariance", estimate.Full.String(), estimate.Diagonal.String(), estimate.Spherical.String())
	shell.Values(model, "learner", "em", "spectral", "pearson-lines", "moitra-valiant", "spectral-spheres", "vempala-wang")
}

// Given says that a flag is.
func (f *Request) Given(name string) bool { return f.set.Changed(name) }

// methodsHelp names the methods, those that papers print apart.
func methodsHelp() string {
	return strings.Join(catalog.Methods().Names(), ", ") + "; as papers print them, to compare with: " + strings.Join(printedNames(), ", ")
}

// printedNames are those of the methods that papers print.
func printedNames() (names []string) {
	for _, m := range append(literal.One(), literal.Mixtures()...) {
		names = append(names, m.Name())
	}
	return names
}

const practicalConstants = "practical"

const schemaExample = `{"columns": [{"name": "age", "rounded_to": 1}, ..]}`

// Parse returns the request without its columns. Whatever is wrong with the words is returned at
// once.
func (f *Request) Parse() (r gauze.Request, err error) {
	if r.Budget, err = f.budget(); err != nil {
		return r, err
	}
	if r.Relation, err = privacy.ParseRelation(f.relation); err != nil {
		return r, err
	}
	if r.Components, err = f.numberOfComponents(); err != nil {
		return r, err
	}
	if f.Given("max-components") && f.maxComponents < 1 {
		return r, shell.Wrong("--max-components", "a positive number", f.maxComponents, "leave it out for what the rows can carry")
	}
	if r.Printed = f.constants == release.ConstantsPrinted; !r.Printed && f.constants != practicalConstants {
		return r, shell.Wrong("--constants", "practical or printed", fmt.Sprintf("%q", f.constants), "practical is the default")
	}
	if r.MaxComponents, r.Method = f.maxComponents, f.method; f.Profile {
		r.Method = gauze.MethodProfile
	}
	r.Learner, r.Trim, r.Force = f.learner, f.trim, f.force
	if f.Given("learner") && f.learner == "" {
		return r, shell.Wrong("--learner", "em, spectral, pearson-lines or moitra-valiant", `""`, "leave it out for the method's own choice")
	}
	if r.Covariance, err = covarianceType(f.covariance); err != nil {
		return r, err
	}
	if r.Facts, err = f.facts(); err != nil {
		return r, err
	}
	if f.Given("known-covariance") {
		if f.known, err = source.ReadCovariance(f.knownCovariance); err != nil {
			return r, err
		}
	}
	// Everything but the columns can be checked before an input is opened.
	check := r
	check.Columns = gauze.Named("x")
	return r, check.Validate()
}

func (f *Request) budget() (privacy.Budget, error) {
	b := privacy.Budget{Epsilon: f.epsilon, Delta: f.delta, Rho: f.rho}
	given := f.Given
	const hint = "there is no default; for instance --epsilon 1 --delta 1e-6"
	switch {
	case !given("epsilon") && !given("delta") && !given("rho"):
		return b, shell.Wrong("budget", "--epsilon and --delta, or --rho", "neither", hint)
	case given("rho") && (given("epsilon") || given("delta")):
		return b, shell.Wrong("budget", "--epsilon and --delta, or --rho", "both", "leave one of the two out")
	case given("epsilon") && !given("delta"):
		return b, shell.Wrong("--delta", "a number beside --epsilon", "nothing", hint)
	case given("delta") && !given("epsilon"):
		return b, shell.Wrong("--epsilon", "a number beside --delta", "nothing", hint)
	case given("rho") && f.rho == 0:
		return b, shell.Wrong("--rho", "a positive number", "0", "0.025 is about as strict as epsilon 1 with delta 1e-6")
	}
	return b, b.Validate()
}

func (f *Request) numberOfComponents() (int, error) {
	if f.components == catalog.Auto {
		return 0, nil
	}
	k, err := strconv.Atoi(f.components)
	if err != nil || k < 1 {
		return 0, shell.Wrong("--components", "a positive number or auto", fmt.Sprintf("%q", f.components),
			"auto chooses up to --max-components")
	}
	return k, nil
}

// ForColumns fills in what the names of the columns decide: the known covariance in their order.
func (f *Request) ForColumns(r *gauze.Request) (err error) {
	if f.known != nil {
		r.KnownCovariance, err = f.known.For((&source.Schema{Columns: r.Columns}).Names())
	}
	return err
}

// facts are what the flags say is publicly known. A flag that is not given says nothing; one that
// says nothing is refused.
func (f *Request) facts() (known estimate.Facts, err error) {
	given := f.Given
	if known.KnowsMean = given("mean-within"); known.KnowsMean {
		known.MeanWithin = f.meanWithin
	}
	if known.Moments = f.moments; given("moments") && f.moments == 0 {
		return known, shell.Wrong("--moments", "an even order of at least 4", "0", "leave it out if nothing is known")
	}
	known.MomentBound, known.LeastWeight = f.momentBound, f.leastWeight
	if !given("eigenvalues-within") {
		return known, nil
	}
	low, high, _ := strings.Cut(f.eigenvaluesWithin, ",")
	for i, text := range []string{low, high} {
		if known.Eigenvalues[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || known.Eigenvalues[i] == 0 {
			return known, shell.Wrong("--eigenvalues-within", "a,b with 0 < a <= b", fmt.Sprintf("%q", f.eigenvaluesWithin),
				"for instance --eigenvalues-within 0.1,25: squares of the least and the largest standard deviation along any direction")
		}
	}
	return known, nil
}

func covarianceType(name string) (estimate.CovarianceType, error) {
	shape, known := estimate.ShapeOf(name)
	if known {
		return shape, nil
	}
	hint := "full is the default; diagonal and spherical need fewer rows"
	if near := shell.Nearest(name, []string{"full", "diagonal", "spherical"}); near != "" {
		hint = "did you mean " + near + "?"
	}
	return 0, shell.Wrong("--covariance", "full, diagonal or spherical", fmt.Sprintf("%q", name), hint)
}

// Declared returns the schema that the flags declare. Without --columns or --schema it has no
// columns, and --infer-schema sets its Infer.
func (f *Request) Declared() (s *source.Schema, err error) {
	s = &source.Schema{}
	switch {
	case f.infer && (f.Given("columns") || f.Given("schema")):
		return nil, shell.Wrong("--infer-schema", "neither --columns nor --schema beside it", "one of them", "leave it out: the columns are declared")
	case f.Given("columns") && f.Given("schema"):
		return nil, shell.Wrong("schema", "--columns or --schema", "both", "leave one of the two out")
	case f.Given("columns"):
		s, err = source.ParseColumns(f.columns)
	case f.Given("schema"):
		s, err = source.ReadSchema(f.schema)
	}
	if err != nil {
		return nil, err
	}
	s.Infer = f.infer
	if err := f.text.Fill(s); err != nil {
		return nil, err
	}
	if f.Given("unit") {
		s.Unit = f.unit
	}
	s.By, err = f.groupings(s.By)
	return s, err
}

// groupings are those of a schema, or of them those that --by asks for, in its order.
func (f *Request) groupings(declared []source.Grouping) (out []source.Grouping, err error) {
	if !f.Given("by") {
		return declared, nil
	}
	if slices.Equal(f.by, []string{source.NoGroups}) {
		return nil, nil
	}
	for _, name := range f.by {
		i := slices.IndexFunc(declared, func(g source.Grouping) bool { return g.Name == name })
		if i < 0 {
			return nil, shell.Wrong("--by", "a column whose categories the schema declares", fmt.Sprintf("%q", name),
				`groups are public, and never read off the rows: a schema with {"by": [{"name": "sex", "categories": ["f", "m"]}], ..}`)
		}
		out = append(out, declared[i])
	}
	return out, nil
}
