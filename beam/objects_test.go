package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/parquet-go/parquet-go"

	"github.com/gauze-dp/gauze/beam/objects"
	"github.com/gauze-dp/gauze/beam/objects/fake"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
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
			text = []byte(packed(t, string(text)))
		}
		put(t, to+strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))+suffix, text)
	}
	return to + "*" + suffix
}

// buckets are those that tests have, by two protocols.
var buckets = []string{fake.Bucket, fake.BucketS3}

// bucket is the filesystem of a name.
func bucket(t *testing.T, name string) filesystem.Interface {
	t.Helper()
	if os.Getenv(role) == "" { // or another machine serves it
		fake.Serve(t)
		fake.ServeS3(t)
	}
	files, err := filesystem.New(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func put(t *testing.T, name string, text []byte) {
	t.Helper()
	out, err := bucket(t, name).OpenWrite(t.Context(), name)
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

// everywhere runs a test in all buckets.
func everywhere(t *testing.T, test func(t *testing.T, in string)) {
	for _, in := range buckets {
		t.Run(in[:2], func(t *testing.T) { test(t, in) })
	}
}

// Inputs and shards lie in a bucket, of which nothing is left but the inputs.
func TestBucket(t *testing.T) {
	everywhere(t, func(t *testing.T, in string) {
		input := upload(t, files(t, 3, 10_000), in+"visits/", true)
		var parsing, summing int
		code, stdout, stderr := run(t, t.Context(), func(s store) sharded.Scheduler {
			return schedule(func(ctx context.Context, items []string) error {
				if summing++; parsed.Is(items[0]) {
					parsing, summing = len(items), 0
				}
				return beamed{s.Folder()}.Run(ctx, items)
			})
		}, input, "--components", "1", "--shards", in+"shards")
		if code != shell.CodeOK || parsing != 3 || summing == 0 || !strings.Contains(stderr, "30,000 rows read, 30 bad") {
			t.Fatalf("code %d, %d files, workers were asked %d times: %s", code, parsing, summing, stderr)
		}
		if mean := read(t, stdout).Model.Components[0].Mean; len(mean) != 2 || mean[0] < 99 || mean[0] > 101 || mean[1] < -1 || mean[1] > 1 {
			t.Errorf("the mean is %v", mean)
		}
		if left, err := bucket(t, in).List(t.Context(), in+"shards/*/*"); err != nil || len(left) > 0 {
			t.Errorf("left: %v (%v)", left, err)
		}
	})
}

// What cannot be read is an input's mistake.
func TestObjectsGone(t *testing.T) {
	everywhere(t, func(t *testing.T, in string) {
		put(t, in+"odd[1].csv", []byte("x,y\n1,2\n"))
		input := func(name string) (code int, stderr string) {
			code, _, stderr = run(t, t.Context(), func(s store) sharded.Scheduler { return alone{s} }, name, "--components", "1")
			return code, stderr
		}
		if code, stderr := input(in + "odd[1].csv"); strings.Contains(stderr, "input") || !strings.Contains(stderr, "read") {
			t.Errorf("code %d: %s", code, stderr)
		}
		for _, name := range []string{in + "gone.csv", in + "gone*.csv", in[:5] + "other/*.csv", in[:5] + "other/x.csv"} {
			if code, stderr := input(name); code != shell.CodeBad || !strings.Contains(stderr, "input") {
				t.Errorf("%s: code %d: %s", name, code, stderr)
			}
		}
	})
}

// packed is a text by gzip.
func packed(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// table is Parquet of one row of x and y.
func table(t *testing.T, x, y float64) string {
	t.Helper()
	var out bytes.Buffer
	if err := parquet.Write(&out, []struct {
		X float64 `parquet:"x"`
		Y float64 `parquet:"y"`
	}{{x, y}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// everyRow is all rows of an input, and what is wrong with it.
func everyRow(t *testing.T, input string) (rows []string) {
	t.Helper()
	paths, err := inputs.Files(input), error(nil)
	if objects.Are(input) {
		if paths, err = objects.Files(t.Context(), input); err != nil {
			t.Fatal(err)
		}
	}
	r, err := source.OpenFiles(paths, file)
	if err != nil {
		return []string{err.Error()}
	}
	defer r.Close()
	columns := len(r.Header())
	values, kinds := make([]float64, columns), make([]source.Kind, columns)
	for {
		if err := r.Next(values, kinds, nil); err == io.EOF {
			return rows
		} else if err != nil {
			return append(rows, err.Error())
		}
		rows = append(rows, fmt.Sprint(values, kinds))
	}
}

// Rows of objects, and what is said of mistakes in them, are those of the same files of a folder.
func TestObjectsLikeFiles(t *testing.T) {
	const one, two = "x,y\n1,2\n3,\n\n", "y,x\r\n5,\"6\"\r\nseven,8\r\n"
	whole := packed(t, strings.Repeat("0.123456789,1\n", 5000))
	for name, files := range map[string]map[string]string{
		"csv": {"a.csv": one, "b.csv": two}, "one": {"a.csv": one}, "bytes": {"a.csv": "\xef\xbb\xbf" + one}, "one packed": {"a.csv.gz": packed(t, one)},
		"packed": {"a.csv.gz": packed(t, one), "b.csv.gz": packed(t, two)}, "mixed": {"a.csv": two, "b.csv.gz": packed(t, one), "c.parquet": table(t, 9, 10), "d.PARQUET": table(t, 11, 12)},
		"parquet": {"a.parquet": table(t, 1, 2)}, "other columns": {"a.csv": one, "b.csv": "x,z\n1,2\n"}, "more columns": {"a.parquet": table(t, 1, 2), "b.csv": "x,y,z\n1,2,3\n"},
		"empty": {"a.csv": ""}, "an empty one": {"a.csv": one, "b.csv": ""}, "an empty one first": {"a.csv": "", "b.csv": one}, "empty, packed": {"a.csv": one, "b.csv.gz": packed(t, "")},
		"empty Parquet": {"a.csv": one, "b.parquet": ""}, "header alone": {"a.csv": "x,y\n"}, "header alone in one": {"a.csv": one, "b.csv": "y,x"}, "blank": {"a.csv": "\n\n"},
		"not packed": {"a.csv": one, "b.csv.gz": one}, "packed by another name": {"a.csv": packed(t, one)}, "torn": {"a.csv": one, "b.csv.gz": whole[:len(whole)/2]},
		"torn alone": {"a.csv.gz": packed(t, one)[:30]}, "torn Parquet": {"a.csv": one, "b.parquet": table(t, 1, 2)[:100]}, "Parquet by another name": {"a.csv": table(t, 1, 2)},
		"a torn line": {"a.csv": one, "b.csv": "x,y\n1,2\n3\n"}, "a quote": {"a.csv": "x,y\n1,\"2\n"}, "semicolons": {"a.csv": "x;y\n1;2\n"}, "text": {"a.csv": "x,y\na,b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			said := func(in string) (rows []string, stderr string) {
				input := in + "*"
				if len(files) == 1 {
					for name := range files {
						input = in + name
					}
				}
				for _, row := range everyRow(t, input) {
					rows = append(rows, strings.ReplaceAll(row, in, "HERE/"))
				}
				code, _, stderr := run(t, t.Context(), func(s store) sharded.Scheduler { return alone{s} }, input, "--components", "1")
				return rows, fmt.Sprint(code, strings.ReplaceAll(stderr, in, "HERE/"))
			}
			rows, stderr := said(folder + "/")
			t.Logf("%q: %s", rows, stderr)
			for _, in := range buckets {
				in += strings.ReplaceAll(t.Name(), " ", "-") + "/"
				for name, text := range files {
					put(t, in+name, []byte(text))
				}
				if got, err := said(in); !slices.Equal(got, rows) || err != stderr {
					t.Errorf("%s: got %q, %s; want %q, %s", in, got, err, rows, stderr)
				}
			}
		})
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
