package inputs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/sqlite"
)

// patternMarks are the characters that make a name a pattern, unless a file has that name.
const patternMarks = "*?["

// openAll opens the files of a pattern, in the order of their paths.
func openAll(name string, d source.Dialect) (source.Reader, error) {
	paths := matching(name)
	if paths == nil {
		return nil, &source.Error{Field: "input", Wanted: "a pattern that matches files", Got: name + ", which matches none", Hint: "check the path, and quote the pattern"}
	}
	return source.OpenFiles(paths, Written(d))
}

// Files returns the local files that an input names, for programs that must not write to them: none
// for stdin, servers, and patterns without a match.
func Files(input string) []string {
	switch scheme, ok := schemeOf(input); {
	case scheme == "sqlite":
		if path, err := sqlite.Path(input); err == nil {
			return []string{path}
		}
		return nil
	case ok || input == "-":
		return nil
	}
	if matches := matching(input); matches != nil {
		return matches
	}
	return []string{input}
}

// Opened returns the local files that reading an input may open: those that it names and, for
// SQLite, the database's companion files.
func Opened(input string) []string {
	files := Files(input)
	if scheme, _ := schemeOf(input); scheme == "sqlite" {
		for _, path := range files {
			files = append(files, path+"-wal", path+"-shm", path+"-journal")
		}
	}
	return files
}

// SQLite returns the path of the file in sqlite:FILE?..
func SQLite(input string) (string, error) { return sqlite.Path(input) }

// Scheme returns the scheme of a URL, "" for anything else, such as a path.
func Scheme(input string) string {
	scheme, _ := schemeOf(input)
	return scheme
}

// matching returns the files of a pattern, in the order of their paths; nil for a file's own name.
func matching(input string) []string {
	if _, err := os.Stat(input); err == nil || !strings.ContainsAny(input, patternMarks) {
		return nil
	}
	paths, _ := filepath.Glob(input) // a malformed pattern matches nothing
	slices.Sort(paths)
	return paths
}
