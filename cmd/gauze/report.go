package main

import (
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
)

func reportCommand() shell.Command {
	out, text, force := "", false, false
	return shell.Command{
		Use: "report RELEASE [--out report.html]", Short: "pictures and tables of a release, as HTML",
		Least: 1, Most: 1,
		Flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&out, "out", "", "file for the page (default stdout)")
			flags.BoolVar(&force, "force", false, "replace the file if it exists")
			flags.BoolVar(&text, "text", false, "a short summary for a terminal in place of the page")
		},
		Run: func(e *shell.Env, args []string) error {
			return showRelease(e, args[0], shell.Output{Flag: "--out", Path: out, Reads: []string{args[0]}, Force: force}, text)
		},
	}
}

func showRelease(e *shell.Env, path string, out shell.Output, text bool) error {
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
	write := func(w io.Writer) error {
		if text {
			return report.Text(w, r)
		}
		return report.HTML(w, r, options)
	}
	if out.Path == "" {
		return write(e.Stdout)
	}
	return release.WriteWhole(out.Path, write)
}
