package release

import "fmt"

// An Error is a fault of a release: what was wanted of which field, what it holds, and how to mend
// it.
type Error struct{ Field, Wanted, Got, Hint string }

// Error is one line: field, wanted, got, how to mend it.
func (e *Error) Error() string {
	text := fmt.Sprintf("release: %s: want %s, got %s", e.Field, e.Wanted, e.Got)
	if e.Hint == "" {
		return text
	}
	return text + "; " + e.Hint
}
