// Package flags describes what a reader should know about a model beside its numbers, in a form
// that programs can sort and people can read.
//
// The estimator that released the values behind a flag raises it. The flag stays the same value in
// the release, the report, the server's pages and Python.
package flags

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Code names the kind of a flag. The list is closed, and a code keeps its meaning: docs/FORMAT.md
// describes each.
type Code string

// The codes.
const (
	LeftOut          Code = "left-out"          // rows that the model does not describe
	Background       Code = "background"        // rows outside of all groups, described by marked components
	IncompleteRows   Code = "incomplete-rows"   // rows with missing cells are not used
	MissingCells     Code = "missing-cells"     // rows with missing cells are used, as missing at random
	ConstantColumn   Code = "constant-column"   // too few rows differ from one value to measure a spread
	RecordedUnit     Code = "recorded-unit"     // values look rounded, which was taken into account
	CoarseUnit       Code = "coarse-unit"       // the recording unit is a large part of the spread
	SharedValue      Code = "shared-value"      // many rows share one value
	OutlierGroup     Code = "far-group"         // a few rows lie together, far from all others
	HeavyTail        Code = "heavy-tail"        // mean and sd depend on few rows far out
	NotGaussian      Code = "not-gaussian"      // rows are not bell-shaped, or more groups than components
	Correlated       Code = "correlated"        // columns correlate in a way that the shape cannot show
	HeldOut          Code = "held-out"          // a column with too few values for a model
	Unresolved       Code = "unresolved"        // the noise hides the spread in some directions
	Singular         Code = "singular"          // some directions have no spread
	OneComponent     Code = "one-component"     // one Gaussian, though several were allowed
	FewerComponents  Code = "fewer-components"  // fewer components than requested
	AtLimit          Code = "at-limit"          // about as many components as allowed
	FewRows          Code = "few-rows"          // too few rows for the request, or for a spread
	UncertainMean    Code = "uncertain-mean"    // the noise moves a component's mean by much
	SurplusComponent Code = "surplus-component" // a component with few rows may not be real
	Narrow           Code = "narrow"            // a component is narrower than the measurements resolve
	KnownCovariance  Code = "known-covariance"  // the rows contradict the stated covariance
	OtherShape       Code = "other-shape"       // covariances of another shape than requested
	Method           Code = "method"            // how a method of a paper reached its estimate
	Uncoded          Code = "uncoded"           // read from a release of a version without codes
)

// Codes returns all codes, in the order of docs/FORMAT.md.
func Codes() []Code {
	return []Code{LeftOut, Background, IncompleteRows, MissingCells, ConstantColumn, RecordedUnit, CoarseUnit, SharedValue, OutlierGroup, HeavyTail, NotGaussian, Correlated,
		HeldOut, Unresolved, Singular, OneComponent, FewerComponents, AtLimit, FewRows, UncertainMean, SurplusComponent, Narrow, KnownCovariance, OtherShape, Method, Uncoded}
}

// Known reports whether c is one of Codes.
func (c Code) Known() bool { return slices.Contains(Codes(), c) }

// A Flag is one thing to know about a model or a component. All of it follows from released values
// and public facts. Columns are numbers (from 0) where estimators raise it, names in a release.
type Flag[Column int | string] struct {
	Code    Code     `json:"code"`              // Required.
	Columns []Column `json:"columns,omitempty"` // nil if it is not about columns
	Share   float64  `json:"share,omitempty"`   // of the rows, in [0, 1]; 0 if it is not about a share
	Noise   float64  `json:"noise,omitempty"`   // the standard deviation of Share; 0 if unknown
	Text    string   `json:"text"`              // Required: one sentence for people.

	// format and args produced the text, if args has a Ref.
	format string
	args   []any
}

// Ref holds columns among the arguments of a flag's text, by their numbers from 0: the text has
// their numbers from 1, and [Named] replaces them by names.
type Ref []int

// String returns the numbers, from 1, with commas.
func (r Ref) String() string { return r.with(func(j int) string { return strconv.Itoa(j + 1) }) }

func (r Ref) with(word func(j int) string) string {
	words := make([]string, len(r))
	for i, j := range r {
		words[i] = word(j)
	}
	return strings.Join(words, ", ")
}

// New returns a flag about the whole; its text is formatted as fmt.Sprintf does. A column in a text
// is a [Ref], so that it can be named later.
func New(code Code, format string, args ...any) Flag[int] {
	f := Flag[int]{Code: code, Text: fmt.Sprintf(format, args...)}
	if slices.ContainsFunc(args, func(a any) bool { _, ok := a.(Ref); return ok }) {
		f.format, f.args = format, args
	}
	return f
}

// Named returns flags with the names of columns in the place of their numbers. A name that cannot
// be printed is quoted in texts: it could be an escape for a terminal.
func Named(of []Flag[int], names []string) (out []Flag[string]) {
	for _, f := range of {
		named := Flag[string]{Code: f.Code, Share: f.Share, Noise: f.Noise, Text: f.Text}
		if f.format != "" {
			named.Text = fmt.Sprintf(f.format, withNames(f.args, names)...)
		}
		for _, j := range f.Columns {
			named.Columns = append(named.Columns, names[j])
		}
		out = append(out, named)
	}
	return out
}

// withNames returns the arguments of a text with the names of the columns in Refs.
func withNames(args []any, names []string) []any {
	out := slices.Clone(args)
	for i, a := range out {
		if r, ok := a.(Ref); ok {
			out[i] = r.with(func(j int) string {
				if quoted := strconv.Quote(names[j]); quoted != `"`+names[j]+`"` {
					return quoted
				}
				return names[j]
			})
		}
	}
	return out
}

// In returns f about columns, by their numbers from 0.
func (f Flag[Column]) In(columns ...Column) Flag[Column] {
	f.Columns = slices.Clone(columns)
	return f
}

// Of returns f about a share of the rows, which it cuts to [0, 1], with the standard deviation of
// its noise, 0 if that is unknown.
func (f Flag[Column]) Of(share, noise float64) Flag[Column] {
	f.Share, f.Noise = max(0, min(1, share)), noise
	return f
}

// String returns the text.
func (f Flag[Column]) String() string { return f.Text }

// UnmarshalJSON reads the object that a flag is, or the text alone that it was in releases of
// earlier versions, which becomes Uncoded.
func (f *Flag[Column]) UnmarshalJSON(data []byte) error {
	var text string
	if len(data) > 0 && data[0] == '"' {
		err := json.Unmarshal(data, &text)
		*f = Flag[Column]{Code: Uncoded, Text: text}
		return err
	}
	type plain Flag[Column]
	return json.Unmarshal(data, (*plain)(f))
}

// Texts returns the texts of flags.
func Texts[Column int | string](of []Flag[Column]) (texts []string) {
	for _, f := range of {
		texts = append(texts, f.Text)
	}
	return texts
}
