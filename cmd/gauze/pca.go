package main

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
)

func pcaCommand() shell.Command {
	o := report.PrincipalOptions{}
	return shell.Command{
		Use: "pca RELEASE [--correlation]", Short: "principal components of a release, with their noise",
		Least: 1, Most: 1,
		Flags: func(flags *pflag.FlagSet) {
			flags.BoolVar(&o.Correlation, "correlation", false, "of columns divided by their standard deviations, for columns of unlike units")
		},
		Run: func(e *shell.Env, args []string) error {
			r, err := readAny(e, args[0])
			if err != nil {
				return err
			}
			if r.Profile != nil && r.Model == nil || slices.ContainsFunc(r.Groups, func(g release.Group) bool { return g.Model == nil && g.NoRelease == nil }) {
				return noModel(args[0])
			}
			o.JSON = e.JSON
			return report.Principal(e.Stdout, r, o)
		},
	}
}
