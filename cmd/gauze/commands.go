package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/suggest"
	"github.com/gauze-dp/gauze/internal/words"
)

// A command is one subcommand as data.
type command struct {
	use   string // "fit INPUT [flags]"
	short string
	// least and most bound the number of arguments.
	least, most int
	// flags registers the command's own flags; nil if there are none.
	flags func(*pflag.FlagSet)
	run   func(e *env, args []string) error
	// spends: the command may spend a budget, and has to say so however it ends. All others are
	// simply left behind by a signal.
	spends bool
}

// commands lists all subcommands, in the order in which help shows them.
func commands() []command {
	return []command{
		fitCommand(), planCommand(), sampleCommand(), compareCommand(), scoreCommand(), simulateCommand(),
		reportCommand(), verifyCommand(), ledgerCommand(), auditCommand(), serveCommand(), papersCommand(), demoCommand(), versionCommand(),
	}
}

// helpFiles are what `gauze help` says, a file for each command, and how it is laid out.
//
//go:embed help
var helpFiles embed.FS

func helpOf(name string) string {
	text, _ := helpFiles.ReadFile("help/" + name + ".txt") // a test asks for every command's
	return strings.TrimSuffix(string(text), "\n")
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use: "gauze", Short: "Gaussian models of sensitive tables, under differential privacy", Long: helpOf("gauze"),
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
	}
	showVersion := false
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.RunE = func(*cobra.Command, []string) error {
		if showVersion {
			return printVersion(e, nil)
		}
		fmt.Fprintln(e.stderr, helpOf("gauze"))
		return &usageError{message: "a command is missing", hint: "gauze help lists them"}
	}
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetIn(e.stdin)
	root.SetHelpTemplate(helpOf("template"))
	root.SetFlagErrorFunc(flagError)
	for _, c := range commands() {
		root.AddCommand(c.cobra(e))
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

func (c command) cobra(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: c.use, Short: c.short, Long: helpOf(c.name()), DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error { return c.checkArgs(args) },
		RunE: func(_ *cobra.Command, args []string) error {
			if c.spends {
				return c.run(e, args)
			}
			_, err := interruptible(e.ctx, func() (struct{}, error) { return struct{}{}, c.run(e, args) })
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	if c.flags != nil {
		c.flags(flags)
	}
	flags.BoolVar(&e.json, "json", e.json, "errors, outcomes and answers as JSON")
	flags.Lookup("json").DefValue = "false"
	return cmd
}

func (c command) name() string {
	name, _, _ := strings.Cut(c.use, " ")
	return name
}

func (c command) checkArgs(args []string) error {
	if len(args) >= c.least && len(args) <= c.most {
		return nil
	}
	wanted := words.Plural(c.most, "argument")
	if c.least < c.most {
		wanted = "at most " + wanted
	}
	return wrong(c.name(), wanted, words.Plural(len(args), "argument"), "gauze "+c.use)
}

// knownCommand reports a first word that is no command, before cobra takes its flags for those of
// the root.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) > 1 && args[0] == "help" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.Name() == args[0] {
			return nil
		}
		names = append(names, c.Name())
	}
	hint := "gauze help lists the commands"
	if name := suggest.Nearest(args[0], names); name != "" {
		hint = "did you mean gauze " + name + "?"
	}
	return &usageError{message: fmt.Sprintf("unknown command %q", args[0]), hint: hint}
}
