package gauze

import (
	"runtime/debug"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/release"
)

// module is the path of this module.
const module = "github.com/gauze-dp/gauze"

// Program names the program that runs: Gauze, its version and, where the build says it, the
// revision of its sources, with a plus behind one that had been changed.
func Program() string {
	text, revision, changed := "gauze "+Version, "", ""
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	for _, m := range info.Deps {
		if m.Path == module { // of somebody else's program: the version says the revision
			return text + " (" + m.Version + ")"
		}
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if revision == "" || !strings.HasPrefix(info.Main.Path, module) {
		return text
	}
	return text + " (" + revision + changed + ")"
}

// identity says which release it is.
func (r Request) identity() *release.Identity {
	id := &release.Identity{Title: r.Title, Dataset: r.Dataset, Program: Program()}
	if !r.Day.IsZero() {
		id.Created = r.Day.UTC().Format(time.DateOnly)
	}
	return id
}
