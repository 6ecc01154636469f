package sampling

import (
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

// Every line has a name of its own and tables that can be drawn.
func TestLines(t *testing.T) {
	enginetest.Lines(t, Study, func(l *line) error {
		if drawn := l.Cell.Draw(1, 50); drawn.Components < 1 {
			t.Errorf("%s: %d components", l.Name, drawn.Components)
		}
		return nil
	})
}
