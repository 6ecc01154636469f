package objects

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/parquet"
)

// Files returns the objects that an input names: itself, or those of a pattern in the order of
// their names.
func Files(ctx context.Context, input string) ([]string, error) {
	if !strings.ContainsAny(input, marks) {
		return []string{input}, nil
	}
	files, err := connect(input)
	if err != nil {
		return nil, unreadable(err)
	}
	if _, err := files.Size(ctx, input); err == nil {
		return []string{input}, nil
	}
	paths, err := files.List(ctx, input)
	if err != nil {
		return nil, unreadable(err)
	}
	if len(paths) == 0 {
		return nil, &source.Error{Field: "input", Wanted: "a pattern that matches objects", Got: input + ", which matches none", Hint: "check the name, and quote the pattern"}
	}
	slices.Sort(paths)
	return paths, nil
}

// File opens one object, of text that is written so. Of Parquet, which is not read from front to
// back, a copy is made on the disk, without a name.
func File(path string, d source.Dialect) (source.Reader, error) {
	files, err := connect(path)
	if err != nil {
		return nil, unreadable(err)
	}
	in, err := files.OpenRead(context.Background(), path)
	if err != nil {
		return nil, unreadable(err)
	}
	if !strings.HasSuffix(strings.ToLower(path), ".parquet") {
		return d.CSV(path, in)
	}
	defer in.Close()
	file, err := nameless()
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(file, in); err != nil {
		return nil, errors.Join(unreadable(err), file.Close())
	}
	return parquet.Of(path, file)
}

func unreadable(err error) error {
	return &source.Error{Field: "input", Wanted: "an object that can be read", Got: err.Error(), Hint: "check the name, and the credentials"}
}
