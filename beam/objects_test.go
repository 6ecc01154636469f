package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/gauze-dp/gauze/beam/objects/fake"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/source/parsed"
)

// upload puts the files of a pattern into a bucket, packed if that is asked for.
func upload(t *testing.T, files, to string, pack bool) (pattern string) {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	suffix := filepath.Ext(files)
	if pack {
		suffix += ".gz"
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if pack {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(text)
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			text = packed.Bytes()
		}
		put(t, to+strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))+suffix, text)
	}
	return to + "*" + suffix
}

func bucket(t *testing.T) filesystem.Interface {
	t.Helper()
	fake.Serve(t)
	files, err := filesystem.New(t.Context(), fake.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func put(t *testing.T, name string, text []byte) {
	t.Helper()
	out, err := bucket(t).OpenWrite(t.Context(), name)
	if err == nil {
		_, err = out.Write(text)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Inputs and shards lie in a bucket, of which nothing is left but the inputs.
func TestBucket(t *testing.T) {
	input := upload(t, files(t, 3, 10_000), fake.Bucket+"visits/", true)
	before, err := bucket(t).List(t.Context(), fake.Bucket+"**")
	if err != nil {
		t.Fatal(err)
	}
	var parsing, summing int
	code, stdout, stderr := run(t, t.Context(), func(s store) sharded.Scheduler {
		return schedule(func(ctx context.Context, items []string) error {
			if summing++; parsed.Is(items[0]) {
				parsing, summing = len(items), 0
			}
			return beamed{s.Folder()}.Run(ctx, items)
		})
	}, input, "--components", "1", "--shards", fake.Bucket+"shards")
	if code != shell.CodeOK || parsing != 3 || summing == 0 || !strings.Contains(stderr, "30,000 rows read, 30 bad") {
		t.Fatalf("code %d, %d files, workers were asked %d times: %s", code, parsing, summing, stderr)
	}
	if mean := read(t, stdout).Model.Components[0].Mean; len(mean) != 2 || mean[0] < 99 || mean[0] > 101 || mean[1] < -1 || mean[1] > 1 {
		t.Errorf("the mean is %v", mean)
	}
	after, err := bucket(t).List(t.Context(), fake.Bucket+"**")
	if err != nil || len(after) != len(before) {
		t.Errorf("left: %v (%v), before: %v", after, err, before)
	}
}

// One object, plain or Parquet, is read here, and what cannot be read is an input's mistake.
func TestObjectInputs(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("..", "source", "parquet", "testdata", "v2-zstd-dictionary.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, fake.Bucket+"one.parquet", table)
	put(t, fake.Bucket+"one.csv", []byte("x,y\n1,2\n"))
	put(t, fake.Bucket+"odd[1].csv", []byte("x,y\n1,2\n"))
	for input, columns := range map[string]string{"one.csv": "x,y", "odd[1].csv": "x,y", "one.parquet": "double,int32"} {
		code, _, stderr := run(t, t.Context(), func(s store) sharded.Scheduler { return alone{s} }, fake.Bucket+input, "--components", "1", "--columns", columns)
		if strings.Contains(stderr, "input") || !strings.Contains(stderr, "read") {
			t.Errorf("%s: code %d: %s", input, code, stderr)
		}
	}
	for _, input := range []string{fake.Bucket + "gone.csv", fake.Bucket + "gone*.csv", "gs://other/*.csv", "gs://other/x.csv"} {
		code, _, stderr := run(t, t.Context(), func(s store) sharded.Scheduler { return alone{s} }, input)
		if code != shell.CodeBad || !strings.Contains(stderr, "input") {
			t.Errorf("%s: code %d: %s", input, code, stderr)
		}
	}
}

// heard is what Beam says.
type heard struct{ text strings.Builder }

// Log implements log.Logger.
func (h *heard) Log(_ context.Context, _ log.Severity, _ int, said string) { h.text.WriteString(said) }

// Dataflow is told a job that Beam can translate, in which stand the names of a store and of work.
func TestDataflow(t *testing.T) {
	fake.Serve(t)
	for name, value := range map[string]string{"runner": "dataflow", "environment_type": "DOCKER", "dry_run": "true", "project": "p", "region": "europe-west1", "staging_location": fake.Bucket + "staging"} {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Value.Set(before) })
	}
	var h heard
	log.SetLogger(&h)
	defer ready()
	folder := fake.Bucket + "shards/gauze-1"
	if err := (beamed{folder}).Run(t.Context(), []string{"7.1.0", "7.1.1"}); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"beam:transform:pardo:v1", "JOB_TYPE_BATCH", "europe-west1", fake.Bucket + "staging"} {
		if !strings.Contains(h.text.String(), said) {
			t.Errorf("%q is not in the job: %s", said, h.text.String())
		}
	}
}

// Workers of Dataflow see no folder: that is said before anything is spent.
func TestNoFolderForDataflow(t *testing.T) {
	f := flag.Lookup("runner")
	t.Cleanup(func() { f.Value.Set("") })
	code, _, stderr := run(t, t.Context(), func(s store) sharded.Scheduler { t.Error("workers were asked"); return nil }, files(t, 1, 10), "--runner", "dataflow")
	if code != shell.CodeBad || !strings.Contains(stderr, "--shards") {
		t.Errorf("code %d: %s", code, stderr)
	}
}
