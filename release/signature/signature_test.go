package signature

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// privates are a key of every kind that a signature may be made with.
func privates(t *testing.T) map[string]any {
	t.Helper()
	_, ed, errA := ed25519.GenerateKey(rand.Reader)
	ec, errB := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rs, errC := rsa.GenerateKey(rand.Reader, 2048)
	if err := errors.Join(errA, errB, errC); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"ed25519": &ed, "ecdsa": ec, "rsa": rs}
}

// stored writes a key pair as ssh-keygen does, encrypted if there is a passphrase.
func stored(t *testing.T, key any, passphrase string) (path string) {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.WriteFile(path, pem.EncodeToMemory(block), 0o600), os.WriteFile(path+".pub", ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func never() ([]byte, error) { return nil, errors.New("nobody to ask") }

var message = []byte("{\"format\": \"gauze/release/v1\"}\n")

// TestSigns: what a key of every kind signs its public key verifies, and nothing else: every byte
// of the signature matters, as does every byte of the message.
func TestSigns(t *testing.T) {
	for name, private := range privates(t) {
		path := stored(t, private, "")
		key, err := Key(path, "", never)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		keys, err := Keys(path + ".pub")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		signature, err := Sign(key, message)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if by, err := Verify(keys, message, signature); err != nil || !strings.HasSuffix(by, ssh.FingerprintSHA256(key.PublicKey())) {
			t.Errorf("%s: %v by %v", name, err, by)
		}
		if _, err := Verify(keys, append([]byte(" "), message...), signature); err == nil {
			t.Errorf("%s: another message passes", name)
		}
		block, _ := pem.Decode(signature)
		for i := range block.Bytes {
			altered := bytes.Clone(block.Bytes)
			altered[i] ^= 1
			if _, err := Verify(keys, message, armoured(altered)); err == nil {
				t.Errorf("%s: byte %d of the signature does not matter", name, i)
			}
		}
		other, err := Keys(stored(t, privates(t)[name], "") + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(other, message, signature); err == nil || !strings.Contains(err.Error(), "another key") {
			t.Errorf("%s: another key: %v", name, err)
		}
		if _, err := Verify(append(other, keys...), message, signature); err != nil {
			t.Errorf("%s: one of two keys: %v", name, err)
		}
		for _, bad := range []string{"", "x", string(signature) + string(signature), strings.Replace(string(signature), "SSH", "PGP", 2)} {
			if _, err := Verify(keys, message, []byte(bad)); err == nil {
				t.Errorf("%s: %.20q is a signature", name, bad)
			}
		}
	}
}

// TestOpenSSH: OpenSSH verifies what Gauze has signed, Gauze what OpenSSH has signed, and neither a
// signature of another namespace.
func TestOpenSSH(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("there is no ssh-keygen on this machine to compare with")
	}
	for name, private := range privates(t) {
		path := stored(t, private, "")
		folder := filepath.Dir(path)
		file := filepath.Join(folder, "release.json")
		public, err := os.ReadFile(path + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		allowed := filepath.Join(folder, "allowed")
		key, err := Key(path, "", never)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := Sign(key, message)
		if err := errors.Join(err, os.WriteFile(file, message, 0o600), os.WriteFile(allowed, append([]byte("custodian "), public...), 0o600), os.WriteFile(file+".sig", signature, 0o600)); err != nil {
			t.Fatal(err)
		}
		verify := func(namespace string, message []byte) error {
			check := exec.Command(keygen, "-Y", "verify", "-f", allowed, "-I", "custodian", "-n", namespace, "-s", file+".sig")
			check.Stdin = bytes.NewReader(message)
			out, err := check.CombinedOutput()
			t.Logf("%s, %s: %s", name, namespace, bytes.TrimSpace(out))
			return err
		}
		if err := verify(Namespace, message); err != nil {
			t.Errorf("%s: OpenSSH: %v", name, err)
		}
		if verify("file", message) == nil || verify(Namespace, append(message, ' ')) == nil {
			t.Errorf("%s: OpenSSH takes it for another", name)
		}
		for namespace, want := range map[string]bool{Namespace: true, "file": false} {
			// it asks before it writes over a signature, and ends well if nobody answers
			if err := os.Remove(file + ".sig"); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(keygen, "-Y", "sign", "-f", path, "-n", namespace, file).CombinedOutput(); err != nil {
				t.Fatalf("%s: %s", name, out)
			}
			theirs, err := os.ReadFile(file + ".sig")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Verify([]ssh.PublicKey{key.PublicKey()}, message, theirs); (err == nil) != want {
				t.Errorf("%s: OpenSSH's, of %s: %v", name, namespace, err)
			}
		}
	}
}

// TestKeysThatAreGuarded: an encrypted key asks, a public key goes to the agent, and what is no key
// is refused.
func TestKeysThatAreGuarded(t *testing.T) {
	all := privates(t)
	path := stored(t, all["ed25519"], "open sesame")
	if _, err := Key(path, "", func() ([]byte, error) { return []byte("open sesame"), nil }); err != nil {
		t.Errorf("with its passphrase: %v", err)
	}
	if _, err := Key(path, "", func() ([]byte, error) { return []byte("sesame"), nil }); err == nil {
		t.Error("a wrong passphrase passes")
	}
	if _, err := Key(path, "", never); err == nil || !strings.Contains(err.Error(), "nobody to ask") {
		t.Errorf("nobody to ask: %v", err)
	}
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no unix sockets here: ", err)
	}
	defer listener.Close()
	ring := agent.NewKeyring()
	if err := errors.Join(ring.Add(agent.AddedKey{PrivateKey: all["ed25519"]}), ring.Add(agent.AddedKey{PrivateKey: all["rsa"]})); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, connection) }()
		}
	}()
	for name, held := range map[string]bool{"ed25519": true, "rsa": true, "ecdsa": false} {
		public := stored(t, all[name], "") + ".pub"
		key, err := Key(public, socket, never)
		if (err == nil) != held {
			t.Errorf("%s of the agent: %v", name, err)
		}
		if err != nil {
			continue
		}
		signature, err := Sign(key, message)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify([]ssh.PublicKey{key.PublicKey()}, message, signature); err != nil {
			t.Errorf("%s of the agent: %v", name, err)
		}
		if _, err := Key(public, "", never); err == nil {
			t.Errorf("%s: a public key alone signs", name)
		}
	}
	for _, text := range []string{"", "no key", "ssh-ed25519 AAAA"} {
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, errA := Key(bad, "", never)
		_, errB := Keys(bad)
		if errA == nil || errB == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
