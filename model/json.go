package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// kindMixture is the only kind of model; one Gaussian is a mixture of one.
const kindMixture = "gaussian-mixture"

// typeTolerance is the distance allowed of a matrix from the declared diagonal or spherical type,
// relative to its variances.
const typeTolerance = 1e-12

// modelObject is the "model" object of a release as written.
type modelObject struct {
	Kind           string       `json:"kind"`
	Columns        []string     `json:"columns"`
	Weights        []number     `json:"weights"`
	Means          [][]number   `json:"means"`
	Covariances    [][][]number `json:"covariances"`
	CovarianceType string       `json:"covariance_type"`
	Constraint     string       `json:"constraint,omitempty"`
	Background     []bool       `json:"background,omitempty"`
	// by name of the column
	Categories categoryFields `json:"categories,omitempty"`
}

// A number is written as the shortest decimal that reads back as the same float64, with an exponent
// from 1e15 on: readers in other languages take a long row of digits for an integer, which may
// overflow theirs.
type number float64

// MarshalJSON writes the number.
func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.Abs(x) >= 1e15 {
		return strconv.AppendFloat(nil, x, 'e', -1, 64), nil
	}
	return json.Marshal(float64(n))
}

func asNumbers(values []float64) []number {
	out := make([]number, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return out
}

// MarshalJSON writes the "model" object of a release: kind, columns, weights, means, covariances
// (always full matrices, exactly symmetric, and so is covariance_type), the constraint that all of
// them keep, if they do, which components are background, if any is, and the columns of
// categories. Every number is the
// shortest decimal that reads back as the same float64. It fails if m is not valid.
func (m *Mixture) MarshalJSON() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	o := modelObject{Kind: kindMixture, Columns: m.Columns, Weights: asNumbers(m.Weights), CovarianceType: typeFull, Categories: m.Categories}
	if name := m.CovarianceType(); name != typeFull {
		o.Constraint = name
	}
	if slices.Contains(m.Background, true) {
		o.Background = m.Background
	}
	for _, g := range m.Components {
		o.Means = append(o.Means, asNumbers(g.Mean))
		rows, sigma := make([][]number, m.Dim()), g.Cov.Dense()
		for i := range rows {
			rows[i] = asNumbers(mat.Row(nil, i, sigma))
		}
		o.Covariances = append(o.Covariances, rows)
	}
	return json.Marshal(o)
}

// UnmarshalJSON reads a "model" object, checked.
//
// Missing columns are x1, .., xd, a missing covariance_type is full, and fields it does not know
// are ignored. Weights that sum to 1 within 1e-6 are divided by their sum; matrices that are
// symmetric and positive semi-definite up to 1e-9 are repaired as NewFull does. Anything else is a
// FieldError, and m is left as it was.
func (m *Mixture) UnmarshalJSON(data []byte) error {
	var in modelFields
	if err := in.read(data); err != nil {
		return err
	}
	k := len(in.Weights)
	switch {
	case in.kind != kindMixture:
		return fieldError("kind", `"`+kindMixture+`"`, strconv.Quote(in.kind), "one Gaussian is a mixture of one")
	case k == 0:
		return fieldError("weights", "at least one number", "none", "one Gaussian has the weight 1")
	case len(in.means) != k:
		return fieldError("means", countOf(k, "mean")+", one for each weight", countOf(len(in.means), "mean"), "give one mean for each component")
	case len(in.covariances) != k:
		return fieldError("covariances", countOf(k, "array")+" of rows, one for each weight", countOf(len(in.covariances), "array"), "give one d×d matrix for each component")
	case in.Columns == nil:
		in.Columns = DefaultColumns(len(in.means[0]))
	case len(in.means[0]) > 0 && len(in.Columns) != len(in.means[0]):
		return fieldError("columns", countOf(len(in.means[0]), "name")+", as many as the means have numbers", countOf(len(in.Columns), "name"), "name every column, or leave the field out")
	}
	for i, mean := range in.means {
		cov, err := in.covariance(fmt.Sprintf("covariances[%d]", i), in.covariances[i])
		if err != nil {
			return err
		}
		in.Components = append(in.Components, Gaussian{Mean: mean, Cov: cov})
	}
	in.Categories = in.categories
	if err := in.Validate(); err != nil {
		return err
	}
	// Sums that differ from 1 by rounding are left alone, so that what was written reads back the
	// same.
	if sum := floats.Sum(in.Weights); math.Abs(sum-1) > float64(k)*machineEps {
		floats.Scale(1/sum, in.Weights)
	}
	*m = in.Mixture
	return nil
}

// modelFields is a "model" object as it is read: a mixture, and the parts of its components.
type modelFields struct {
	Mixture
	kind, shape string
	means       [][]float64
	covariances [][][]float64
	categories  categoryFields
}

// read decodes the fields, of which kind, weights, means and covariances have to be there.
func (in *modelFields) read(data []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil || bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return fieldError("model", "a JSON object with kind, weights, means and covariances", describe(data), "")
	}
	in.shape = typeFull
	says := "covariance_type"
	if _, ok := fields["constraint"]; ok {
		says = "constraint"
	}
	for _, f := range []struct {
		name, wanted string
		into         any
		required     bool
	}{
		{"kind", `"` + kindMixture + `"`, &in.kind, true},
		{"weights", "an array of numbers", &in.Weights, true},
		{"means", "an array of arrays of numbers", &in.means, true},
		{"columns", "an array of names", &in.Columns, false},
		{says, `"full", "diagonal" or "spherical"`, &in.shape, false},
		{"covariances", "an array of matrices, each an array of rows", &in.covariances, true},
		{"background", "an array of true and false, one for each component", &in.Background, false},
		{"categories", "an object by the names of columns", &in.categories, false},
	} {
		if _, ok := fields[f.name]; ok || f.required {
			if err := readField(fields, f.name, f.into, f.wanted); err != nil {
				return err
			}
		}
	}
	if !slices.Contains([]string{typeFull, typeDiagonal, typeSpherical}, in.shape) {
		return fieldError(says, `"full", "diagonal" or "spherical"`, describe(fields[says]), "leave the field out for full")
	}
	return nil
}

// covariance returns a matrix as a covariance of the type declared for all components.
func (in *modelFields) covariance(field string, rows [][]float64) (Covariance, error) {
	sigma, err := readMatrix(field, rows, len(in.Columns))
	if err != nil {
		return nil, err
	}
	full, err := newFull(field, sigma)
	switch {
	case err != nil || in.shape == typeFull:
		return full, err
	case in.shape == typeDiagonal:
		return asDiagonal(field, full)
	}
	return asSpherical(field, full)
}

func readMatrix(field string, rows [][]float64, d int) (*mat.Dense, error) {
	shape := fmt.Sprintf("%d rows of %s, as many as there are columns", d, countOf(d, "number"))
	if len(rows) != d {
		return nil, fieldError(field, shape, countOf(len(rows), "row"), "write the full matrix, whatever the covariance_type")
	}
	out := mat.NewDense(d, d, nil)
	for i, r := range rows {
		at := fmt.Sprintf("%s[%d]", field, i)
		if len(r) != d {
			return nil, fieldError(at, countOf(d, "number"), countOf(len(r), "number"), "write the full matrix, whatever the covariance_type")
		}
		out.SetRow(i, r)
	}
	return out, nil
}

func asDiagonal(field string, f Full) (Covariance, error) {
	d := f.Dim()
	variances := make([]float64, d)
	for i := range d {
		variances[i] = f.At(i, i)
		for j := range i {
			if v := f.At(i, j); math.Abs(v) > typeTolerance*math.Sqrt(f.At(i, i))*math.Sqrt(f.At(j, j)) {
				return nil, fieldError(fmt.Sprintf("%s[%d][%d]", field, i, j), "0, because the covariances are said to be diagonal", v, `set it to 0 or leave that out`)
			}
		}
	}
	return NewDiagonal(variances)
}

func asSpherical(field string, f Full) (Covariance, error) {
	c, err := asDiagonal(field, f)
	if err != nil {
		return nil, err
	}
	v := f.At(0, 0)
	for j := 1; j < f.Dim(); j++ {
		if u := f.At(j, j); math.Abs(u-v) > typeTolerance*v {
			return nil, fieldError(fmt.Sprintf("%s[%d][%d]", field, j, j), fmt.Sprintf("%v, as in the other columns, because the covariances are said to be spherical", v), u, `use one variance or say diagonal`)
		}
	}
	return NewSpherical(c.Dim(), v)
}

// readField decodes one required field into dst.
func readField(fields map[string]json.RawMessage, name string, dst any, wanted string) error {
	raw, ok := fields[name]
	if !ok {
		return fieldError(name, wanted, "nothing", "add the field")
	}
	if name != "columns" && name != "categories" && bytes.Contains(raw, []byte("null")) { // the decoder would read it as 0
		return fieldError(name, wanted, "null", "JSON has no infinities and no NaN; give finite numbers")
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		var own *FieldError
		if errors.As(err, &own) {
			return own
		}
		got, fix := describe(raw), ""
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
			got += " (with a " + mismatch.Value + ")"
			if strings.HasPrefix(mismatch.Value, "number ") {
				fix = "numbers must be within float64's range"
			}
		}
		return fieldError(name, wanted, got, fix)
	}
	return nil
}

// describe quotes the beginning of a JSON value.
func describe(raw []byte) string {
	s := strings.TrimSpace(string(raw))
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	if s == "" {
		return "nothing"
	}
	return s
}

func quoted(names []string) string { return fmt.Sprintf("%q", names) }
