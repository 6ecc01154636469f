// Package fake serves a bucket of Google Cloud Storage in this process, for tests.
package fake

import (
	"fmt"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
)

// Bucket is the only one that there is.
const Bucket = "gs://custodian/"

// Serve has clients find the bucket, until the process ends.
func Serve(t *testing.T) {
	t.Helper()
	if err := serving(); err != nil {
		t.Fatal(err)
	}
}

var serving = sync.OnceValue(func() error {
	const here = "127.0.0.1"
	l, err := net.Listen("tcp", here+":0")
	if err != nil {
		return err
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		return err
	}
	host := fmt.Sprint(here, ":", port)
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{Scheme: "http", Host: here, Port: port, PublicHost: host})
	if err != nil {
		return err
	}
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "custodian"})
	return os.Setenv("STORAGE_EMULATOR_HOST", host)
})
