package objects

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/beam/objects/fake"
	"github.com/gauze-dp/gauze/source"
)

// A read of S3 that fails is an error, and the next one is none; the server is asked again where it
// says so; what was torn or damaged on the way is known to be.
func TestS3Faults(t *testing.T) {
	const n = 100
	server := fake.ServeS3(t)
	defer server.Break()
	s, worker := begin(t, fake.BucketS3+"faults", n)
	rows := fill(s, 1, n)[0]
	object, at, _ := s.Place(rows)
	server.Break("busy", "busy")
	if err := s.Write("ask", []byte("what")); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []string{"torn", "damaged", "refused", "busy"} {
		text, err := []byte(nil), error(nil)
		for _, read := range []func(){
			func() { text, err = worker.Read("ask") },
			func() {
				var leave func()
				if _, leave, err = worker.Rows(object, at, n); err == nil {
					text = []byte("what")
					leave()
				}
			},
		} {
			clear(worker.cache.held)
			server.Break(fault)
			read()
			if fault == "busy" && (err != nil || string(text) != "what") || fault != "busy" && err == nil || fault == "damaged" && !errors.Is(err, errTorn) {
				t.Errorf("%s: %q, %v", fault, text, err)
			}
			if read(); err != nil || string(text) != "what" {
				t.Errorf("after %s: %q, %v", fault, text, err)
			}
		}
	}
	server.Break("refused")
	if err := worker.Write("answer", []byte("a sum")); err == nil || worker.there("answer") == nil {
		t.Errorf("an answer that was refused is one: %v", err)
	}
	later := fill(s, 1, n)[0]
	object, at, _ = s.Place(later)
	server.Break("refused", "refused")
	if err := s.Write("ask", nil); err != nil {
		t.Fatal(err)
	}
	got, leave, err := worker.Rows(object, at, n)
	if err != nil || !slices.Equal(got, later) {
		t.Fatalf("a copy is not tried again: %v", err)
	}
	leave()
}

// Lists are of more names than a server says at a time, and the names of a pattern are those that a
// folder's files would be found by.
func TestS3Names(t *testing.T) {
	server := fake.ServeS3(t)
	s, worker := begin(t, fake.BucketS3+"names", 1)
	const many = 2345
	for i := range many {
		server.Put(t, fmt.Sprintf("%s/answer.%d", s.Folder()[len(fake.BucketS3):], i), nil)
		server.Put(t, fmt.Sprintf("many/%d.csv", i), []byte("x\n1\n"))
	}
	if names, err := worker.Names("answer."); err != nil || len(names) != many || slices.Contains(names, "open") {
		t.Errorf("%d names (%v)", len(names), err)
	}
	for _, name := range []string{"many/a/1.csv", "many/.csv.gz", "odd/a b+%[1].csv", "odd/a b+%1.csv"} {
		server.Put(t, name, []byte("x\n1\n"))
	}
	for pattern, want := range map[string]int{"many/*.csv": many, "many/1?.csv": 10, "many/[12].csv": 2, "many/*/*.csv": 1, "many/*gz": 1, "m*/7.csv": 1, "odd/a b+%[1].csv": 1,
		"odd/*": 2, "many/7.csv": 1, "not there": 1} {
		if got, err := Files(t.Context(), fake.BucketS3+pattern); err != nil || len(got) != want || !slices.IsSorted(got) {
			t.Errorf("%s: %d names, want %d (%v)", pattern, len(got), want, err)
		}
	}
	for _, pattern := range []string{"none/*", "many/[.csv"} {
		if names, err := Files(t.Context(), fake.BucketS3+pattern); !errors.As(err, new(*source.Error)) {
			t.Errorf("%s: %v, %v", pattern, names, err)
		}
	}
}

// Without parts of what was given up, and without a name that is none.
func TestS3Odd(t *testing.T) {
	fake.ServeS3(t)
	for _, in := range []string{"s3://", "s3://custodian", "s3:///shards", "s3://other/shards"} {
		if s, err := New(in); in != "s3://custodian" && !errors.As(err, new(*source.Error)) {
			t.Errorf("%s: %v", in, err)
		} else if err == nil {
			s.Close()
		}
	}
	for _, in := range []string{"s3://", "s3://custodian", "s3:///shards"} {
		if _, err := File(in, source.Dialect{}); !errors.As(err, new(*source.Error)) {
			t.Errorf("%s: %v", in, err)
		}
	}
	s, worker := begin(t, fake.BucketS3+"odd names/a+b%c", 1)
	text := bytes.Repeat([]byte("large"), 3<<20) // three parts, where there are some
	if err := s.Write("large", text); err != nil {
		t.Fatal(err)
	}
	if got, err := worker.Read("large"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d (%v)", len(got), len(text), err)
	}
}
