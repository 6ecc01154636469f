package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
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
	v := gauze.Verify(r)
	if v.Faults != nil {
		return errors.Join(v.Faults...)
	}
	if e.JSON {
		answer := map[string]any{"consistent": true, "signed": by != "", "spent": r.Certificate.Spent,
			"recomputed": r.Certificate.Recomputable(), "replanned": v.Replanned, "simulated": r.Certificate.Simulated,
			"warnings": append([]string{}, v.Warnings...), "exceptions": append([]string{}, v.Exceptions...)}
		if by != "" {
			answer["key"] = by
		}
		return e.Print(answer)
	}
	for _, text := range v.Exceptions {
		e.Note("exception: %s\n", text)
	}
	for _, text := range v.Warnings {
		e.Note("warning: %s\n", text)
	}
	signed := "It is not signed. " + gauze.OnlySigned
	if _, err := os.Stat(fit.SignatureOf(path)); err == nil {
		signed = "Its signature was not checked: name the custodian's public key with --key. " + gauze.OnlySigned
	}
	if by != "" {
		signed = "It is signed by " + by + "."
	}
	_, err = fmt.Fprintf(e.Stdout, "consistent: the measurements cost %s, at most what was asked. %s\n", shell.SpentText(r.Certificate.Spent), signed)
	return err
}
