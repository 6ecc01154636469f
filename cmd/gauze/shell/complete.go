package shell

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// valuesOf is the annotation of a flag that holds the values it can have.
const valuesOf = "gauze_values"

// Values notes which values a flag can have, so that shells complete them.
func Values(flags *pflag.FlagSet, name string, values ...string) {
	if err := flags.SetAnnotation(name, valuesOf, values); err != nil {
		panic(err) // the flag is not registered: a mistake in the program
	}
}

// complete tells shells what follows a command: words in the places of its arguments (files where
// there are none), and the values of its flags.
func complete(cmd *cobra.Command, words [][]string) {
	if words != nil {
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) >= len(words) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return beginning(words[len(args)], typed), cobra.ShellCompDirectiveNoFileComp
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values := f.Annotations[valuesOf]; values != nil {
			// It fails for a flag that has a function already, and none has.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return beginning(values, typed), cobra.ShellCompDirectiveNoFileComp
			})
		}
	})
}

// beginning returns the words that begin as what was typed does.
func beginning(words []string, typed string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			out = append(out, w)
		}
	}
	return out
}
