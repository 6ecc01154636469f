package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// coreFolders is what the compiler lets a user of the package kernel reach: the reading list of
// whoever wants to trust the core.
var coreFolders = []string{
	"kernel", "kernel/internal/core", "kernel/internal/engine", "kernel/internal/noise", "kernel/internal/rowkernels", "kernel/privacy", "kernel/query",
}

// TestCoreIsListed: what the core reaches is what the list says, so that nothing joins it unseen.
func TestCoreIsListed(t *testing.T) {
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	core := slices.DeleteFunc(append(slices.Clone(all["kernel"]), "kernel"), func(folder string) bool { return !under(folder, "kernel", "dense") })
	slices.Sort(core)
	if !slices.Equal(core, coreFolders) {
		t.Errorf("the core reaches %q, the list says %q: move out what privacy does not rest on, or list it and say why in docs/ARCHITECTURE.md", core, coreFolders)
	}
}

// listed returns what the compiler is given for every package of the module: the folders of ours
// that it depends on.
var listed = sync.OnceValues(func() (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		folder, _ := ours(paths[0])
		all[folder] = []string{}
		for _, p := range paths[1:] {
			if needed, our := ours(p); our {
				all[folder] = append(all[folder], needed)
			}
		}
	}
	return all, nil
})
