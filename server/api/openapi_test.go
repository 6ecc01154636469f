package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// An endpoint is what the document says of a route beside its method and path.
type endpoint struct {
	summary string
	body    any    // of the request; nil for none
	query   string // names of parameters, parted by blanks
	header  string
	status  string
	also    string // another status with the same answer
	answer  any    // JSON of this type
	media   string // in the place of an answer
}

// asRelease stands for a release, which docs/FORMAT.md describes.
type asRelease struct{}

var endpoints = map[string]endpoint{
	"GET /datasets":                     {summary: "The data sets that you may see.", query: "after limit", status: "200", answer: datasetPage{}},
	"POST /datasets":                    {summary: "Custodian: register a data set. Its input is read once.", body: service.Registration{}, status: "201", answer: service.Dataset{}},
	"GET /datasets/{name}":              {summary: "A data set.", status: "200", answer: service.Dataset{}},
	"POST /datasets/{name}/grants":      {summary: "Custodian: add to what an analyst may spend; without an analyst, to the data set's total. 200 and no grant with preview.", body: service.Grant{}, status: "201", also: "200", answer: service.Dataset{}},
	"POST /datasets/{name}/withdrawals": {summary: "Custodian: take back what an analyst has not spent; without an analyst, of the data set's total. By default all that is unspent.", body: service.Withdrawal{}, status: "200", answer: service.Dataset{}},
	"POST /datasets/{name}/retire":      {summary: "Custodian: withdraw all that is unspent, and have it granted and fitted no more. Its releases, and what was spent, stay.", status: "200", answer: service.Dataset{}},
	"POST /datasets/{name}/accept":      {summary: "Custodian: take the input as it is now, after it has changed.", status: "200", answer: service.Dataset{}},
	"POST /plans":                       {summary: "What a fit would spend and the error to expect. No row is read.", body: ask.Ask{}, status: "200", answer: service.Plan{}},
	"POST /fits":                        {summary: "Analyst: submit a fit, or with the method profile table one. Its whole cost is reserved at once.", body: ask.Ask{}, header: "Idempotency-Key", status: "202", answer: service.Fit{}},
	"GET /fits":                         {summary: "The fits that you may see, the newest first.", query: "before limit", status: "200", answer: service.FitPage{}},
	"GET /fits/{id}":                    {summary: "A fit. Its state is a function of its slot until that ends.", status: "200", answer: service.Fit{}},
	"DELETE /fits/{id}":                 {summary: "Cancel a fit. Its cost is given back only if it had not begun.", status: "200", answer: service.Fit{}},
	"POST /fits/{id}/cancel":            {summary: "The same as DELETE.", status: "200", answer: service.Fit{}},
	"GET /releases":                     {summary: "The releases that you may see, the newest first.", query: "before limit", status: "200", answer: releasePage{}},
	"GET /releases/{id}":                {summary: "A release: the model, or the profile, and its certificate.", status: "200", answer: asRelease{}},
	"GET /releases/{id}/report":         {summary: "The page of a release, or of a fit that ended without one.", status: "200", media: "text/html"},
	"GET /releases/{id}/signature":      {summary: "The server's signature of a release, byte by byte, for ssh-keygen -Y verify and gauze verify --key.", status: "200", media: "text/plain"},
	"GET /log":                          {summary: "Custodian: what happened, the newest first.", query: "before limit", status: "200", answer: eventPage{}},
	"GET /me":                           {summary: "Who you are.", status: "200", answer: store.Person{}},
}

// public are the paths that ask for no token.
var public = map[string]string{"/healthz": "Whether the database answers.", "/metrics": "Counts of requests, for Prometheus: for the custodian's network, and custodians.", "/openapi.json": "This document.",
	"/signing-key": "The public keys that releases are signed with, one a line, the newest first."}

type object = map[string]any

// A describer makes schemas of types.
type describer struct {
	schemas object
	types   map[string]reflect.Type // of the schemas
}

// of is the schema of a type; structs with a name are described once.
func (d *describer) of(t reflect.Type) object {
	if t == reflect.TypeFor[source.Dialect]() {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Interface: // of a code that means missing
		return object{"type": []string{"number", "string"}}
	case reflect.Pointer:
		return object{"anyOf": []any{d.of(t.Elem()), object{"type": "null"}}}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t == reflect.TypeFor[json.RawMessage]() {
			return object{}
		}
		return object{"type": []string{"array", "null"}, "items": d.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Struct:
		return d.structure(t)
	}
	if t == reflect.TypeFor[gauze.Count]() {
		return object{"anyOf": []any{object{"type": "integer", "minimum": 1}, object{"const": "auto"}}}
	}
	return object{"type": "integer"}
}

func (d *describer) structure(t reflect.Type) object {
	pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
	name := cmp.Or(modelNames[pkg+"."+t.Name()], t.Name())
	if other, done := d.types[name]; done && other != t {
		panic(name + " is the name of two models")
	} else if !done {
		d.types[name] = t
		properties, required := object{}, []string{}
		d.schemas[name] = object{} // so that a type can have itself
		d.fields(t, properties, &required)
		schema := object{"type": "object", "properties": properties, "additionalProperties": false}
		if len(required) > 0 {
			schema["required"] = required
		}
		if t == reflect.TypeFor[asRelease]() {
			schema = object{"type": "object", "description": "gauze/release/v1: docs/FORMAT.md"}
		}
		d.schemas[name] = schema
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (d *describer) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			d.fields(inner, properties, required)
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		properties[name] = d.of(f.Type)
		rho := t == reflect.TypeFor[release.Spent]() && (name == "epsilon" || name == "delta") // left out of a budget in rho
		if option == "" && !rho {
			*required = append(*required, name)
		}
	}
}

// described is the document.
func described(t *testing.T) []byte {
	d := &describer{object{}, map[string]reflect.Type{}}
	json3 := func(x any) object {
		return object{"application/json": object{"schema": d.of(reflect.TypeOf(x))}}
	}
	problem := object{"description": "What was not done, and why.", "content": object{"application/problem+json": object{"schema": d.of(reflect.TypeFor[service.Problem]())}}}
	paths, named := object{}, map[string]bool{}
	for _, r := range routes() {
		e, known := endpoints[r.method+" "+r.path]
		if !known {
			t.Fatalf("%s %s is not described", r.method, r.path)
		}
		content := object{e.media: object{}}
		if e.media == "" {
			content = json3(e.answer)
		}
		responses := object{e.status: object{"description": "Done.", "content": content}, "default": problem}
		if e.also != "" {
			responses[e.also] = object{"description": "So it would be; nothing was done.", "content": content}
		}
		if named[operation(r)] || operation(r) == "" {
			t.Errorf("%s %s: the operation has the name %q, not one of its own", r.method, r.path, operation(r))
		}
		named[operation(r)] = true
		op := object{"summary": e.summary, "operationId": operation(r), "responses": responses}
		var parameters []any
		for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.path, -1) {
			parameters = append(parameters, object{"name": name[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
		for _, name := range strings.Fields(e.query) {
			kind := "string"
			if name == "limit" || name == "before" {
				kind = "integer"
			}
			parameters = append(parameters, object{"name": name, "in": "query", "schema": object{"type": kind}})
		}
		if e.header != "" {
			parameters = append(parameters, object{"name": e.header, "in": "header", "schema": object{"type": "string"}})
		}
		if parameters != nil {
			op["parameters"] = parameters
		}
		if e.body != nil {
			op["requestBody"] = object{"required": true, "content": json3(e.body)}
		}
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		paths[r.path].(object)[strings.ToLower(r.method)] = op
	}
	for path, summary := range public {
		paths[path] = object{"get": object{"summary": summary, "security": []any{}, "responses": object{"200": object{"description": "Done."}, "default": problem}}}
	}
	text, err := json.MarshalIndent(object{
		"openapi": "3.1.0", "info": object{"title": "Gauze", "version": "1", "description": "Gaussian models of sensitive tables, under differential privacy: docs/SERVER.md."},
		"servers": []any{object{"url": Base}}, "security": []any{object{"token": []any{}}}, "paths": paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// modelNames are those of types that are called otherwise in the document.
var modelNames = map[string]string{"api.asRelease": "Release", "api.datasetPage": "DatasetPage", "api.eventPage": "EventPage", "api.releaseLine": "ReleaseLine", "api.releasePage": "ReleasePage"}

// operations are the names of what can be done.
var operations = map[string]string{
	"GET /datasets": "listDatasets", "POST /datasets": "registerDataset", "GET /datasets/{name}": "getDataset", "POST /datasets/{name}/grants": "grantBudget",
	"POST /datasets/{name}/withdrawals": "withdrawBudget", "POST /datasets/{name}/accept": "acceptInput", "POST /datasets/{name}/retire": "retireDataset", "POST /plans": "planFit", "POST /fits": "submitFit", "GET /fits": "listFits", "GET /fits/{id}": "getFit",
	"DELETE /fits/{id}": "deleteFit", "POST /fits/{id}/cancel": "cancelFit", "GET /releases": "listReleases", "GET /releases/{id}": "getRelease", "GET /releases/{id}/report": "getReport",
	"GET /releases/{id}/signature": "getSignature", "GET /log": "listEvents", "GET /me": "whoAmI",
}

func operation(r route) string { return operations[r.method+" "+r.path] }

// The document is that of the handlers: their routes, and the types that they read and write.
func TestOpenAPI(t *testing.T) {
	want := described(t)
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(openAPI, want) {
		t.Error("openapi.json is not that of the handlers: go test ./server/api -run OpenAPI -update")
	}
	if len(endpoints) != len(routes()) {
		t.Errorf("%d endpoints are described, and %d are there", len(endpoints), len(routes()))
	}
}
