package signature

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Keys reads public keys, one a line, as they stand in a .pub file or in authorized_keys.
func Keys(path string) (keys []ssh.PublicKey, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	for len(bytes.TrimSpace(data)) > 0 {
		key, _, _, rest, err := ssh.ParseAuthorizedKey(data)
		if err != nil {
			break // comments after the last key, or no key at all
		}
		keys, data = append(keys, key), rest
	}
	if keys == nil {
		return nil, fmt.Errorf("signature: want a public key as ssh-keygen writes it, got %s", path)
	}
	return keys, nil
}

// Key reads a private key to sign with. Of one that is encrypted ask is asked the passphrase; for a
// public key, the private one is asked of the ssh-agent behind the socket, "" for none. That it
// signs is tried at once.
func Key(path, socket string, ask func() ([]byte, error)) (ssh.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	var key ssh.Signer
	if public, _, _, _, notPublic := ssh.ParseAuthorizedKey(data); notPublic == nil {
		key, err = fromAgent(public, socket)
	} else if key, err = ssh.ParsePrivateKey(data); encrypted(err) {
		passphrase, asking := ask()
		if asking != nil {
			return nil, fmt.Errorf("signature: %s is encrypted, and its passphrase could not be asked: %w", path, asking)
		}
		key, err = ssh.ParsePrivateKeyWithPassphrase(data, passphrase)
	}
	if err != nil {
		return nil, fmt.Errorf("signature: %s: %w", path, err)
	}
	tried, err := Sign(key, nil)
	if err == nil {
		_, err = Verify([]ssh.PublicKey{key.PublicKey()}, nil, tried)
	}
	return key, err
}

func encrypted(err error) bool {
	var missing *ssh.PassphraseMissingError
	return errors.As(err, &missing)
}

// fromAgent is the private key of a public one that an agent holds.
func fromAgent(public ssh.PublicKey, socket string) (ssh.Signer, error) {
	if socket == "" {
		return nil, errors.New("want a private key, or an ssh-agent that holds it (SSH_AUTH_SOCK), got a public key alone")
	}
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("the ssh-agent does not answer: %w", err)
	}
	keys, err := agent.NewClient(connection).Signers()
	if err != nil {
		return nil, fmt.Errorf("the ssh-agent does not answer: %w", err)
	}
	for _, key := range keys {
		if bytes.Equal(key.PublicKey().Marshal(), public.Marshal()) {
			return key, nil
		}
	}
	return nil, errors.New("the ssh-agent does not hold its private key: ssh-add it")
}
