package release

import "fmt"

// An Error is a fault of a release: the field, what was wanted, what it holds, and how to fix it.
type Error struct{ Field, Wanted, Got, Hint string }

// Error returns one line: field, wanted, got, and how to fix it.
func (e *Error) Error() string {
	text := fmt.Sprintf("release: %s: want %s, got %s", e.Field, e.Wanted, e.Got)
	if e.Hint == "" {
		return text
	}
	return text + "; " + e.Hint
}
