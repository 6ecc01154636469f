package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/release/signature"
)

// signatureOf is the file of a release's signature; none for none.
func signatureOf(path string) string {
	if path == "" {
		return ""
	}
	return path + ".sig"
}

// signer is what signs the release once it is written; nil without --sign. The key is tried here,
// before anything is spent.
func (o *fitOptions) signer() (func(r *release.Release) error, error) {
	if o.sign == "" {
		return nil, nil
	}
	if o.out == "" {
		return nil, wrong("--sign", "--out beside it", "a release on stdout", "name a file: the signature is written beside it")
	}
	reads := []string{o.sign, o.report}
	if err := (output{"--sign", signatureOf(o.out), reads, o.request.force}).check(); err != nil {
		return nil, err
	}
	key, err := signature.Key(o.sign, os.Getenv("SSH_AUTH_SOCK"), func() ([]byte, error) { return askPassphrase(o.sign) })
	if err != nil {
		return nil, &usageError{"--sign: " + strings.TrimPrefix(err.Error(), "signature: "), "name a private key of ssh-keygen, or the public one of a key that your ssh-agent holds"}
	}
	return func(r *release.Release) error {
		var text bytes.Buffer
		if err := release.Write(&text, r); err != nil {
			return err
		}
		signed, err := signature.Sign(key, text.Bytes())
		if err != nil {
			return err
		}
		return release.WriteWhole(signatureOf(o.out), func(w io.Writer) error {
			_, err := w.Write(signed)
			return err
		})
	}, nil
}

// askPassphrase asks at the terminal, whatever stdin is.
func askPassphrase(path string) ([]byte, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("there is no terminal to ask at; use an ssh-agent: %w", err)
	}
	defer tty.Close()
	fmt.Fprintf(tty, "passphrase of %s: ", path)
	defer fmt.Fprintln(tty)
	return term.ReadPassword(int(tty.Fd()))
}

// signedBy is the key that has signed the release in a file, of those in another.
func signedBy(path, keys string) (string, error) {
	hint := "the custodian's public key is wanted, and the signature beside the release"
	if path == stdinName {
		return "", wrong("--key", "a file", "stdin, which has no signature beside it", "write the release to a file")
	}
	public, err := signature.Keys(keys)
	if err != nil {
		return "", &usageError{"--key: " + strings.TrimPrefix(err.Error(), "signature: "), hint}
	}
	text, errA := os.ReadFile(path)
	signed, errB := os.ReadFile(signatureOf(path))
	for _, err := range []error{errA, errB} {
		if err != nil {
			return "", wrong("verify", "a release and its signature", err, hint)
		}
	}
	by, err := signature.Verify(public, text, signed)
	if err != nil {
		return "", &usageError{signatureOf(path) + ": " + strings.TrimPrefix(err.Error(), "signature: "), "do not rely on the release"}
	}
	return by, nil
}
