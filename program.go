package gauze

import (
	"runtime/debug"
	"strings"
)

// module is the path of this module.
const module = "github.com/gauze-dp/gauze"

// programName names the program that runs: Gauze, its version and, where the build says it, the
// revision of its sources, with a plus behind one that had been changed.
func programName(version string) string {
	text, revision, changed := "gauze "+version, "", ""
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	for _, m := range info.Deps {
		if m.Path == module { // of somebody else's program: the version contains the revision
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
