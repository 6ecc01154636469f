// Package fake serves buckets in this process, for tests: of Google Cloud Storage, and of S3.
package fake

import (
	"fmt"
	"net"
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
	const here = "127.0.0.1"
	l, err := net.Listen("tcp", here+":0")
	if err != nil {
		return "", err
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		return "", err
	}
	host := fmt.Sprint(here, ":", port)
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: here, Port: port, PublicHost: host})
	if err != nil {
		return "", err
	}
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "custodian"})
	return host, nil
})
