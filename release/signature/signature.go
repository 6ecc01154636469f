// Package signature signs files as `ssh-keygen -Y sign` does, and checks signatures by it or by any
// OpenSSH. So whoever has an SSH key can sign a release, and nobody needs Gauze to check it.
package signature

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Namespace says what is signed: a signature of a letter, or of a commit, is not one of a release.
const Namespace = "gauze-release"

const (
	magic   = "SSHSIG"
	version = 1
	armour  = "SSH SIGNATURE"
)

// envelope is the content of a signature's file after the magic words.
type envelope struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// statement is the signed text after the magic words.
type statement struct {
	Namespace string
	Reserved  string
	Hash      string
	Sum       []byte
}

// hashed returns the bytes that the key signs for a message, with the hash of that name.
func hashed(namespace, name string, message []byte) ([]byte, error) {
	s := statement{Namespace: namespace, Hash: name}
	switch name {
	case "sha512":
		sum := sha512.Sum512(message)
		s.Sum = sum[:]
	case "sha256":
		sum := sha256.Sum256(message)
		s.Sum = sum[:]
	default:
		return nil, fmt.Errorf("signature: want the hash sha512 or sha256, got %q", name)
	}
	return append([]byte(magic), ssh.Marshal(s)...), nil
}

// Sign returns the signature of a message, as the file beside it holds it. RSA keys sign with
// SHA-512, as OpenSSH wants it.
func Sign(key ssh.Signer, message []byte) ([]byte, error) {
	const hash = "sha512"
	toSign, err := hashed(Namespace, hash, message)
	if err != nil {
		return nil, err
	}
	var signed *ssh.Signature
	if of, ok := key.(ssh.AlgorithmSigner); ok && key.PublicKey().Type() == ssh.KeyAlgoRSA {
		signed, err = of.SignWithAlgorithm(rand.Reader, toSign, ssh.KeyAlgoRSASHA512)
	} else {
		signed, err = key.Sign(rand.Reader, toSign)
	}
	if err != nil {
		return nil, fmt.Errorf("signature: the key does not sign: %w", err)
	}
	blob := ssh.Marshal(envelope{Version: version, PublicKey: key.PublicKey().Marshal(), Namespace: Namespace, Hash: hash, Signature: ssh.Marshal(*signed)})
	return armoured(append([]byte(magic), blob...)), nil
}

// armoured returns a signature in OpenSSH's format; OpenSSH accepts lines of another length too.
func armoured(blob []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: armour, Bytes: blob}) }

// Verify returns the name, by kind and fingerprint as ssh-keygen -l shows them, of the key that
// signed the message, if it is one of the given keys. Otherwise it returns an error: another key,
// another message, another namespace, or no signature.
func Verify(keys []ssh.PublicKey, message, signature []byte) (by string, err error) {
	block, rest := pem.Decode(signature)
	if block == nil || block.Type != armour || len(bytes.TrimSpace(rest)) > 0 || !bytes.HasPrefix(block.Bytes, []byte(magic)) {
		return "", errors.New("signature: want one signature as ssh-keygen -Y sign writes it, got something else")
	}
	var e envelope
	if err := ssh.Unmarshal(block.Bytes[len(magic):], &e); err != nil {
		return "", fmt.Errorf("signature: it is damaged: %w", err)
	}
	if e.Version != version || e.Namespace != Namespace {
		return "", fmt.Errorf("signature: want version %d and the namespace %q, got %d and %q", version, Namespace, e.Version, e.Namespace)
	}
	var signed ssh.Signature
	if err := ssh.Unmarshal(e.Signature, &signed); err != nil {
		return "", fmt.Errorf("signature: it is damaged: %w", err)
	}
	if signed.Format == "ssh-rsa" || signed.Format == "ssh-dss" {
		return "", fmt.Errorf("signature: want one that does not rest on SHA-1, got %s", signed.Format)
	}
	toSign, err := hashed(e.Namespace, e.Hash, message)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		if bytes.Equal(key.Marshal(), e.PublicKey) {
			if err := key.Verify(toSign, &signed); err != nil {
				return "", errors.New("signature: it is not of this file: one of the two was altered")
			}
			return key.Type() + " " + ssh.FingerprintSHA256(key), nil
		}
	}
	return "", errors.New("signature: it is by another key")
}
