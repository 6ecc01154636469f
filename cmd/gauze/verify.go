package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release"
)

func verifyCommand() shell.Command {
	key := ""
	return shell.Command{
		Use: "verify RELEASE [--key PUB]", Short: "whether a release's certificate is consistent, and signed", Least: 1, Most: 1,
		Flags: func(flags *pflag.FlagSet) {
			flags.StringVar(&key, "key", "", "file with public keys of ssh-keygen, of which one has to have signed the release")
		},
		Run: func(e *shell.Env, args []string) error { return verify(e, args[0], key) },
	}
}

func verify(e *shell.Env, path, key string) error {
	by := ""
	if key != "" { // before what it says is read
		var err error
		if by, err = signedBy(path, key); err != nil {
			return err
		}
	}
	r, err := readUnchecked(e, path)
	if err != nil {
		return err
	}
	if r.Bare() {
		return shell.Wrong("verify", "a release", path+", a bare model, which promises nothing", "name a release that gauze fit wrote")
	}
	if err := errors.Join(faults(r)...); err != nil {
		return err
	}
	if !r.Certificate.Recomputable() {
		e.Note("note: an earlier version wrote it, without the shapes of its queries: their sensitivities were not recomputed\n")
	}
	if r.Certificate.Simulated {
		e.Note("warning: it is simulated, its rows or its noise came from a seed: it protects nobody\n")
	}
	if e.JSON {
		answer := map[string]any{"consistent": true, "signed": by != "", "spent": r.Certificate.Spent,
			"recomputed": r.Certificate.Recomputable(), "simulated": r.Certificate.Simulated}
		if by != "" {
			answer["key"] = by
		}
		return e.Print(answer)
	}
	signed := "It is not signed: whoever can alter it can make up another."
	if _, err := os.Stat(fit.SignatureOf(path)); err == nil {
		signed = "Its signature was not checked: name the custodian's public key with --key."
	}
	if by != "" {
		signed = "It is signed by " + by + "."
	}
	_, err = fmt.Fprintf(e.Stdout, "consistent: the measurements cost %s, at most what was asked. %s\n", shell.SpentText(r.Certificate.Spent), signed)
	return err
}

// faults are what is wrong with a release, a method that is none among it.
func faults(r *release.Release) []error {
	all := release.Verify(r)
	if m := r.Certificate.Method; m != "" && !slices.Contains(gauze.Methods().Names()[1:], m) {
		all = append(all, &release.Error{Field: "certificate.method", Wanted: "one that gauze papers or gauze fit --help lists", Got: strconv.Quote(m),
			Hint: "the release was altered, or another version of gauze wrote it"})
	}
	return all
}
