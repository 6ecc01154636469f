package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// The law of the demonstration's table, its schema, and the text at the end.
var (
	//go:embed demo/truth.json
	demoTruth []byte
	//go:embed demo/schema.json
	demoSchema []byte
	//go:embed demo/end.txt
	demoWords string
)

const demoFolder = "gauze-demo"

func demoCommand() shell.Command {
	return shell.Command{
		Use: "demo [DIR]", Short: "made-up table, fit, report, comparison with the truth", Most: 1, Spends: true,
		Run: func(e *shell.Env, args []string) error {
			return demo(e, append(args, demoFolder)[0])
		},
	}
}

// demo runs the commands that it shows in a new folder. With json what they say goes to stderr.
func demo(e *shell.Env, folder string) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return shell.Wrong("demo", "a folder to make", err, "name another one, as in: gauze demo "+demoFolder+"-2")
	}
	say := e.Stdout
	if e.JSON {
		say = e.Stderr
	}
	fmt.Fprintf(say, "A made-up table of 20,000 people, in the folder %s. Its truth is known, so the fit can be held against it.\n", folder)
	if err := os.Chdir(folder); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile("truth.json", demoTruth, 0o666), os.WriteFile("schema.json", demoSchema, 0o666)); err != nil {
		return err
	}
	for _, line := range []string{
		"simulate truth.json --rows 20000 --seed 1 > people.csv",
		"fit people.csv --schema schema.json --epsilon 1 --delta 1e-6 --out release.json --report report.html",
		"report release.json --text",
		"sample release.json --rows 1000 > synthetic.csv",
		"compare release.json truth.json > comparison.json",
	} {
		fmt.Fprintf(say, "\n$ gauze %s\n", line)
		if err := runLine(e, line, say); err != nil {
			return err
		}
	}
	return demoEnd(e, folder, say)
}

// runLine runs a command as a shell would, with its output to a file or to out.
func runLine(e *shell.Env, line string, out io.Writer) error {
	words, path, toFile := strings.Cut(line, " > ")
	inner := &shell.Env{Ctx: e.Ctx, Stdin: e.Stdin, Stdout: out, Stderr: out}
	if toFile {
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer file.Close()
		inner.Stdout = file
	}
	err := program().Execute(inner, strings.Fields(words))
	e.Spent = inner.Spent
	return err
}

// demoEnd says how near the truth the release came, and where to look.
func demoEnd(e *shell.Env, folder string, say io.Writer) error {
	data, err := os.ReadFile("comparison.json")
	if err != nil {
		return err
	}
	var c struct {
		TV         float64
		Components []struct{ Mean *float64 } // null: infinite
		UnmatchedA []int                     `json:"unmatched_a"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	found := 0
	for _, pair := range c.Components {
		if pair.Mean != nil && *pair.Mean < .5 {
			found++
		}
	}
	extra := ""
	if more := len(c.Components) + len(c.UnmatchedA) - found; more > 0 {
		extra = fmt.Sprintf(", and %d extra", more)
	}
	fmt.Fprintf(say, demoWords, found, extra, c.TV, filepath.Join(folder, "report.html"), filepath.Join(folder, "release.json"), filepath.Join(folder, "synthetic.csv"))
	if e.JSON {
		_, err = e.Stdout.Write(data)
	}
	return err
}
