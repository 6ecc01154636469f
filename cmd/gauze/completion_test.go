package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// completed returns the answers of the protocol by which all shells ask what may follow words, the
// last of which is begun, without their descriptions, and how the shell is told to use them.
func completed(t *testing.T, words ...string) (answers []string, directive string) {
	t.Helper()
	var out, notes bytes.Buffer
	if code := program().Run(context.Background(), append([]string{"__complete"}, words...), nil, &out, &notes); code != shell.CodeOK {
		t.Fatalf("%q: exit code %d: %s", words, code, notes.String())
	}
	for line := range strings.Lines(out.String()) {
		answer, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		answers = append(answers, answer)
	}
	return answers[:len(answers)-1], answers[len(answers)-1]
}

// Every subcommand, every flag of a fit, and the values of those that have a few are completed.
func TestCompletionProtocol(t *testing.T) {
	const files, noFiles = ":0", ":4"
	tests := []struct {
		name      string
		words     []string
		want      []string
		not       string // "" for nothing
		directive string
	}{
		{"commands", []string{""}, []string{"fit", "plan", "ledger", "serve", "completion"}, "__complete", noFiles},
		{"a command begun", []string{"le"}, []string{"ledger"}, "fit", noFiles},
		{"flags", []string{"fit", "t.csv", "--"}, []string{"--epsilon", "--method", "--ledger", "--json"}, "--rows", noFiles},
		{"a flag begun", []string{"fit", "--me"}, []string{"--method", "--mean-within"}, "--epsilon", noFiles},
		{"methods", []string{"fit", "--method", ""}, []string{"auto", "gaussian", "general", "general:aal21", "separated:paper"}, "replace-one", noFiles},
		{"methods of an audit", []string{"audit", "--method", "sep"}, []string{"separated", "separated:paper"}, "gaussian", noFiles},
		{"methods of a plan, with =", []string{"plan", "--method=heavy"}, []string{"heavy-tailed"}, "gaussian", noFiles},
		{"relations", []string{"fit", "--relation", ""}, []string{"replace-one", "add-remove-one"}, "", noFiles},
		{"covariances", []string{"fit", "--covariance", "d"}, []string{"diagonal"}, "full", noFiles},
		{"inputs", []string{"fit", ""}, nil, "", files},
		{"what a ledger does", []string{"ledger", ""}, []string{"init", "grant", "withdraw", "show", "verify"}, "", noFiles},
		{"what a server does", []string{"serve", "token", ""}, []string{"add", "list", "revoke"}, "backup", noFiles},
		{"shells", []string{"completion", ""}, []string{"bash", "zsh", "fish", "powershell"}, "", noFiles},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, directive := completed(t, test.words...)
			for _, want := range test.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q: got %q, want %s among them", test.words, got, want)
				}
			}
			if test.not != "" && slices.Contains(got, test.not) || directive != test.directive {
				t.Errorf("%q: got %q, %s; want no %q, and %s", test.words, got, directive, test.not, test.directive)
			}
		})
	}
}

// The script of each shell asks by a word that the program knows.
func TestCompletionScripts(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish", "powershell"} {
		var out, notes bytes.Buffer
		if code := program().Run(context.Background(), []string{"completion", name}, nil, &out, &notes); code != shell.CodeOK || !strings.Contains(out.String(), "__complete") {
			t.Errorf("%s: exit code %d, %d bytes of a script: %s", name, code, out.Len(), notes.String())
		}
	}
}

// drive makes bash complete a line, with the two functions of the package bash-completion that the
// script needs written out, since the package need not be there.
const drive = `
compopt() { :; }
__ltrim_colon_completions() { :; }
_init_completion() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; }
source <(gauze completion bash)
COMP_TYPE=9 COMP_KEY=9
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
__start_gauze
printf '%s\n' "${COMPREPLY[@]}"
`

// Bash completes subcommands, flags and values of --method by the script.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(self, filepath.Join(folder, "gauze")); err != nil {
		t.Skip(err)
	}
	for line, want := range map[string]string{
		"gauze led":                      "ledger ",
		"gauze fit t.csv --eps":          "--epsilon",
		"gauze fit t.csv --method gauss": "gaussian\ngaussian:coinpress\ngaussian:kmssu22\ngaussian:ppe-line",
		"gauze plan --method axis":       "axis-aligned\naxis-aligned:aal21",
		"gauze audit --relation r":       "replace-one ",
	} {
		c := exec.Command(bash, append([]string{"--norc", "--noprofile", "-c", drive, "bash"}, strings.Fields(line)...)...)
		c.Env = append(os.Environ(), "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		text, err := c.CombinedOutput()
		if err != nil || strings.TrimSpace(string(text)) != strings.TrimSpace(want) {
			t.Errorf("%s: got %q, %v; want %q", line, text, err, want)
		}
	}
}
