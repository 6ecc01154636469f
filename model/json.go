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

// kindMixture is the one kind of model there is; one Gaussian is a mixture of one.
const kindMixture = "gaussian-mixture"

// typeTolerance is how far a matrix may be from diagonal or spherical, relative to its variances,
// if that is declared.
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
}

// A number is written as the shortest decimal that reads back as the same float64, with an exponent
// from 1e15 on: readers in other languages take a long row of digits for an integer, and it may not
// fit theirs.
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
// them keep, if they do, and which components are background, if any is. Every number is the
// shortest decimal that reads back as the same float64. It fails if m is not valid.
func (m *Mixture) MarshalJSON() ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	o := modelObject{Kind: kindMixture, Columns: m.Columns, Weights: asNumbers(m.Weights), CovarianceType: typeFull}
	if name := m.CovarianceType(); name != typeFull {
		o.Constraint = name
	}
	if slices.Contains(m.Background, true) {
		o.Background = m.Background
	}
	for _, g := range m.Components {
		o.Means = append(o.Means, asNumbers(g.Mean))
		rows := make([][]number, m.Dim())
		for i := range rows {
			rows[i] = make([]number, m.Dim())
			for j := range rows[i] {
				rows[i][j] = number(g.Cov.At(min(i, j), max(i, j)))
			}
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
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil || bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return fieldError("model", "a JSON object with kind, weights, means and covariances", describe(data), "")
	}
	if err := readKind(fields); err != nil {
		return err
	}
	weights, err := readWeights(fields)
	if err != nil {
		return err
	}
	means, err := readMeans(fields, len(weights))
	if err != nil {
		return err
	}
	columns, err := readColumns(fields, len(means[0]))
	if err != nil {
		return err
	}
	covs, err := readCovariances(fields, len(weights), len(columns))
	if err != nil {
		return err
	}
	out := Mixture{Columns: columns, Weights: weights, Components: make([]Gaussian, len(weights))}
	for i := range out.Components {
		out.Components[i] = Gaussian{Mean: means[i], Cov: covs[i]}
	}
	if _, ok := fields["background"]; ok {
		if err := readField(fields, "background", &out.Background, "an array of true and false, one for each component"); err != nil {
			return err
		}
	}
	if err := out.Validate(); err != nil {
		return err
	}
	*m = out
	return nil
}

func readKind(fields map[string]json.RawMessage) error {
	var kind string
	if err := readField(fields, "kind", &kind, `"`+kindMixture+`"`); err != nil {
		return err
	}
	if kind != kindMixture {
		return fieldError("kind", `"`+kindMixture+`"`, describe(fields["kind"]), "one Gaussian is a mixture of one")
	}
	return nil
}

func readWeights(fields map[string]json.RawMessage) ([]float64, error) {
	var weights []float64
	if err := readField(fields, "weights", &weights, "an array of numbers"); err != nil {
		return nil, err
	}
	if len(weights) == 0 {
		return nil, fieldError("weights", "at least one number", "none", "one Gaussian has the weight 1")
	}
	if err := checkWeights(weights, len(weights)); err != nil {
		return nil, err
	}
	// Sums that differ from 1 by rounding are left alone, so that what was written reads back the
	// same.
	if sum := floats.Sum(weights); math.Abs(sum-1) > float64(len(weights))*machineEps {
		floats.Scale(1/sum, weights)
	}
	return weights, nil
}

func readMeans(fields map[string]json.RawMessage, k int) ([][]float64, error) {
	var means [][]float64
	if err := readField(fields, "means", &means, "an array of arrays of numbers"); err != nil {
		return nil, err
	}
	if len(means) != k {
		return nil, fieldError("means", countOf(k, "mean")+", one for each weight", countOf(len(means), "mean"), "give one mean for each component")
	}
	for i, r := range means {
		if len(r) == 0 || len(r) != len(means[0]) {
			return nil, fieldError(fmt.Sprintf("means[%d]", i), countOf(max(1, len(means[0])), "number"), countOf(len(r), "number"), "give one number for each column")
		}
	}
	return means, nil
}

func readColumns(fields map[string]json.RawMessage, d int) ([]string, error) {
	if _, ok := fields["columns"]; !ok {
		return DefaultColumns(d), nil
	}
	var raw []*string
	if err := readField(fields, "columns", &raw, "an array of names"); err != nil {
		return nil, err
	}
	if len(raw) != d {
		return nil, fieldError("columns", countOf(d, "name")+", as many as the means have numbers", countOf(len(raw), "name"), "name every column, or leave the field out")
	}
	columns := make([]string, d)
	for j, name := range raw {
		if name == nil {
			return nil, fieldError(fmt.Sprintf("columns[%d]", j), "a name", "null", "name every column, or leave the field out")
		}
		columns[j] = *name
	}
	return columns, checkColumns(columns)
}

func readCovariances(fields map[string]json.RawMessage, k, d int) ([]Covariance, error) {
	// early releases call a constraint the type
	name, field := typeFull, "covariance_type"
	if _, ok := fields["constraint"]; ok {
		field = "constraint"
	}
	if _, ok := fields[field]; ok {
		if err := readField(fields, field, &name, `"full", "diagonal" or "spherical"`); err != nil {
			return nil, err
		}
	}
	convert, ok := map[string]func(string, Full) (Covariance, error){
		typeFull:      func(_ string, f Full) (Covariance, error) { return f, nil },
		typeDiagonal:  asDiagonal,
		typeSpherical: asSpherical,
	}[name]
	if !ok {
		return nil, fieldError(field, `"full", "diagonal" or "spherical"`, describe(fields[field]), "leave the field out for full")
	}
	var raw [][][]float64
	if err := readField(fields, "covariances", &raw, "an array of matrices, each an array of rows"); err != nil {
		return nil, err
	}
	if len(raw) != k {
		return nil, fieldError("covariances", countOf(k, "array")+" of rows, one for each weight", countOf(len(raw), "array"), "give one d×d matrix for each component, whatever the covariance_type")
	}
	out := make([]Covariance, k)
	for i, rows := range raw {
		field := fmt.Sprintf("covariances[%d]", i)
		sigma, err := readMatrix(field, rows, d)
		if err != nil {
			return nil, err
		}
		full, err := newFull(field, sigma)
		if err != nil {
			return nil, err
		}
		if out[i], err = convert(field, full); err != nil {
			return nil, err
		}
	}
	return out, nil
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
	if name != "columns" && bytes.Contains(raw, []byte("null")) { // the decoder would take it for 0
		return fieldError(name, wanted, "null", "JSON has no infinities and no NaN; give finite numbers")
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		got, mend := describe(raw), ""
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
			got += " (with a " + mismatch.Value + ")"
			if strings.HasPrefix(mismatch.Value, "number ") {
				mend = "numbers must be within float64's range"
			}
		}
		return fieldError(name, wanted, got, mend)
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
