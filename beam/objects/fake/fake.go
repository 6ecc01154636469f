// Package fake serves buckets in this process, for tests: of Google Cloud Storage, and of S3.
package fake

import (
	"net"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Bucket is the only one that there is.
const Bucket = "gs://custodian/"

// emulator is the variable that names clients a server.
const emulator = "STORAGE_EMULATOR_HOST"

// Serve has clients that a test makes find the bucket, which is there until the process ends, or
// that of another process which they are told already.
func Serve(t *testing.T) {
	t.Helper()
	if os.Getenv(emulator) != "" {
		return
	}
	host, err := serving()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(emulator, host)
}

var serving = sync.OnceValues(func() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	host := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", err
	}
	return host, At(host)
})

// At serves it at an address of this machine, which is told to clients as their own
// STORAGE_EMULATOR_HOST.
func At(address string) error {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return err
	}
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: host, Port: uint16(port), PublicHost: address})
	if err != nil {
		return err
	}
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "custodian"})
	return nil
}
