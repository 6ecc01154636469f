package main

import (
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
)

func reportCommand() command {
	out, text, force := "", false, false
	return command{
		use: "report RELEASE [--out report.html]", short: "pictures and tables of a release, as HTML",
		least: 1, most: 1,
		flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&out, "out", "", "file for the page (default stdout)")
			flags.BoolVar(&force, "force", false, "replace the file if it exists")
			flags.BoolVar(&text, "text", false, "a short summary for a terminal in place of the page")
		},
		run: func(e *env, args []string) error {
			return showRelease(e, args[0], output{"--out", out, []string{args[0]}, force}, text)
		},
	}
}

func showRelease(e *env, path string, out output, text bool) error {
	if err := out.check(); err != nil {
		return err
	}
	r, err := readAny(e, path)
	if err != nil {
		return err
	}
	options := report.Options{}
	if path != stdinName {
		options.File = filepath.Base(path)
	}
	write := func(w io.Writer) error {
		if text {
			return report.Text(w, r)
		}
		return report.HTML(w, r, options)
	}
	if out.path == "" {
		return write(e.stdout)
	}
	return release.WriteWhole(out.path, write)
}

// writeReport writes the page of a release to a file.
func writeReport(path string, r *release.Release) error {
	return release.WriteWhole(path, func(w io.Writer) error { return report.HTML(w, r, report.Options{}) })
}
