package main

import (
	"os"
	"strings"

	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/release/signature"
)

// signedBy returns which key of the file keys has signed the release in the file path.
func signedBy(path, keys string) (string, error) {
	hint := "the custodian's public key is wanted, and the signature beside the release"
	if path == shell.StdinName {
		return "", shell.Wrong("--key", "a file", "stdin, which has no signature beside it", "write the release to a file")
	}
	public, err := signature.Keys(keys)
	if err != nil {
		return "", &shell.UsageError{Message: "--key: " + strings.TrimPrefix(err.Error(), "signature: "), Hint: hint}
	}
	text, errA := os.ReadFile(path)
	signed, errB := os.ReadFile(fit.SignatureOf(path))
	for _, err := range []error{errA, errB} {
		if err != nil {
			return "", shell.Wrong("verify", "a release and its signature", err, hint)
		}
	}
	by, err := signature.Verify(public, text, signed)
	if err != nil {
		return "", &shell.UsageError{Message: fit.SignatureOf(path) + ": " + strings.TrimPrefix(err.Error(), "signature: "), Hint: "do not rely on the release"}
	}
	return by, nil
}
