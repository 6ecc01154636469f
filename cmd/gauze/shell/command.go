package shell

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/parallel"
)

// A Command is one subcommand as data.
type Command struct {
	Use   string // "fit INPUT [flags]"
	Short string
	// Least and Most bound the number of arguments.
	Least, Most int
	// Words are what each argument can be, for completion; nil where arguments name files.
	Words [][]string
	// Flags registers the command's own flags; nil if there are none.
	Flags func(*pflag.FlagSet)
	Run   func(e *Env, args []string) error
	// Spends: the command may spend a budget, and has to say so however it ends. All others are
	// simply left behind by a signal.
	Spends bool
}

// writeHelp writes a command's help.
func writeHelp(c *cobra.Command, _ []string) {
	c.InitDefaultHelpFlag()
	out := c.OutOrStdout()
	fmt.Fprintln(out, strings.TrimRight(c.Long, " \t\n"))
	if c.HasAvailableSubCommands() {
		fmt.Fprint(out, "\nCommands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(out, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
		fmt.Fprintln(out)
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(out, "\nFlags:\n%s\n", strings.TrimRight(c.LocalFlags().FlagUsages(), " \t\n"))
	}
}

// help returns the text of a help file.
func (p *Program) help(name string) string {
	text, _ := p.Help.ReadFile("help/" + name + ".txt") // a test asks for every command's
	return strings.TrimSuffix(string(text), "\n")
}

func (p *Program) root(e *Env) *cobra.Command {
	root := &cobra.Command{
		Use: p.Name, Short: p.Short, Long: p.help(p.Name),
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
	}
	showVersion := false
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.RunE = func(*cobra.Command, []string) error {
		if showVersion {
			return e.version()
		}
		fmt.Fprintln(e.Stderr, p.help(p.Name))
		return &UsageError{Message: "a command is missing", Hint: p.Name + " help lists them"}
	}
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	root.SetIn(e.Stdin)
	root.SetHelpFunc(writeHelp)
	root.SetFlagErrorFunc(flagError)
	for _, c := range p.Commands {
		root.AddCommand(p.cobra(e, c))
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

func (p *Program) cobra(e *Env, c Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: c.Use, Short: c.Short, Long: p.help(c.Name()), DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error { return p.checkArgs(c, args) },
		RunE: func(_ *cobra.Command, args []string) error {
			if c.Spends {
				return c.Run(e, args)
			}
			_, err := Interruptible(e.Ctx, func() (struct{}, error) { return struct{}{}, c.Run(e, args) })
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	if c.Flags != nil {
		c.Flags(flags)
	}
	flags.BoolVar(&e.JSON, "json", e.JSON, "errors, outcomes and answers as JSON")
	flags.Lookup("json").DefValue = "false"
	complete(cmd, c.Words)
	return cmd
}

// Name returns the command's first word.
func (c Command) Name() string {
	name, _, _ := strings.Cut(c.Use, " ")
	return name
}

func (p *Program) checkArgs(c Command, args []string) error {
	if len(args) >= c.Least && len(args) <= c.Most {
		return nil
	}
	wanted := words.Plural(c.Most, "argument")
	if c.Least < c.Most {
		wanted = "at most " + wanted
	}
	return Wrong(c.Name(), wanted, words.Plural(len(args), "argument"), p.Name+" "+c.Use)
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
	if strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // what the scripts of shells ask
		return nil
	}
	for _, c := range root.Commands() {
		if c.Name() == args[0] {
			return nil
		}
		names = append(names, c.Name())
	}
	hint := root.Name() + " help lists the commands"
	if name := Nearest(args[0], names); name != "" {
		hint = "did you mean " + root.Name() + " " + name + "?"
	}
	return &UsageError{Message: fmt.Sprintf("unknown command %q", args[0]), Hint: hint}
}

// Interruptible runs f, but returns at once when ctx is done: f may wait for a terminal or a pipe
// that never ends. The program ends then, so that nothing has to be cleaned up behind f.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (value T, err error) {
	type answer struct {
		value T
		err   error
	}
	var a answer
	if err := parallel.Await(ctx, func() { a.value, a.err = f() }); err != nil {
		return value, err
	}
	return a.value, a.err
}
