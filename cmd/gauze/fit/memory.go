package fit

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/shards"
)

// Memory is where rows lie, and on disk what exceeds it; this process reads them.
type Memory struct{ size, folder string }

// Register adds the flags that say how much there is.
func (m *Memory) Register(flags *pflag.FlagSet) {
	flags.StringVar(&m.size, "memory", "", "how much of the table may lie in memory, such as 2GiB (default half of the machine's); the rest lies in --shards")
	flags.StringVar(&m.folder, "shards", "", "folder for what of the table exceeds memory (default that of temporary files)")
}

// Open returns room that goes when the process ends.
func (m *Memory) Open(*gauze.Request) (kernel.Room, func() error, error) {
	room, err := shards.Open(m.size, m.folder)
	return room, func() error { return nil }, err
}

// Reader opens an input.
func (m *Memory) Reader(input string, stdin io.Reader, d source.Dialect) (source.Reader, error) {
	return inputs.Reader(input, stdin, d)
}

// Read opens an input.
func (m *Memory) Read(_ context.Context, input string, stdin io.Reader, schema *source.Schema) (*gauze.Input, error) {
	return gauze.Open(input, stdin, schema)
}
