package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// mostListed is the number of lines of a list on a page. A guess.
const mostListed = 50

// A listing is a part of a list: Next, if it is not "", leads to the next part.
type listing[T any] struct {
	Lines []T
	Next  string
}

func datasets(p *Pages, v *visit) (*answer, error) {
	all, err := p.Service.Datasets(v.Context(), v.Person, v.FormValue("after"), mostListed)
	if err != nil {
		return nil, err
	}
	out := listing[*service.Dataset]{Lines: all}
	if len(all) == mostListed {
		out.Next = "?" + url.Values{"after": {all[mostListed-1].Name}}.Encode()
	}
	return &answer{page: "datasets.html", title: "Data sets", data: out}, nil
}

// A datasetView is the page of a data set.
type datasetView struct {
	*service.Dataset
	Grant *form  // for its custodian
	Done  string // what was just done
	// Would shows the effect of a grant before it is given; nil for none.
	Would *previewed
}

func dataset(p *Pages, v *visit) (*answer, error) {
	d, err := p.Service.Dataset(v.Context(), v.Person, v.PathValue("name"))
	if err != nil {
		return nil, err
	}
	done := ""
	switch {
	case v.FormValue("granted") != "":
		done = "The grant was added."
	case v.FormValue("withdrawn") != "":
		done = "What was unspent is withdrawn."
	case v.FormValue("retired") != "":
		done = "The data set is retired: nothing of it is left to spend, and its releases stay."
	}
	return ofDataset(d, nil, nil, done), nil
}

func ofDataset(d *service.Dataset, sent url.Values, fault *service.Problem, done string) *answer {
	grant := filled(sent, fault,
		&field{Name: "analyst", Label: "Analyst", Kind: "text", Hint: "The name of a person; they see the data set from then on."},
		&field{Name: "epsilon", Label: "ε more", Kind: "number", Hint: "For instance 2."},
		&field{Name: "delta", Label: "δ more", Kind: "number", Value: "1e-6", Hint: "Far below one over the number of rows."})
	return &answer{page: "dataset.html", title: d.Name, fault: fault, form: grant, data: datasetView{Dataset: d, Grant: grant, Done: done}}
}

func retire(p *Pages, v *visit) (*answer, error) {
	name := v.PathValue("name")
	if _, err := p.Service.Retire(v.Context(), v.Person, name); err != nil {
		return nil, err
	}
	return &answer{to: "/datasets/" + url.PathEscape(name) + "?retired=yes"}, nil
}

func accept(p *Pages, v *visit) (*answer, error) {
	name := v.PathValue("name")
	d, err := p.Service.Accept(v.Context(), v.Person, name)
	if err == nil {
		return ofDataset(d, nil, nil, "The input is taken as it is now."), nil
	}
	if d, fault := p.Service.Dataset(v.Context(), v.Person, name); fault == nil {
		return refused(ofDataset(d, nil, problemOf(err), ""), err)
	}
	return nil, err
}

// A registering is the form of a new data set, with the schema, if it was requested.
type registering struct {
	Form   *form
	Schema *source.Schema
}

func registration(_ *Pages, _ *visit) (*answer, error) { return registers(nil, nil, nil), nil }

func registers(sent url.Values, schema *source.Schema, fault *service.Problem) *answer {
	f := filled(sent, fault,
		&field{Name: "name", Label: "Name", Kind: "text", Hint: "Letters, digits, dots, dashes: it is part of addresses, as in visits-2026."},
		&field{Name: "title", Label: "Title", Kind: "text", Hint: "What people call it. Public. May be left out."},
		&field{Name: "input", Label: "Input", Kind: "text", Hint: "A path or pattern of paths in your folder of the server's data (CSV, Parquet, SQLite), or connection:NAME?table=T. Only you see it."},
		&field{Name: "schema", Label: "Columns", Kind: "area", Hint: "Those that can be fitted, one name a line; or a schema as JSON, with bounds, units and groups. Public, and never inferred from rows."},
		&field{Name: "relation", Label: "What is protected", Kind: "select", Options: []option{
			{privacy.ReplaceOne.String(), "the content of each row; how many there are is public", true},
			{privacy.AddRemoveOne.String(), "whether a row is there at all; how many there are is private", false}}},
		&field{Name: "capacity", Label: "Rows at most", Kind: "text", Hint: fmt.Sprintf("Public. Only where their number is private; %d if it is left out.", service.DefaultCapacity)},
		&field{Name: "epsilon", Label: "ε of all analysts together", Kind: "number", Hint: "Left out: the sum of what they are granted."},
		&field{Name: "delta", Label: "δ of all analysts together", Kind: "number", Hint: "With ε, or left out."})
	return &answer{page: "register.html", title: "Register a data set", fault: fault, form: f, data: registering{f, schema}}
}

func register(p *Pages, v *visit) (*answer, error) {
	r := &reader{Values: v.PostForm}
	schema, err := schemaOf(r.Get("schema"))
	if err != nil {
		r.faults = append(r.faults, err)
	}
	asked := service.Registration{Name: r.text("name"), Title: r.text("title"), Input: r.text("input"), Relation: r.Get("relation"),
		Capacity: r.count("capacity"), Epsilon: r.number("epsilon"), Delta: r.number("delta"), Schema: schema}
	if err = r.err(); err == nil && len(schema.Columns) > 0 && r.Get("do") == "preview" {
		return registers(v.PostForm, &schema, nil), nil
	}
	var d *service.Dataset
	if err == nil {
		d, err = p.Service.Register(v.Context(), v.Person, asked)
	}
	if err != nil {
		return refused(registers(v.PostForm, nil, problemOf(err)), err)
	}
	a := ofDataset(d, nil, nil, "The data set is registered. Nobody else sees it yet: grant an analyst a part of its budget.")
	a.status = http.StatusCreated
	return a, nil
}

// schemaOf reads a schema: JSON, or names of columns, one per line.
func schemaOf(text string) (out source.Schema, err error) {
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
		var names []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				names = append(names, line)
			}
		}
		out = *source.Named(names)
	} else {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&out); err != nil {
			return out, &privacy.FieldError{Field: "schema", Wanted: "a schema as JSON", Got: err.Error(), Fix: `for instance {"columns": [{"name": "age", "at_least": 0, "at_most": 120}, {"name": "bmi"}]}`}
		}
	}
	if text == "" { // the registration, which reads the input, says what can be written there
		return out, nil
	}
	if len(out.Columns) == 0 {
		return out, &privacy.FieldError{Field: "schema", Wanted: "the columns to fit", Got: "none", Fix: "write their names, one a line"}
	}
	return out, out.Tidy()
}

// A peopleView is the page of people.
type peopleView struct {
	listing[store.Token]
	Form       *form
	Made, Name string // the token that was made, which is shown once, and whose it is
}

func people(p *Pages, v *visit) (*answer, error) { return p.people(v, nil, "") }

// people shows the tokens, with what is wrong with one that was to be made, or the one that was.
func (p *Pages) people(v *visit, fault *service.Problem, made string) (*answer, error) {
	all, err := p.Service.Tokens(v.Context(), v.Person)
	days := &field{Name: "days", Label: "Days until it expires", Hint: "Empty for never.", Kind: "number", Value: "90"}
	view := peopleView{listing: listing[store.Token]{Lines: all}, Made: made, Name: v.PostForm.Get("name")}
	view.Form = filled(v.PostForm, fault, &field{Name: "name", Label: "Analyst", Hint: "A new one. Custodians, and further tokens of a person, are made by whoever runs the server."}, days)
	return &answer{page: "people.html", title: "People", data: view, form: view.Form}, err
}

// mostDays of a token are a century.
const mostDays = 36_500

func addToken(p *Pages, v *visit) (*answer, error) {
	r := reader{Values: v.PostForm}
	days := r.count("days")
	if days > mostDays {
		r.wrong("days", "at most 36500", r.text("days"), "empty is for never")
	}
	token, err := "", r.err()
	if err == nil {
		token, err = p.Service.AddToken(v.Context(), v.Person, p.Keeper, r.text("name"), time.Duration(days)*24*time.Hour)
	}
	if err == nil {
		v.w.Header().Set("Cache-Control", "no-store")
		return p.people(v, nil, token)
	}
	page, missing := p.people(v, problemOf(err), "")
	if missing != nil {
		return nil, missing
	}
	return refused(page, err)
}

func revokeToken(p *Pages, v *visit) (*answer, error) {
	return &answer{to: "/people"}, p.Service.RevokeToken(v.Context(), v.Person, v.PathValue("id"))
}
