package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
)

func scoreCommand() shell.Command {
	known, text := false, &fit.Text{}
	return shell.Command{
		Use: "score RELEASE INPUT --not-private", Short: "mean log-likelihood of rows; not private",
		Least: 2, Most: 2,
		Flags: func(flags *pflag.FlagSet) {
			text.Register(flags)
			flags.BoolVar(&known, "not-private", false, "I know that the score is not private (required)")
		},
		Run: func(e *shell.Env, args []string) error {
			if !known {
				return &shell.UsageError{Message: "score computes an exact number from the rows of INPUT, which no privacy promise covers",
					Hint: "add --not-private if the rows are public, or if nobody else will see the score"}
			}
			return score(e, args[0], args[1], text)
		},
	}
}

// A scoreAnswer is what score prints with --json.
type scoreAnswer struct {
	// MeanLogLikelihood is null if it is -Inf: some row cannot come from the model.
	MeanLogLikelihood *float64 `json:"mean_log_likelihood"`
	Rows              int      `json:"rows"`     // scored
	BadRows           int      `json:"bad_rows"` // left out
	ImpossibleRows    int      `json:"impossible_rows"`
}

func score(e *shell.Env, path, input string, text *fit.Text) error {
	if path == shell.StdinName && input == shell.StdinName {
		return shell.Wrong("score", "RELEASE or INPUT on stdin", "both", "write one of them to a file")
	}
	r, err := readRelease(e, path)
	if err != nil {
		return err
	}
	schema := schemaOf(r)
	sink, err := newScoreSink(r.Model, schema.Categorical())
	if err != nil {
		return err
	}
	if err := text.Fill(schema); err != nil {
		return err
	}
	if err := scoreRows(e, sink, schema, input); err != nil {
		return err
	}
	return sink.answer().print(e)
}

// schemaOf returns the columns of a release, with what is publicly known of them: a cell that was
// missing in the fit is missing here.
func schemaOf(r *release.Release) *source.Schema {
	schema := &source.Schema{Unit: source.NoUnit} // whose the rows are changes no score
	for j := range r.Model.Columns {
		column := source.Column(r.Column(j))
		if column.Kind == source.Logs { // the model has the map
			column.Kind = ""
		}
		schema.Columns = append(schema.Columns, column)
	}
	for _, c := range r.Model.Categories {
		public := r.Named(c.Name)
		column := source.Column{Name: c.Name, Kind: source.Categories, Missing: public.Missing, Find: public.Find}
		if public.Kind == release.KindYesNo {
			column.Kind = source.YesNo
		}
		if !public.Find { // values that were found are compared as they were: by their text
			column.Categories = slices.DeleteFunc(slices.Clone(c.Values), func(v string) bool { return v == "" })
		}
		schema.Columns = append(schema.Columns, column)
	}
	return schema
}

func scoreRows(e *shell.Env, sink *scoreSink, schema *source.Schema, input string) error {
	table, err := inputs.Open(input, e.Stdin, schema)
	if err != nil {
		return err
	}
	defer table.Close()
	sink.texts = table.Texts
	return table.Read(sink)
}

// scoreSink adds log-likelihoods up as rows pass by.
type scoreSink struct {
	scorer         *model.Scorer
	numbers        int               // columns of numbers
	at             [][]int           // of each value of a column of categories as it is read, which of the model's it is
	missing        []int             // .. and of a missing cell
	texts          func() [][]string // of columns whose values were found, what has been read so far
	categories     []model.Category
	values         []int
	mean           float64 // of the possible rows
	rows, bad, out int
}

// newScoreSink returns a sink for rows of a model whose columns of categories are read so.
func newScoreSink(m *model.Mixture, read []source.Column) (*scoreSink, error) {
	m, err := model.Recorded(m)
	if err != nil {
		return nil, err
	}
	scorer, err := model.NewScorer(m)
	s := &scoreSink{scorer: scorer, numbers: m.Dim(), categories: m.Categories}
	for a, c := range m.Categories {
		var at []int
		for i, v := range c.Values {
			if v != "" && !read[a].Find {
				at = append(at, i)
			}
		}
		missing := slices.Index(c.Values, "")
		if missing >= 0 && c.Share(m.Weights)[missing] == 0 { // of which the model says nothing
			missing = -1
		}
		if !read[a].Find {
			at = append(at, missing)
		}
		s.at, s.missing = append(s.at, at), append(s.missing, missing)
	}
	s.values = make([]int, len(s.at))
	return s, err
}

// Append scores one row, if it has all numbers.
func (s *scoreSink) Append(row []float64, _ string, _ int) {
	row, codes := row[:s.numbers], row[s.numbers:]
	if slices.ContainsFunc(row, math.IsNaN) {
		s.bad++
		return
	}
	s.rows++
	for a, code := range codes {
		s.values[a] = s.value(a, int(code))
	}
	l := s.scorer.LogDensityOf(row, s.values)
	if math.IsInf(l, -1) {
		s.out++
		return
	}
	s.mean += (l - s.mean) / float64(s.rows-s.out)
}

// value returns the model's number of a code in a column of categories.
func (s *scoreSink) value(a, code int) int {
	if code < 0 {
		return s.missing[a]
	}
	for len(s.at[a]) <= code { // a text that was not read before
		values := s.categories[a].Values
		i := slices.Index(values, s.texts()[a][len(s.at[a])])
		if i < 0 {
			i = slices.Index(values, source.OtherValue)
		}
		s.at[a] = append(s.at[a], i)
	}
	return s.at[a][code]
}

func (s *scoreSink) answer() scoreAnswer {
	a := scoreAnswer{Rows: s.rows, BadRows: s.bad, ImpossibleRows: s.out}
	if s.out == 0 && s.rows > 0 {
		a.MeanLogLikelihood = &s.mean
	}
	return a
}

func (a scoreAnswer) print(e *shell.Env) error {
	if a.Rows == 0 {
		return shell.Wrong("score", "at least one whole row", "none", "check the columns of INPUT")
	}
	if e.JSON {
		return e.Print(a)
	}
	value := math.Inf(-1)
	if a.MeanLogLikelihood != nil {
		value = *a.MeanLogLikelihood
	}
	_, err := fmt.Fprintf(e.Stdout, "mean log-likelihood per row: %.6g nats (%s, %d left out)\n", value, words.Plural(a.Rows, "row"), a.BadRows)
	if a.ImpossibleRows > 0 {
		e.Note("note: of %s, %d cannot come from the model at all: off its support\n", words.Plural(a.Rows, "row"), a.ImpossibleRows)
	}
	return err
}
