package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
)

func reportCommand() shell.Command {
	out, format, text, force := "", "", false, false
	return shell.Command{
		Use: "report RELEASE [--out FILE] [--format html|text|csv|json]", Short: "pictures and tables of a release",
		Least: 1, Most: 1,
		Flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&out, "out", "", "file for the report (default stdout)")
			flags.StringVar(&format, "format", "", "html: a page with pictures (default); text: a summary for a terminal; csv or json: the numbers with their noise, for programs")
			shell.Values(flags, "format", report.Formats...)
			flags.BoolVar(&text, "text", false, "the same as --format text")
			flags.BoolVar(&force, "force", false, "replace the file if it exists")
		},
		Run: func(e *shell.Env, args []string) error {
			format, err := formatOf(format, text)
			if err != nil {
				return err
			}
			return showRelease(e, args[0], shell.Output{Flag: "--out", Path: out, Reads: []string{args[0]}, Force: force}, format)
		},
	}
}

// formatOf returns the format that was asked for, text by its alias --text.
func formatOf(format string, text bool) (string, error) {
	switch {
	case text && format != "" && format != "text":
		return "", shell.Wrong("--format", "text beside --text", fmt.Sprintf("%q", format), "leave --text out")
	case text:
		return "text", nil
	case format == "":
		return report.Formats[0], nil
	case !slices.Contains(report.Formats, format):
		return "", shell.Wrong("--format", "html, text, csv or json", fmt.Sprintf("%q", format), "html is the default")
	}
	return format, nil
}

func showRelease(e *shell.Env, path string, out shell.Output, format string) error {
	if err := out.Check(); err != nil {
		return err
	}
	r, err := readAny(e, path)
	if err != nil {
		return err
	}
	options := report.Options{}
	if path != shell.StdinName {
		options.File = filepath.Base(path)
	}
	write := func(w io.Writer) error { return report.Write(w, r, format, options) }
	if out.Path == "" {
		return write(e.Stdout)
	}
	return release.WriteWhole(out.Path, write)
}
