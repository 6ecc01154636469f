package release

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MarshalJSON leaves out sensitivity, noise and mu of a measurement that states a Rényi curve
// instead.
func (s PlanStep) MarshalJSON() ([]byte, error) {
	type plain PlanStep
	if s.Renyi == nil {
		return json.Marshal(plain(s))
	}
	return json.Marshal(struct { // the outer fields hide the inner ones
		plain
		Sensitivity *float64 `json:"sensitivity,omitempty"`
		Noise       *float64 `json:"noise,omitempty"`
		Mu          *float64 `json:"mu,omitempty"`
	}{plain: plain(s)})
}

// MarshalJSON leaves out epsilon and delta of a budget that was requested as rho alone: a 0 would
// say that nothing was lost.
func (c Certificate) MarshalJSON() ([]byte, error) {
	type plain Certificate
	if !c.Concentrated() {
		return json.Marshal(plain(c))
	}
	return json.Marshal(struct { // the outer fields hide the inner ones
		plain
		Epsilon *float64 `json:"epsilon,omitempty"`
		Delta   *float64 `json:"delta,omitempty"`
	}{plain: plain(c)})
}

// MarshalJSON leaves out epsilon and delta if the budget was requested as rho alone.
func (s Spent) MarshalJSON() ([]byte, error) {
	type plain Spent
	if s.Epsilon > 0 || s.Delta > 0 || s.Rho == 0 {
		return json.Marshal(plain(s))
	}
	return json.Marshal(struct {
		Mu  float64 `json:"mu"`
		Rho float64 `json:"rho"`
	}{s.Mu, s.Rho})
}

// Write writes r as indented JSON with a line end. It writes nothing if r cannot be read back: a
// model that is not valid, another format, a number that is not finite.
func Write(w io.Writer, r *Release) error {
	data, err := encode(r)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("release: writing: %w", err)
	}
	return nil
}

// WriteFile writes r to a file, as [WriteWhole] does.
func WriteFile(path string, r *Release) error {
	data, err := encode(r)
	if err != nil {
		return err
	}
	err = WriteWhole(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	var folder *Error
	if err != nil && !errors.As(err, &folder) {
		return fmt.Errorf("release: writing: %w", err)
	}
	return err
}

// WriteWhole writes a file whole or not at all: to a new file beside it, which then takes its name.
// An old file of that name stays as it was if anything fails. If path is no plain file (a pipe, a
// terminal), it is written to directly.
func WriteWhole(path string, write func(io.Writer) error) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // replace the target of a link, not the link
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return &Error{Field: "path", Wanted: "a file name", Got: "the folder " + path, Hint: "add a file name"}
	case err == nil && !info.Mode().IsRegular():
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return replace(path, write)
	}
	return err
}

func encode(r *Release) ([]byte, error) {
	out := *r
	if out.Format == "" {
		out.Format = Format
	}
	if out.Format != Format {
		return nil, &Error{Field: "format", Wanted: fmt.Sprintf("%q", Format), Got: fmt.Sprintf("%q", out.Format), Hint: "leave it empty"}
	}
	if out.Model == nil && out.Profile == nil && out.Groups == nil {
		return nil, &Error{Field: "model", Wanted: "a mixture", Got: "none", Hint: "set Release.Model"}
	}
	for _, m := range out.models() {
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("release: model: %w", err)
		}
	}
	if out.Certificate.Plan == nil {
		out.Certificate.Plan = []PlanStep{}
	}
	var compact bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&out); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	return layout(bytes.TrimSpace(compact.Bytes()))
}

// replace writes a new file in path's folder and renames it to path. Order: the data are on disk
// before the name is, so a crash leaves the old file or the new one.
func replace(path string, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o666) // less the umask; a file that is replaced keeps its own
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	file, err := os.OpenFile(filepath.Join(filepath.Dir(path), ".release-"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	if err = errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		// The release already has its name; a file system that cannot sync folders is no reason to
		// report it lost.
		_ = folder.Sync()
		folder.Close()
	}
	return nil
}

// layout indents compact JSON by two spaces, with every array of plain values on one line, so that
// a matrix has a line for each row.
func layout(compact []byte) ([]byte, error) {
	var indented, out bytes.Buffer
	if err := json.Indent(&indented, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	var array [][]byte // the last lines: one that opens an array, and plain values
	for line := range bytes.Lines(append(indented.Bytes(), '\n')) {
		text := bytes.TrimSpace(line)
		switch last := text[len(text)-1]; {
		case last == '[', last == '{':
			out.Write(bytes.Join(array, nil))
			if array = [][]byte{line}; last == '{' {
				array = nil
				out.Write(line)
			}
		case array == nil:
			out.Write(line)
		case text[0] == ']':
			out.Write(bytes.TrimRight(array[0], "\n"))
			for i, value := range array[1:] {
				if i > 0 {
					out.WriteByte(' ')
				}
				out.Write(bytes.TrimSpace(value))
			}
			out.Write(bytes.TrimLeft(line, " "))
			array = nil
		default:
			array = append(array, line)
		}
	}
	return out.Bytes(), nil
}
