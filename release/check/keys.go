package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Keys reports a key that readers would not agree about: one that an object has twice, or that is
// not written in small letters, as all keys of a release are. Some programs take the first of two,
// some the last; some take "EPSILON" for "epsilon", some leave it out. The names of columns, the
// keys of the objects named "by", may be written in any way.
//
// What is no JSON it leaves to others.
func Keys(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := value(decoder, "", false); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// value reads the next value; path is where it is, and free says that its keys are names.
func value(decoder *json.Decoder, path string, free bool) error {
	token, err := decoder.Token()
	if err != nil {
		return io.EOF // of no JSON
	}
	seen := map[string]bool{}
	switch token {
	case json.Delim('['):
		for decoder.More() {
			if err := value(decoder, path, false); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		for decoder.More() {
			token, err := decoder.Token()
			if err != nil {
				return io.EOF
			}
			key := token.(string)
			at := strings.TrimPrefix(path+"."+key, ".")
			if seen[key] {
				return fmt.Errorf("%s: want every key once, got it twice; the file was altered: do not rely on it", at)
			}
			if seen[key] = true; !free && strings.ToLower(strings.ToUpper(key)) != key {
				return fmt.Errorf("%s: want keys in small letters, got %q; the file was altered: do not rely on it", at, key)
			}
			if err := value(decoder, at, key == "by"); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = decoder.Token() // what closes it
	return err
}
