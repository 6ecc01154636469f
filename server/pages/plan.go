package pages

import (
	"crypto/rand"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/source"
)

// A planView is the page on which fits are planned.
type planView struct {
	Form        *form
	Columns, By []option
	Dataset     *service.Dataset // nil for hypothetical columns and rows
	Rows        bool             // the number of rows is asked for
	Ask         ask.Ask
	Plan        *service.Plan // nil if it cannot be made
	Curves      []*curve
	Hidden      [][2]string // the settings of a fit
	Key         string      // makes repeated submissions of the form the same fit
}

// Defaults of a plan. Guesses.
const (
	usualEpsilon = "1"
	usualDelta   = "1e-6"
	usualRows    = "20000"
	usualDim     = "4"
)

func plan(p *Pages, v *visit) (*answer, error) {
	if err := v.ParseForm(); err != nil {
		return nil, service.Malformed(err)
	}
	return p.planned(v, v.Form, nil)
}

// planned returns the page of a plan, with what is wrong with the requested fit.
func (p *Pages) planned(v *visit, sent url.Values, fault error) (*answer, error) {
	all, err := p.Service.Datasets(v.Context(), v.Person, "", mostCompared)
	if err != nil {
		return nil, err
	}
	name, out := sent.Get("dataset"), planView{Key: rand.Text()}
	if _, asked := sent["dataset"]; !asked && len(all) > 0 {
		name = all[0].Name
	}
	if name != "" {
		if out.Dataset, err = p.Service.Dataset(v.Context(), v.Person, name); err != nil {
			return nil, err
		}
	}
	out.Rows = out.Dataset == nil || out.Dataset.Rows == nil
	r := &reader{Values: sent}
	out.Ask = askOf(r, out.Dataset, name)
	err = r.err()
	if err == nil {
		out.Plan, err = p.Service.Plan(v.Context(), v.Person, out.Ask)
	}
	if err == nil {
		if fault == nil { // a refused fit is refused at once
			out.Curves = p.curves(v, out.Ask, out.Dataset, out.Plan)
		}
		err = fault
	}
	out.Hidden = hidden(queryOf(out.Ask))
	page := &answer{page: "plan.html", title: "Plan a fit"}
	var wrong *service.Problem
	if err != nil {
		wrong = problemOf(err)
	}
	out.fill(sent, wrong, all, name)
	page.form = out.Form
	if page.data = out; err != nil {
		return refused(page, err)
	}
	return page, nil
}

// fill makes the form of a plan.
func (out *planView) fill(sent url.Values, fault *service.Problem, all []*service.Dataset, name string) {
	sets := []option{{"", "none: only numbers", name == ""}}
	for _, d := range all {
		sets = append(sets, option{d.Name, d.Name, d.Name == name})
	}
	if out.Dataset != nil {
		for _, c := range out.Dataset.Columns {
			out.Columns = append(out.Columns, option{c.Name, or(c.Label, c.Name), slices.Contains(sent["column"], c.Name)})
		}
		for _, g := range out.Dataset.By {
			out.By = append(out.By, option{g.Name, g.Name, slices.Contains(sent["by"], g.Name)})
		}
	}
	fields := []*field{
		{Name: "dataset", Label: "Data set", Kind: "select", Options: sets},
		{Name: "epsilon", Label: "ε", Kind: "number", Value: usualEpsilon, Hint: "What the fit may spend: smaller is more private."},
		{Name: "delta", Label: "δ", Kind: "number", Value: usualDelta, Hint: "Far below one over the number of rows."},
		{Name: "components", Label: "Components k", Kind: "text", Value: catalog.Auto, Hint: "A number, or auto."},
		{Name: "method", Label: "Method", Kind: "select", Options: choices(catalog.Auto, append([]string{gauze.MethodProfile}, gauze.Methods().Names()...)...), Hint: "auto chooses by public facts; profile is table one: what every column says by itself."},
		{Name: "covariance", Label: "Covariances", Kind: "select", Options: choices("full", "full", "diagonal", "spherical")},
	}
	if out.Rows {
		fields = append(fields, &field{Name: "rows", Label: "Rows n", Kind: "number", Value: strconv.Itoa(out.Ask.Rows), Hint: "A guess, where their number is private: for the expected error alone."})
	}
	if out.Dataset == nil {
		fields = append(fields, &field{Name: "dim", Label: "Columns d", Kind: "number", Value: usualDim, Hint: "How many columns to fit."})
	} else {
		fields = append(fields, &field{Name: "title", Label: "Title of the release", Kind: "text", Hint: "May be left out."})
	}
	out.Form = filled(sent, fault, fields...)
}

// or returns a, or b if a is "".
func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// askOf returns the request of a form, about a data set or, if d is nil, about numbers alone.
func askOf(r *reader, d *service.Dataset, name string) ask.Ask {
	values := url.Values{}
	for key, usual := range map[string]string{"epsilon": usualEpsilon, "delta": usualDelta, "rows": usualRows, "dim": usualDim} {
		values.Set(key, usual)
	}
	for key, sent := range r.Values {
		if sent[0] != "" {
			values[key] = sent
		}
	}
	r.Values = values
	a := ask.Ask{Dataset: name, Title: r.text("title"), Epsilon: r.number("epsilon"), Delta: r.number("delta"), Columns: values["column"], By: values["by"], Method: values.Get("method"), Covariance: values.Get("covariance")}
	if d != nil && len(d.By) > 0 && a.By == nil { // the form shows them, and none is chosen
		a.By = []string{source.NoGroups}
	}
	if text := r.text("components"); text != "" && text != catalog.Auto {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			r.wrong("components", "a positive number or auto", text, "auto chooses how many")
		}
		a.Components = gauze.Count(n)
	}
	if d == nil {
		a.Title, a.Columns, a.By, a.Dim = "", nil, nil, r.count("dim")
	}
	switch {
	case d == nil:
		a.Rows = r.count("rows")
	case d.Rows == nil:
		if a.Rows = d.Capacity; r.text("rows") != usualRows {
			a.Rows = r.count("rows")
		}
	}
	return a
}

// queryOf returns the query of the same request.
func queryOf(a ask.Ask) url.Values {
	out := url.Values{"dataset": {a.Dataset}, "epsilon": {number(a.Epsilon, exact)}, "delta": {number(a.Delta, exact)}, "components": {catalog.Auto}}
	if a.Components > 0 {
		out.Set("components", strconv.Itoa(int(a.Components)))
	}
	for key, value := range map[string]string{"method": a.Method, "covariance": a.Covariance, "title": a.Title} {
		if value != "" {
			out.Set(key, value)
		}
	}
	for key, value := range map[string]int{"rows": a.Rows, "dim": a.Dim} {
		if value != 0 {
			out.Set(key, strconv.Itoa(value))
		}
	}
	for key, value := range map[string][]string{"column": a.Columns, "by": a.By} {
		if len(value) > 0 {
			out[key] = value
		}
	}
	return out
}

// hidden returns the values of a query, in a fixed order.
func hidden(query url.Values) (out [][2]string) {
	for key, all := range query {
		for _, value := range all {
			out = append(out, [2]string{key, value})
		}
	}
	slices.SortStableFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

func submit(p *Pages, v *visit) (*answer, error) {
	name := v.PostForm.Get("dataset")
	d, err := p.Service.Dataset(v.Context(), v.Person, name)
	if err != nil {
		return nil, err
	}
	r := &reader{Values: v.PostForm}
	a := askOf(r, d, name)
	if err = r.err(); err == nil {
		f, fault := p.Service.Submit(v.Context(), v.Person, a, v.PostForm.Get("key"))
		if err = fault; err == nil {
			return &answer{to: "/fits/" + url.PathEscape(f.ID)}, nil
		}
	}
	return p.planned(v, v.PostForm, err)
}

// replaceOne reports whether the number of rows of a data set is public.
func replaceOne(d *service.Dataset) bool {
	return d != nil && d.Relation == privacy.ReplaceOne.String()
}
