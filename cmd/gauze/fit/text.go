package fit

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/source"
)

// Text is the flags that say how the cells of an input are written, of commands that read one.
type Text struct {
	set             *pflag.FlagSet
	csv, unreadable string
}

// Register adds the flags to a command's.
func (t *Text) Register(flags *pflag.FlagSet) {
	t.set = flags
	flags.StringVar(&t.csv, "csv", "", fmt.Sprintf("how a CSV is written, where its header does not tell: %q; also strip=$ for marks beside numbers", source.DialectExample))
	flags.StringVar(&t.unreadable, "unreadable", "", "missing: cells that hold something but no number count as missing (default: they end the command, before anything is spent)")
}

// Fill says in the schema what the flags say. A flag takes the place of what a schema file says.
func (t *Text) Fill(s *source.Schema) (err error) {
	if t.set.Changed("csv") {
		if s.CSV, err = source.ParseDialect(t.csv); err != nil {
			return err
		}
	}
	if !t.set.Changed("unreadable") {
		return nil
	}
	if t.unreadable != source.UnreadableMissing {
		return shell.Wrong("--unreadable", source.UnreadableMissing, fmt.Sprintf("%q", t.unreadable), "without the flag such cells end the command")
	}
	s.Unreadable = t.unreadable
	return nil
}
