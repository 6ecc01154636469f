package gauze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// Settings are the request for a fit or a plan, in words and numbers: flags, HTTP requests and
// forms are read into them, and they are sent to a server as JSON. Each has the name of its flag of
// `gauze fit`, with underscores. All of it is public, and the zero Settings mean the flags'
// defaults.
type Settings struct {
	Dataset string `json:"dataset,omitempty"`
	// Rows and Dim are for plans without a data set; Rows is a guess where the number is private.
	Rows int `json:"rows,omitempty"`
	Dim  int `json:"dim,omitempty"`
	// Columns are some of the data set's columns; none means all.
	Columns []string `json:"columns,omitempty"`
	// By are some of the columns by which the data set's schema defines groups; none means all, and
	// "none" alone one model.
	By            []string    `json:"by,omitempty"`
	Title         string      `json:"title,omitempty"`
	Epsilon       float64     `json:"epsilon,omitempty"`
	Delta         float64     `json:"delta,omitempty"`
	Rho           float64     `json:"rho,omitempty"`
	Relation      string      `json:"relation,omitempty"` // Default: the data set's, or replace-one.
	Components    Count       `json:"components,omitempty"`
	MaxComponents int         `json:"max_components,omitempty"`
	Method        string      `json:"method,omitempty"` // "profile" for table one.
	Covariance    string      `json:"covariance,omitempty"`
	Constants     string      `json:"constants,omitempty"`
	Learner       string      `json:"learner,omitempty"`
	Trim          float64     `json:"trim,omitempty"`
	MeanWithin    *float64    `json:"mean_within,omitempty"`
	Eigenvalues   *[2]float64 `json:"eigenvalues_within,omitempty"`
	Moments       int         `json:"moments,omitempty"`
	MomentBound   float64     `json:"moment_bound,omitempty"`
	LeastWeight   float64     `json:"least_weight,omitempty"`
	// TypicalSD is for plans only: standard deviations that columns usually have, by name.
	TypicalSD map[string]float64 `json:"typical_sd,omitempty"`
}

// ConstantsPractical is the default of Settings.Constants.
const ConstantsPractical = "practical"

// settingNames are the JSON names of Settings, in their order.
var settingNames = func() (names []string) {
	for i := range reflect.TypeFor[Settings]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[Settings]().Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

// SettingNames returns the JSON names of Settings. The fault of a setting has that name as the
// field, so that each interface can replace it by its own name.
func SettingNames() []string { return append([]string(nil), settingNames...) }

// Request returns the request for these settings, without columns. Its error is a
// *privacy.FieldError, or several joined.
func (s Settings) Request() (r Request, err error) {
	r.Relation = privacy.ReplaceOne
	if s.Relation != "" {
		if r.Relation, err = privacy.ParseRelation(s.Relation); err != nil {
			return r, err
		}
	}
	shape, known := estimate.Full, true
	if s.Covariance != "" {
		shape, known = estimate.ShapeOf(s.Covariance)
	}
	fault := func(field, wanted, got, fix string) error {
		return &privacy.FieldError{Field: field, Wanted: wanted, Got: got, Fix: fix}
	}
	switch {
	case !known:
		return r, fault("covariance", "full, diagonal or spherical", fmt.Sprintf("%.80q", s.Covariance), "full is the default; diagonal and spherical need fewer rows")
	case s.Constants != "" && s.Constants != release.ConstantsPrinted && s.Constants != ConstantsPractical && s.Constants != release.ConstantsTournament:
		return r, fault("constants", "practical, printed or tournament", fmt.Sprintf("%.80q", s.Constants), "practical is the default")
	case s.Rho != 0 && (s.Epsilon != 0 || s.Delta != 0):
		return r, fault("rho", "epsilon and delta, or rho", "both", "leave one of the two out")
	}
	r.Budget = privacy.Budget{Epsilon: s.Epsilon, Delta: s.Delta, Rho: s.Rho}
	r.Method, r.Components, r.MaxComponents, r.Covariance = s.Method, int(s.Components), s.MaxComponents, shape
	r.Printed, r.Tournament = s.Constants == release.ConstantsPrinted, s.Constants == release.ConstantsTournament
	r.Learner, r.Trim = s.Learner, s.Trim
	if r.Facts.KnowsMean = s.MeanWithin != nil; r.Facts.KnowsMean {
		r.Facts.MeanWithin = *s.MeanWithin
	}
	if s.Eigenvalues != nil {
		r.Facts.Eigenvalues = *s.Eigenvalues
	}
	r.Facts.Moments, r.Facts.MomentBound, r.Facts.LeastWeight = s.Moments, s.MomentBound, s.LeastWeight
	r.TypicalSD = s.TypicalSD
	return r, nil
}

// A Count is a number of components, 0 for "auto". It is a flag's value too.
type Count int

// UnmarshalJSON reads a whole number, or "auto".
func (c *Count) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte(`"`+catalog.Auto+`"`)) {
		*c = 0
		return nil
	}
	n := 0
	if err := json.Unmarshal(text, &n); err != nil || n < 1 {
		return badCount(string(text))
	}
	*c = Count(n)
	return nil
}

// Set reads a whole number, or auto.
func (c *Count) Set(text string) error {
	if strings.HasPrefix(text, `"`) || c.UnmarshalJSON([]byte(text)) != nil && text != catalog.Auto {
		return badCount(fmt.Sprintf("%q", text))
	}
	if text == catalog.Auto {
		*c = 0
	}
	return nil
}

// String returns the number, or auto.
func (c *Count) String() string {
	if *c == 0 {
		return catalog.Auto
	}
	return fmt.Sprint(int(*c))
}

// Type names the kind of a flag's value.
func (*Count) Type() string { return "count" }

func badCount(got string) error {
	return &privacy.FieldError{Field: "components", Wanted: "a positive number or auto", Got: fmt.Sprintf("%.40s", got), Fix: "auto chooses up to max_components"}
}
