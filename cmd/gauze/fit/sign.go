package fit

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/release/signature"
)

// SignatureOf returns the file of a release's signature; "" for no release.
func SignatureOf(path string) string {
	if path == "" {
		return ""
	}
	return path + ".sig"
}

// signer returns the function that signs the release once it is written, or keeps the signature of
// the server that made it; nil without either. It tries the key before anything is spent.
func (c *Command) signer(input string) (func(r *release.Release) error, error) {
	if c.sign == "" && c.out != "" && c.Server != nil && c.Server.URL != "" {
		err := shell.Output{Flag: "--out", Path: SignatureOf(c.out), Reads: append(c.reads(input), c.report), Force: c.Request.force}.Check()
		return c.keepSignature, err
	}
	if c.sign == "" {
		return nil, nil
	}
	if c.out == "" {
		return nil, shell.Wrong("--sign", "--out beside it", "a release on stdout", "name a file: the signature is written beside it")
	}
	if err := (shell.Output{Flag: "--sign", Path: SignatureOf(c.out), Reads: append(c.reads(input), c.report), Force: c.Request.force}).Check(); err != nil {
		return nil, err
	}
	key, err := signature.Key(c.sign, c.Getenv("SSH_AUTH_SOCK"), func() ([]byte, error) { return askPassphrase(c.sign) })
	if err != nil {
		return nil, &shell.UsageError{Message: "--sign: " + strings.TrimPrefix(err.Error(), "signature: "), Hint: "name a private key of ssh-keygen, or the public one of a key that your ssh-agent holds"}
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
		return release.WriteWhole(SignatureOf(c.out), func(w io.Writer) error {
			_, err := w.Write(signed)
			return err
		})
	}, nil
}

// keepSignature writes a server's signature to a file beside the signed release.
func (c *Command) keepSignature(r *release.Release) error {
	var text strings.Builder
	if err := release.Write(&text, r); err != nil {
		return err
	}
	signed := c.Server.Signed(text.String())
	if signed == "" {
		return nil
	}
	return release.WriteWhole(SignatureOf(c.out), func(w io.Writer) error {
		_, err := io.WriteString(w, signed)
		return err
	})
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
