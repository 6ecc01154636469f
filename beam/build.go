package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// build says which program this is: a worker of another one could add other numbers up, of which
// the noise would not be known to hide a row. It is the revision that it was built from or, where
// that is not known or was changed, a hash of the file.
var build = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := revision(info); revision != "" {
			return revision
		}
	}
	self, err := os.Executable()
	if err != nil {
		return rand.Text() // that of no other
	}
	f, err := os.Open(self)
	if err != nil {
		return rand.Text() // that of no other
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return rand.Text() // that of no other
	}
	return hex.EncodeToString(h.Sum(nil))
})

// revision returns the revision of the sources, "" if they were changed or the build does not say.
func revision(of *debug.BuildInfo) (text string) {
	changed := false
	for _, s := range of.Settings {
		switch s.Key {
		case "vcs.revision":
			text = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed {
		return ""
	}
	return text
}
