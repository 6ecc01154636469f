package main

import (
	"cmp"
	"context"
	"flag"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/shared"
)

// auto is what is said where a method may choose.
const auto = "auto"

type options struct {
	input, out, shards string
	epsilon, delta     float64
	relation           string
	columns, schema    string
	method, components string
	trustNetwork       bool
	schedule           func(*shared.Store) sharded.Scheduler
}

func flagged(flags *flag.FlagSet) *options {
	o := &options{schedule: scheduler}
	flags.Float64Var(&o.epsilon, "epsilon", 0, "budget: epsilon (required)")
	flags.Float64Var(&o.delta, "delta", 0, "budget: delta, far below one over the number of rows (required)")
	flags.StringVar(&o.relation, "relation", privacy.ReplaceOne.String(), "replace-one (the number of rows is public) or add-remove-one")
	flags.StringVar(&o.columns, "columns", "", "columns to fit, a,b,c: the public schema")
	flags.StringVar(&o.schema, "schema", "", "file with the public schema, as for gauze")
	flags.StringVar(&o.method, "method", auto, "as for gauze")
	flags.StringVar(&o.components, "components", auto, "number of components, or auto")
	flags.StringVar(&o.out, "out", "", "file for the release (default stdout)")
	flags.StringVar(&o.shards, "shards", "", "folder that all workers see, for the table as numbers and the sums of it; a private one is made in it, and removed (default that of temporary files)")
	flags.BoolVar(&o.trustNetwork, "trust-network", false, "start Prism although this machine has a network: whoever reaches its ports can have commands run here")
	return o
}

// fit reads the input into shards, has workers measure them, and writes a release.
func (o *options) fit(ctx context.Context, stdin io.Reader, stdout io.Writer) (result *gauze.Result, err error) {
	request, schema, err := o.parse()
	if err != nil {
		return nil, err
	}
	if err := o.checkNetwork(); err != nil {
		return nil, err
	}
	in, err := gauze.Open(o.input, stdin, schema)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	store, err := shared.New(o.shards)
	if err != nil {
		return nil, err
	}
	defer func() {
		if removed := store.Close(); err == nil && removed != nil {
			err = removed
		}
	}()
	in.Keep(store)
	table, err := in.Load(request.Relation, nil)
	if err != nil {
		return nil, err
	}
	request = in.Fill(request)
	request.Engine, request.Day = sharded.New(store, o.schedule(store)), time.Now()
	if result, err = gauze.Fit(ctx, table, request); err != nil || result.Release == nil {
		return result, err
	}
	if o.out != "" {
		err = release.WriteFile(o.out, result.Release)
	} else {
		err = release.Write(stdout, result.Release)
	}
	if err != nil {
		err = &gauze.RunError{Err: err, Spent: result.Spent}
	}
	return result, err
}

// parse is what is asked, without the columns that only the input knows.
func (o *options) parse() (r gauze.Request, schema *source.Schema, err error) {
	r.Budget, r.Method = privacy.Budget{Epsilon: o.epsilon, Delta: o.delta}, o.method
	if r.Relation, err = privacy.ParseRelation(o.relation); err != nil {
		return r, nil, err
	}
	if o.components != auto {
		if r.Components, err = strconv.Atoi(o.components); err != nil || r.Components < 1 {
			return r, nil, &source.Error{Field: "--components", Wanted: "a positive number, or auto", Got: strconv.Quote(o.components)}
		}
	}
	switch {
	case (o.columns == "") == (o.schema == ""):
		return r, nil, &source.Error{Field: "--columns", Wanted: "the public schema: --columns or --schema, one of them", Got: cmp.Or(o.columns, "neither"),
			Hint: "name the columns to fit"}
	case o.schema != "":
		schema, err = source.ReadSchema(o.schema)
	default:
		schema = source.Named(strings.Split(o.columns, ","))
	}
	if err == nil && (schema.Unit != "" || len(schema.By) > 0) {
		err = &source.Error{Field: "schema", Wanted: "neither a unit nor groups, which workers do not know", Got: "one", Hint: "fit them with gauze"}
	}
	if err != nil {
		return r, nil, err
	}
	r.Columns = schema.Columns
	return r, schema, r.Validate()
}
