package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MarshalJSON leaves out sensitivity, noise and mu of a measurement that states a Rényi curve in
// their place.
func (s PlanStep) MarshalJSON() ([]byte, error) {
	type plain PlanStep
	if s.Renyi == nil {
		return json.Marshal(plain(s))
	}
	return json.Marshal(struct {
		Step   string             `json:"step"`
		Query  string             `json:"query"`
		Count  int                `json:"count"`
		Pure   float64            `json:"pure,omitempty"`
		Mask   *Mask              `json:"mask,omitempty"`
		Renyi  map[string]float64 `json:"renyi"`
		Delta  float64            `json:"delta"`
		Source string             `json:"source,omitempty"`
	}{s.Step, s.Query, s.Count, s.Pure, s.Mask, s.Renyi, s.Delta, s.Source})
}

// Write writes r as indented JSON with a line end. Nothing is written if r cannot be read back: a
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
// An old file of that name stays as it was if anything fails. Whatever is no plain file (a pipe, a
// terminal) is written to directly.
func WriteWhole(path string, write func(io.Writer) error) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // replace what a link points to, not the link
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
	if out.Model == nil {
		return nil, &Error{Field: "model", Wanted: "a mixture", Got: "none", Hint: "set Release.Model"}
	}
	if err := out.Model.Validate(); err != nil {
		return nil, fmt.Errorf("release: model: %w", err)
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
	return layout(bytes.TrimSpace(compact.Bytes())), nil
}

// replace writes a new file in path's folder and renames it to path. Order: the data are on disk
// before the name is, so a crash leaves the old file or the new one.
func replace(path string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".release-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
		}
	}()
	if err = errors.Join(write(file), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		// The release is there by name already; a file system that cannot sync folders is no reason
		// to call it lost.
		_ = folder.Sync()
		folder.Close()
	}
	return nil
}

// layout indents compact JSON by two spaces, with every array of plain values on one line, so that
// a matrix has a line for each row.
func layout(compact []byte) []byte {
	var b bytes.Buffer
	depth := 0
	newline := func() {
		b.WriteByte('\n')
		for range depth {
			b.WriteString("  ")
		}
	}
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		switch c {
		case '"':
			end := i + stringLength(compact[i:])
			b.Write(compact[i:end])
			i = end - 1
		case '{', '[':
			if n := flatLength(compact[i:]); n > 0 {
				writeFlat(&b, compact[i:i+n])
				i += n - 1
				continue
			}
			b.WriteByte(c)
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			newline()
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// stringLength is the length of the string literal that data starts with.
func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// flatLength is the length of the array of plain values, or the empty object, that data starts
// with; 0 if it is neither.
func flatLength(data []byte) int {
	if data[0] == '{' {
		if data[1] == '}' {
			return 2
		}
		return 0
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += stringLength(data[i:]) - 1
		case '[', '{':
			return 0
		case ']':
			return i + 1
		}
	}
	return 0
}

// writeFlat writes such an array with a blank behind each comma.
func writeFlat(b *bytes.Buffer, data []byte) {
	for i := 0; i < len(data); i++ {
		if data[i] == '"' {
			n := stringLength(data[i:])
			b.Write(data[i : i+n])
			i += n - 1
			continue
		}
		b.WriteByte(data[i])
		if data[i] == ',' {
			b.WriteByte(' ')
		}
	}
}
