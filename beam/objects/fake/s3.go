package fake

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// BucketS3 is the only one that there is by the protocol of S3.
const BucketS3 = "s3://custodian/"

// S3 is a server of it: an old one, of one's own, that knows buckets in paths alone and no
// checksums of the protocol, and has no regions.
type S3 struct {
	objects *s3mem.Backend
	server  http.Handler
	url     string
	mu      sync.Mutex
	faults  []string
}

var oneS3 = sync.OnceValues(func() (*S3, error) {
	s := &S3{objects: s3mem.New()}
	s.server = gofakes3.New(s.objects, gofakes3.WithTimeSkewLimit(0), gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	s.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) // else paths would be chosen for an address
	return s, s.objects.CreateBucket("custodian")
})

// ServeS3 has clients that a test makes find the bucket, which is there until the process ends.
func ServeS3(t *testing.T) *S3 {
	t.Helper()
	s, err := oneS3()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s.url, "AWS_ACCESS_KEY_ID": "custodian", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	return s
}

// Put places an object.
func (s *S3) Put(t *testing.T, key string, text []byte) {
	t.Helper()
	if _, err := s.objects.PutObject("custodian", key, nil, bytes.NewReader(text), int64(len(text)), nil); err != nil {
		t.Fatal(err)
	}
}

// Break has the next answers to reads of objects, or to writes, go wrong: "torn" ends after half of
// an object, "damaged" has another last byte, "busy" asks to come again, "refused" refuses.
func (s *S3) Break(faults ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

// due returns the next fault.
func (s *S3) due() (fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	return fault
}

// ServeHTTP implements http.Handler.
func (s *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name := range r.Header {
		if strings.Contains(strings.ToLower(name), "checksum") || strings.Contains(r.Header.Get(name), "aws-chunked") {
			http.Error(w, fmt.Sprint("what is ", name), http.StatusNotImplemented)
			return
		}
	}
	fault := ""
	if _, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); key != "" && (r.Method == http.MethodGet || r.Method == http.MethodPut) {
		fault = s.due()
	}
	switch fault {
	case "":
		s.server.ServeHTTP(w, r)
		return
	case "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "refused":
		w.WriteHeader(http.StatusForbidden)
		return
	}
	whole := httptest.NewRecorder()
	s.server.ServeHTTP(whole, r)
	text := whole.Body.Bytes()
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if fault == "damaged" {
		text[len(text)-1] ^= 1
		w.Write(text)
		return
	}
	w.Write(text[:len(text)/2])
	w.(http.Flusher).Flush() // or the client would ask again by itself
	panic(http.ErrAbortHandler)
}
