package release

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/release/check"
)

// Read reads a release, in UTF-8 or in UTF-16 with its mark, or a bare model object as a release
// without a certificate, which promises nothing. It checks the format's version and the model;
// [Verify] checks the certificate.
func Read(r io.Reader) (*Release, error) {
	data, err := words.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("release: reading: %w", err)
	}
	bare, err := sniff(data)
	if err != nil {
		return nil, err
	}
	if f := check.Keys(data); f != nil && !bare {
		return nil, &Error{Field: f.Field, Wanted: f.Wanted, Got: f.Got, Hint: "the file was altered: do not rely on it"}
	}
	release := &Release{Format: Format}
	// Releases of versions before 0.1 mark the background beside the model.
	var old struct {
		Diagnostics struct{ Components []struct{ Background bool } }
	}
	if bare {
		err = json.Unmarshal(data, &release.Model)
	} else if err = json.Unmarshal(data, release); err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil {
		return nil, malformed(err)
	}
	if notes := old.Diagnostics.Components; release.Model != nil && release.Model.Background == nil && len(notes) == len(release.Model.Components) {
		for _, n := range notes {
			release.Model.Background = append(release.Model.Background, n.Background)
		}
	}
	release.Keep()
	return release, nil
}

// ReadFile reads a release from a file, as Read does.
func ReadFile(path string) (*Release, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	defer file.Close()
	release, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return release, nil
}

// Bare reports whether r is a model that came without a certificate.
func (r *Release) Bare() bool { return r.Certificate.Method == "" && len(r.Certificate.Plan) == 0 }

// sniff reports whether data is a bare model object or a release. It returns an error for anything
// else and for a release that Read cannot read.
func sniff(data []byte) (bare bool, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return false, malformed(err)
	}
	raw, isRelease := fields["format"]
	if !isRelease && fields["model"] == nil && (fields["kind"] != nil || fields["weights"] != nil) {
		return true, nil
	}
	var format string
	if !isRelease || json.Unmarshal(raw, &format) != nil {
		return false, &Error{Field: "format", Wanted: fmt.Sprintf("%q", Format), Got: "none",
			Hint: "name a release that gauze fit wrote, or a model object with columns, weights, means and covariances"}
	}
	if format != Format {
		hint := "it is not a release of Gauze"
		if strings.HasPrefix(format, "gauze/release/") {
			hint = "another version of gauze wrote it: read it with that one"
		}
		return false, &Error{Field: "format", Wanted: fmt.Sprintf("%q", Format), Got: fmt.Sprintf("%q", format), Hint: hint}
	}
	if m := fields["model"]; (m == nil || string(m) == "null") && fields["groups"] == nil && fields["profile"] == nil {
		return false, &Error{Field: "model", Wanted: "a mixture", Got: "none", Hint: "the file is not whole: fetch it again"}
	}
	return false, nil
}

// malformed rewrites the errors of the JSON decoder; it passes on those of the model, which name
// their fields.
func malformed(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return &Error{Field: fmt.Sprintf("byte %d", syntax.Offset), Wanted: "one JSON object", Got: err.Error(), Hint: "the file is damaged or not a release"}
	case errors.As(err, &kind):
		return &Error{Field: cmp.Or(kind.Field, "file"), Wanted: jsonKind(kind.Type), Got: kind.Value, Hint: "the file was altered or is not a release"}
	}
	return fmt.Errorf("release: %w", err)
}

// jsonKind returns JSON's name for values of the type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map, reflect.Struct:
		return "a JSON object"
	case reflect.Slice, reflect.Array:
		return "a JSON array"
	case reflect.Bool, reflect.String:
		return "a " + t.Kind().String()
	default:
		return "a number"
	}
}
