package gauze

import (
	"time"

	"github.com/gauze-dp/gauze/release"
)

// Program names the program that runs, with its version and, where the build knows it, the revision
// of its sources, with a plus behind one that had been changed.
func Program() string { return programName(Version) }

// identity returns the release's identity, for people.
func (r Request) identity() *release.Identity {
	id := &release.Identity{Title: r.Title, Dataset: r.Dataset, Program: Program()}
	if !r.Day.IsZero() {
		id.Created = r.Day.UTC().Format(time.DateOnly)
	}
	return id
}
