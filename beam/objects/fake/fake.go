// Package fake serves buckets in this process, for tests: of Google Cloud Storage, and of S3.
package fake

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Bucket is the only one that there is.
const Bucket = "gs://custodian/"

// Serve has clients that a test makes find the bucket, which is there until the process ends.
func Serve(t *testing.T) {
	t.Helper()
	host, err := serving()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", host)
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
