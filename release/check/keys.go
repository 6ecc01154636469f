package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Keys returns the first key that readers would disagree about: one that an object has twice, or
// that is not in small letters, as all keys of a release are. Some programs take the first of two,
// some the last; some take "EPSILON" for "epsilon", some leave it out. The names of columns, the
// keys of the objects named "by", "categories" and "missing", may be written in any way.
//
// It ignores text that is not JSON.
func Keys(data []byte) *Fault {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a number too large is no error here
	fault, _ := value(decoder, "", false)
	return fault
}

// value reads the next value; path is its place, and free says that its keys are names. An error
// means that the text is not JSON.
func value(decoder *json.Decoder, path string, free bool) (*Fault, error) {
	token, err := decoder.Token()
	open, nested := token.(json.Delim)
	if err != nil || !nested {
		return nil, err
	}
	seen := map[string]bool{}
	for decoder.More() {
		at, by := path, false
		if open == '{' {
			token, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			key := token.(string)
			at, by = strings.TrimPrefix(path+"."+key, "."), key == "by" || key == "categories" || key == "missing"
			if seen[key] {
				return &Fault{at, "every key once", "it twice"}, nil
			}
			if seen[key] = true; !free && strings.ToLower(strings.ToUpper(key)) != key {
				return &Fault{at, "keys in small letters", fmt.Sprintf("%q", key)}, nil
			}
		}
		if fault, err := value(decoder, at, by); fault != nil || err != nil {
			return fault, err
		}
	}
	_, err = decoder.Token() // the closing token
	return nil, err
}
