package fit

import (
	"errors"
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
	// Profile says that table one is requested, so that messages do not mention a model.
	Profile bool

	set *pflag.FlagSet
	// Requested is what the flags say, with defaults of words: Settings leaves those out.
	Requested gauze.Settings

	meanWithin        float64
	eigenvaluesWithin string
	columns, schema   string
	infer             bool
	unit              string
	text              Text
	knownCovariance   string
	known             *source.Covariance // as its file has it; nil if none is given
	force             bool
}

// Register adds the flags to a command's.
func (f *Request) Register(flags *pflag.FlagSet) {
	f.set = flags
	model := flags
	if f.Profile { // its flags keep their defaults
		model = pflag.NewFlagSet("model", pflag.ContinueOnError)
	}
	flags.Float64Var(&f.Requested.Epsilon, "epsilon", 0, "budget: epsilon (required, with --delta)")
	flags.Float64Var(&f.Requested.Delta, "delta", 0, "budget: delta, far below one over the number of rows, or 0, only with --method univariate:kv18, univariate:aal21, axis-aligned:aal21 or heavy-tailed:paper (required, with --epsilon)")
	flags.Float64Var(&f.Requested.Rho, "rho", 0, "budget as zCDP, in place of --epsilon and --delta")
	flags.StringVar(&f.Requested.Relation, "relation", privacy.ReplaceOne.String(), "replace-one (the number of rows is public) or add-remove-one")
	model.Var(&f.Requested.Components, "components", "number of components, or auto")
	model.IntVar(&f.Requested.MaxComponents, "max-components", 0, "most components that auto may choose (default: what the rows can carry)")
	model.StringVar(&f.Requested.Method, "method", catalog.Auto, methodsHelp())
	model.StringVar(&f.Requested.Constants, "constants", gauze.ConstantsPractical, "of a method as a paper prints it: practical (they run), printed (the paper's own constants; they usually need too many rows), or tournament (of AAL21's methods: practical, with a choice by contests of all pairs)")
	model.StringVar(&f.Requested.Covariance, "covariance", estimate.Full.String(), "full, diagonal or spherical")
	model.StringVar(&f.Requested.Learner, "learner", "", "what --method black-box runs on blocks of rows: em (its default), spectral, pearson-lines or moitra-valiant; separated:sample-aggregate: spectral-spheres (its default), vempala-wang, spectral or em")
	model.Float64Var(&f.Requested.Trim, "trim", 0, "part of each block's rows, the least likely, that the learner leaves out: for data with outliers, below 0.2")
	flags.StringVar(&f.columns, "columns", "", "columns to fit, a,b,sex:category(f,m): the public schema")
	f.text.Register(flags)
	flags.BoolVar(&f.infer, "infer-schema", false, "have the cells choose the columns: the promise does not cover that choice, and the release says so")
	flags.StringVar(&f.unit, "unit", "", "column whose values are persons, for tables in which a person has several rows: what is protected is a person; none says that every row is one")
	flags.StringSliceVar(&f.Requested.By, "by", nil, "columns whose declared categories make groups: each group gets a model of its own (default: those of the schema; none for one model)")
	flags.StringVar(&f.schema, "schema", "", "file with the public schema: "+schemaExample)
	model.Float64Var(&f.meanWithin, "mean-within", 0, "publicly known: the mean is within this distance of the origin, 0 if it is the origin")
	model.StringVar(&f.eigenvaluesWithin, "eigenvalues-within", "", "publicly known: a,b, bounds on the eigenvalues of the covariance")
	model.StringVar(&f.knownCovariance, "known-covariance", "", "publicly known: file with the covariance of every component, CSV or JSON")
	flags.BoolVar(&f.force, "force", false, "replace files that exist; allow epsilon above 20, or delta of one over the rows or more")
	model.IntVar(&f.Requested.Moments, "moments", 0, "publicly known: moments up to this even order are bounded as a Gaussian's are")
	model.Float64Var(&f.Requested.MomentBound, "moment-bound", 0, "publicly known, with --moments: those of that order are at most so many times the variance's power, in every direction")
	model.Float64Var(&f.Requested.LeastWeight, "least-weight", 0, "publicly known: every component has at least this part of the rows")
	f.values(flags, model)
}

// values tells shells which values flags can have.
func (f *Request) values(flags, model *pflag.FlagSet) {
	shell.Values(flags, "relation", privacy.ReplaceOne.String(), privacy.AddRemoveOne.String())
	shell.Values(model, "components", catalog.Auto, "1", "2", "3")
	shell.Values(model, "method", append(catalog.Methods().Names(), printedNames()...)...)
	shell.Values(model, "constants", gauze.ConstantsPractical, release.ConstantsPrinted, release.ConstantsTournament)
	shell.Values(model, "covariance", estimate.Full.String(), estimate.Diagonal.String(), estimate.Spherical.String())
	shell.Values(model, "learner", "em", "spectral", "pearson-lines", "moitra-valiant", "spectral-spheres", "vempala-wang")
}

// Given says that a flag is.
func (f *Request) Given(name string) bool { return f.set.Changed(name) }

// methodsHelp names the methods, those that papers print apart.
func methodsHelp() string {
	return strings.Join(catalog.Methods().Names(), ", ") + "; as papers print them, to compare with: " + strings.Join(printedNames(), ", ")
}

// printedNames returns the names of the methods that papers print.
func printedNames() (names []string) {
	for _, m := range append(literal.One(), literal.Mixtures()...) {
		names = append(names, m.Name())
	}
	return names
}

const schemaExample = `{"columns": [{"name": "age", "rounded_to": 1}, ..]}`

// Parse returns the request without its columns. Whatever is wrong with the words is returned at
// once.
func (f *Request) Parse() (r gauze.Request, err error) {
	if err := f.budget(); err != nil {
		return r, err
	}
	s, err := f.Settings()
	if err != nil {
		return r, err
	}
	if r, err = s.Request(); err != nil {
		return r, near(err, s.Covariance)
	}
	if r.Force = f.force; f.Profile {
		r.Method = gauze.MethodProfile
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

// Settings returns what the flags ask for; a flag that is given and says nothing is refused. Words
// of which no flag is given are left out, so that a server takes its own.
func (f *Request) Settings() (s gauze.Settings, err error) {
	s = f.Requested
	for flag, word := range map[string]*string{"relation": &s.Relation, "method": &s.Method, "covariance": &s.Covariance, "constants": &s.Constants} {
		if !f.Given(flag) {
			*word = ""
		}
	}
	if !f.Given("by") {
		s.By = nil
	}
	switch {
	case f.Given("max-components") && s.MaxComponents < 1:
		return s, shell.Wrong("max_components", "a positive number", s.MaxComponents, "leave it out for what the rows can carry")
	case f.Given("learner") && s.Learner == "":
		return s, shell.Wrong("learner", "em, spectral, pearson-lines or moitra-valiant", `""`, "leave it out for the method's own choice")
	case f.Given("moments") && s.Moments == 0:
		return s, shell.Wrong("moments", "an even order of at least 4", "0", "leave it out if nothing is known")
	}
	if f.Given("mean-within") {
		s.MeanWithin = &f.meanWithin
	}
	if f.Given("eigenvalues-within") {
		s.Eigenvalues = new([2]float64)
		low, high, _ := strings.Cut(f.eigenvaluesWithin, ",")
		for i, text := range []string{low, high} {
			if s.Eigenvalues[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || s.Eigenvalues[i] == 0 {
				return s, shell.Wrong("eigenvalues_within", "a,b with 0 < a <= b", fmt.Sprintf("%q", f.eigenvaluesWithin),
					"for instance --eigenvalues-within 0.1,25: squares of the least and the largest standard deviation along any direction")
			}
		}
	}
	return s, nil
}

// near adds to a fault of the covariance's name which one was probably meant.
func near(err error, name string) error {
	var fault *privacy.FieldError
	if meant := shell.Nearest(name, []string{"full", "diagonal", "spherical"}); meant != "" && errors.As(err, &fault) && fault.Field == "covariance" {
		fault.Fix = "did you mean " + meant + "?"
	}
	return err
}

// budget checks that flags say a whole budget.
func (f *Request) budget() error {
	given := f.Given
	const hint = "there is no default; for instance --epsilon 1 --delta 1e-6"
	switch {
	case !given("epsilon") && !given("delta") && !given("rho"):
		return shell.Wrong("budget", "--epsilon and --delta, or --rho", "neither", hint)
	case given("rho") && (given("epsilon") || given("delta")):
		return shell.Wrong("budget", "--epsilon and --delta, or --rho", "both", "leave one of the two out")
	case given("epsilon") && !given("delta"):
		return shell.Wrong("delta", "a number beside --epsilon", "nothing", hint)
	case given("delta") && !given("epsilon"):
		return shell.Wrong("epsilon", "a number beside --delta", "nothing", hint)
	case given("rho") && f.Requested.Rho == 0:
		return shell.Wrong("rho", "a positive number", "0", "0.025 is about as strict as epsilon 1 with delta 1e-6")
	}
	return privacy.Budget{Epsilon: f.Requested.Epsilon, Delta: f.Requested.Delta, Rho: f.Requested.Rho}.Validate()
}

// ForColumns fills in what the names of the columns decide: the known covariance in their order.
func (f *Request) ForColumns(r *gauze.Request) (err error) {
	if f.known != nil {
		r.KnownCovariance, err = f.known.For((&source.Schema{Columns: r.Columns}).Names())
	}
	return err
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
	return s, f.group(s)
}

// group leaves a schema those of its groupings that --by asks for, in its order. A column of
// categories that --by names becomes a grouping, and is fitted no more.
func (f *Request) group(s *source.Schema) error {
	if !f.Given("by") {
		return nil
	}
	declared := s.By
	if s.By = nil; slices.Equal(f.Requested.By, []string{source.NoGroups}) {
		return nil
	}
	for _, name := range f.Requested.By {
		if i := slices.IndexFunc(declared, func(g source.Grouping) bool { return g.Name == name }); i >= 0 {
			s.By = append(s.By, declared[i])
			continue
		}
		i := slices.IndexFunc(s.Columns, func(c source.Column) bool { return c.Name == name && c.Categories != nil })
		if i < 0 {
			return shell.Wrong("by", "a column whose categories are declared", fmt.Sprintf("%q", name),
				fmt.Sprintf("groups are public, and never read off the rows: add %q to --columns, or a schema with \"by\": [{\"name\": %q, \"categories\": [\"a\", \"b\"]}]", name+":category(a,b)", name))
		}
		s.By = append(s.By, source.Grouping{Name: name, Categories: s.Columns[i].Categories})
		s.Columns = slices.Delete(s.Columns, i, i+1)
	}
	return nil
}
