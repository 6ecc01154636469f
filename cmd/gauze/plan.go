package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
)

type planOptions struct {
	fit   *fit.Command
	sds   []string // column=sd
	steps bool
}

func planCommand() shell.Command {
	o := &planOptions{fit: newFit()}
	return shell.Command{
		Use: "plan [INPUT | --rows N --dim D] [flags of fit]", Short: "what fit would spend and the error to expect",
		Least: 0, Most: 1, Flags: o.register,
		Run: o.run,
	}
}

func (o *planOptions) register(flags *pflag.FlagSet) {
	flags.IntVar(&o.fit.Request.Requested.Rows, "rows", 0, "number of rows")
	flags.IntVar(&o.fit.Request.Requested.Dim, "dim", 0, "number of columns, where neither INPUT nor a schema says it")
	flags.StringSliceVar(&o.sds, "typical-sd", nil, "standard deviations that columns usually have, age=12,bmi=5: the error to expect is then in their units (default: a sixth of a column's limits)")
	flags.BoolVar(&o.steps, "steps", false, "also every step, the methods compared and the measured errors")
	o.fit.Register(flags)
	for _, name := range []string{"out", "report", "progress", "ledger", "ledger-key", "dataset"} {
		flags.MarkHidden(name) // taken, so that the flags of a fit can be used as they are
	}
}

func (o *planOptions) run(e *shell.Env, args []string) error {
	statement, err := o.statement(e, args)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.Print(statement)
	}
	text := statement.Summary()
	if o.steps {
		text = statement.String()
	}
	_, err = fmt.Fprint(e.Stdout, text)
	return err
}

// statement returns the plan, made here or by a server.
func (o *planOptions) statement(e *shell.Env, args []string) (*gauze.Statement, error) {
	if err := o.typicalSDs(); err != nil {
		return nil, err
	}
	if o.fit.Server.URL != "" {
		return o.fit.Server.Plan(e.Ctx, strings.Join(args, ""))
	}
	request, err := o.fit.Request.Parse()
	if err != nil {
		return nil, err
	}
	if err := o.checkNumbers(request.Relation); err != nil {
		return nil, err
	}
	schema, note, err := o.columns(e, args)
	if err != nil {
		return nil, err
	}
	request.Columns = schema.Columns
	if err := o.fit.Request.ForColumns(&request); err != nil {
		return nil, err
	}
	if len(schema.By) > 0 {
		if err := request.ValidateGroups(); err != nil {
			return nil, err
		}
		request.Budget = privacy.BudgetPerGroup(request.Relation, request.Budget)
		request.Relation = privacy.AddRemoveOne
		note = "this is the plan of each group, with its part of the budget; --rows is taken as the size of a group, which is private"
	}
	statement, err := gauze.Plan(request, o.fit.Request.Requested.Rows)
	if err == nil && note != "" {
		statement.Notes = append(statement.Notes, note)
	}
	return statement, err
}

// typicalSDs reads --typical-sd.
func (o *planOptions) typicalSDs() error {
	for _, text := range o.sds {
		at := strings.LastIndexByte(text, '=') // names may contain it
		sd, err := strconv.ParseFloat(text[at+1:], 64)
		if at < 0 || err != nil || !(sd > 0) {
			return shell.Wrong("typical_sd", "column=sd with a positive number", fmt.Sprintf("%q", text), "for instance --typical-sd age=12,bmi=5")
		}
		if o.fit.Request.Requested.TypicalSD == nil {
			o.fit.Request.Requested.TypicalSD = map[string]float64{}
		}
		o.fit.Request.Requested.TypicalSD[text[:at]] = sd
	}
	return nil
}

func (o *planOptions) checkNumbers(relation privacy.Relation) error {
	given := o.fit.Request.Given
	switch {
	case given("rows") && o.fit.Request.Requested.Rows < 1:
		return shell.Wrong("rows", "a positive number", o.fit.Request.Requested.Rows, "for instance --rows 20000")
	case given("dim") && o.fit.Request.Requested.Dim < 1:
		return shell.Wrong("dim", "a positive number", o.fit.Request.Requested.Dim, "for instance --dim 4")
	case !given("rows") && relation == privacy.ReplaceOne:
		return shell.Wrong("rows", "the number of rows, which is public under replace-one", "nothing",
			"for instance --rows 20000; plan reads no row and cannot count them")
	}
	return nil
}

// columns says which columns the plan is about, as a schema: declared ones, with --infer-schema
// those of INPUT's header, or D without names.
func (o *planOptions) columns(e *shell.Env, args []string) (*source.Schema, string, error) {
	schema, err := o.fit.Request.Declared()
	if err != nil {
		return nil, "", shell.Declared(err)
	}
	note := ""
	switch {
	case len(args) == 1:
		columns, known, err := inputs.Foresee(args[0], e.Stdin, schema) // reads no row
		if err != nil {
			return nil, "", fit.Finished(e, err)
		}
		switch schema.Columns = columns; {
		case known && schema.Infer:
			note = "the columns are those of numbers by their types: " + strings.Join(schema.Names(), ", ")
		case !known:
			note = "all columns of the header but identifiers are counted; with --infer-schema, fit chooses among them by their cells"
		}
	case len(schema.Columns) == 0 && o.fit.Request.Requested.Dim > 0:
		schema.Columns = source.Named(model.DefaultColumns(o.fit.Request.Requested.Dim)).Columns
	case len(schema.Columns) == 0:
		return nil, "", shell.Wrong("plan", "INPUT, --columns, --schema or --dim", "none of them", "for instance --rows 20000 --dim 4")
	}
	if d := len(schema.Columns); o.fit.Request.Requested.Dim > 0 && o.fit.Request.Requested.Dim != d {
		return nil, "", shell.Wrong("dim", fmt.Sprintf("%d, the number of columns named", d), o.fit.Request.Requested.Dim, "leave --dim out")
	}
	return schema, note, nil
}
