package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// document is openapi.json as the server serves it.
type document struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct{ Schemas map[string]map[string]any }
}

// conforms reports an answer that is not as openapi.json says.
func (s *site) conforms(method, path string, status int, body []byte) {
	s.t.Helper()
	d := s.document
	if d == nil {
		d = &document{}
		_, text := s.send("", "GET", "/api/v1/openapi.json", "")
		if err := json.Unmarshal(text, d); err != nil {
			s.t.Fatal(err)
		}
		s.document = d
	}
	path, _, _ = strings.Cut(path, "?")
	for pattern, methods := range d.Paths {
		if !fits(pattern, path) {
			continue
		}
		responses := methods[strings.ToLower(method)].Responses
		answer, known := responses[fmt.Sprint(status)]
		media := "application/json"
		if !known {
			answer, media = responses["default"], "application/problem+json"
		}
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			s.t.Errorf("%s %s: %v", method, path, err)
		}
		if status < http.StatusBadRequest && !known {
			s.t.Errorf("%s %s: status %d is not in openapi.json", method, path, status)
		}
		if fault := d.fault(answer.Content[media].Schema, value, pattern); fault != "" {
			s.t.Errorf("%s %s: not as in openapi.json: %s\n%.500s", method, path, fault, body)
		}
	}
}

func fits(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}
	return true
}

// fault says where a value is not as its schema says, "" if it is: for what our schemas use.
func (d *document) fault(schema map[string]any, value any, at string) string {
	if ref, ok := schema["$ref"].(string); ok {
		return d.fault(d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")], value, at)
	}
	if some, ok := schema["anyOf"].([]any); ok {
		why := ""
		for _, one := range some {
			if why = d.fault(one.(map[string]any), value, at); why == "" {
				return ""
			}
		}
		return why
	}
	if kind, ok := schema["type"]; ok && !strings.Contains(fmt.Sprint(kind), kindOf(value)) && !(fmt.Sprint(kind) == "integer" && kindOf(value) == "number") {
		return fmt.Sprintf("%s: %v, got %v", at, kind, value)
	}
	switch value := value.(type) {
	case []any:
		for i, x := range value {
			if why := d.fault(schema["items"].(map[string]any), x, fmt.Sprintf("%s[%d]", at, i)); why != "" {
				return why
			}
		}
	case map[string]any:
		return d.faultOfObject(schema, value, at)
	}
	return ""
}

func (d *document) faultOfObject(schema, value map[string]any, at string) string {
	properties, closed := schema["properties"].(map[string]any)
	if required, ok := schema["required"].([]any); ok {
		for _, name := range required {
			if _, there := value[name.(string)]; !there {
				return fmt.Sprintf("%s.%s is missing", at, name)
			}
		}
	}
	for name, x := range value {
		of, known := properties[name].(map[string]any)
		if closed && !known {
			return fmt.Sprintf("%s.%s is not described", at, name)
		}
		if known {
			if why := d.fault(of, x, at+"."+name); why != "" {
				return why
			}
		}
	}
	return ""
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// A schema that is wrong is found.
func TestConforms(t *testing.T) {
	d := &document{}
	schema := map[string]any{}
	if err := json.Unmarshal([]byte(`{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": ["array", "null"], "items": {"type": "string"}}}, "required": ["a"]}`), &schema); err != nil {
		t.Fatal(err)
	}
	for text, right := range map[string]bool{`{"a": 1}`: true, `{"a": 1, "b": null}`: true, `{"a": 1, "b": ["x"]}`: true, `{"a": 1, "b": [2]}`: false,
		`{"b": []}`: false, `{"a": "1"}`: false, `{"a": 1, "c": 1}`: false, `[]`: false} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if why := d.fault(schema, value, "x"); (why == "") != right {
			t.Errorf("%s: %q", text, why)
		}
	}
}
