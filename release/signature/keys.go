package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Keys reads public keys, one per line, in the format of a .pub file or of authorized_keys.
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

// Key reads a private key to sign with. For an encrypted key it calls ask for the passphrase; for a
// public key, it looks for the private one in the ssh-agent behind the socket, "" for none. It
// tries at once that the key signs.
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

// fromAgent returns an agent's private key for a public one.
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

// Own returns the private key of a file that only its owner may read, and all public keys of the
// file beside it (path.pub), newest first. If there is no key, it makes one (Ed25519); if its
// public key is not in that file, it is put before the others. So the keys that signed before a
// change of the key stay known.
func Own(path, comment string) (key ssh.Signer, public []byte, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = create(path, comment)
	case err == nil && info.Mode().Perm()&0o077 != 0:
		err = fmt.Errorf("signature: want %s to be readable by its owner alone, got mode %04o: chmod 600 it, or take a new key if others may have read it", path, info.Mode().Perm())
	}
	if err != nil {
		return nil, nil, err
	}
	if key, err = Key(path, "", func() ([]byte, error) { return nil, errors.New("nobody is there to ask") }); err != nil {
		return nil, nil, err
	}
	public, err = os.ReadFile(path + ".pub")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("signature: %w", err)
	}
	line := bytes.TrimSpace(ssh.MarshalAuthorizedKey(key.PublicKey()))
	if bytes.Contains(public, line) {
		return key, public, nil
	}
	public = append(fmt.Appendf(nil, "%s %s\n", line, comment), public...)
	return key, public, kept(path+".pub", public, 0o644)
}

// create writes a new private key.
func create(path, comment string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(&private, comment)
	if err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	return kept(path, pem.EncodeToMemory(block), 0o600)
}

// kept writes a file whole or not at all.
func kept(path string, data []byte, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".signing-*") // only its owner may read it
	if err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("signature: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
