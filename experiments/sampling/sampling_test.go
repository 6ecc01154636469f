package sampling

import (
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

// Every line has a name of its own and tables that can be drawn.
func TestLines(t *testing.T) {
	enginetest.Lines(t, Study, func(l *line) error {
		got, err := l.Cell.large(1, 50)
		if n, d := got.rows.Dims(); n != 50 || d < 2 || got.components != 0 {
			t.Errorf("%s: %d rows of %d columns, %d components", l.Name, n, d, got.components)
		}
		return err
	})
}
