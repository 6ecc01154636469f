package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Groups are fitted as they are planned, and a log shows to a custodian what is theirs alone.
func TestGroupsAndLog(t *testing.T) {
	s := opened(t)
	var b bytes.Buffer
	b.WriteString("sex,age,bmi\n")
	for i := range 8000 {
		fmt.Fprintf(&b, "%s,%.1f,%.1f\n", []string{"f", "m"}[i%2], 40+10*rand.NormFloat64(), 25+3*rand.NormFloat64())
	}
	path := filepath.Join(s.in("kim"), "people.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s.wants(201, "kim", "POST", "/datasets", fmt.Sprintf(`{"name": "people", "path": %q, "schema": {"columns": [{"name": "age"}, {"name": "bmi"}], "by": [{"name": "sex", "categories": ["f", "m"]}]}}`, path))
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 9, "delta": 1e-5}`)
	ask := `{"dataset": "people", "by": ["sex"], "epsilon": 4, "delta": 1e-6, "components": 1}`
	s.wants(200, "lee", "POST", "/plans", ask)
	s.wants(422, "lee", "POST", "/plans", `{"dataset": "people", "by": ["sex"], "epsilon": 4, "delta": 0.01, "components": 1}`)
	// the schema's groups are used unless the ask says otherwise
	plain := `{"dataset": "people", "epsilon": 4, "delta": 1e-6, "components": 1}`
	if plan := s.wants(200, "lee", "POST", "/plans", plain); plan["relation"] != "add-remove-one" {
		t.Errorf("without by: a plan of one model, %v", plan)
	}
	one := `{"dataset": "people", "by": ["none"], "epsilon": 1, "delta": 1e-7, "components": 1}`
	if plan := s.wants(200, "lee", "POST", "/plans", one); plan["relation"] != "replace-one" {
		t.Errorf("by none: a plan of groups, %v", plan)
	}
	whole := s.wants(202, "lee", "POST", "/fits", one)["id"].(string)
	if end := s.ended("lee", whole); end["state"] != "released" || s.wants(200, "lee", "GET", "/releases/"+whole, "")["model"] == nil {
		t.Errorf("by none: %v", end)
	}
	id := s.wants(202, "lee", "POST", "/fits", plain)["id"].(string)
	if end := s.ended("lee", id); end["state"] != "released" {
		t.Fatalf("%v, for the custodian %v", end, s.wants(200, "kim", "GET", "/fits/"+id, ""))
	}
	if groups := s.wants(200, "lee", "GET", "/releases/"+id, "")["groups"].([]any); len(groups) != 2 {
		t.Errorf("%d groups", len(groups))
	}
	if status, page := s.send("lee", "GET", "/api/v1/releases/"+id+"/report", ""); status != 200 {
		t.Errorf("the report: %d %.200s", status, page)
	}
	if _, text := s.send("kim", "GET", "/api/v1/log?limit=500", ""); !bytes.Contains(text, []byte(`"released"`)) || !bytes.Contains(text, []byte("people/lee")) {
		t.Errorf("kim's log: %s", text)
	}
	if _, text := s.send("pat", "GET", "/api/v1/log?limit=500", ""); bytes.Contains(text, []byte("released")) || bytes.Contains(text, []byte("people")) || bytes.Contains(text, []byte("lee")) {
		t.Errorf("pat's log: %s", text)
	}
}

// A custodian who names no columns is told which hold numbers, and one whose table has several rows
// of a person has to say what is protected; once that is said, fits do not look again.
func TestRegistrationSays(t *testing.T) {
	s := opened(t)
	var b bytes.Buffer
	b.WriteString("patient_id,ward,age,bmi\n")
	for i := range 6000 {
		fmt.Fprintf(&b, "%d,%s,%.1f,%.1f\n", i/2, []string{"a", "b"}[i%2], 40+10*rand.NormFloat64(), 25+3*rand.NormFloat64())
	}
	path := filepath.Join(s.in("kim"), "visits.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, none := range []string{"", `, "columns": []`, `, "schema": {"columns": []}`} {
		p := s.wants(422, "kim", "POST", "/datasets", fmt.Sprintf(`{"name": "visits", "path": %q%s}`, path, none))
		if hint, _ := p["hint"].(string); p["field"] != "schema" || !strings.Contains(hint, `"age", "bmi"`) {
			t.Errorf("without columns%s: %v", none, p)
		}
	}
	with := `{"name": "visits", "path": %q, "schema": {"columns": [{"name": "age"}, {"name": "bmi"}]%s}}`
	p := s.wants(422, "kim", "POST", "/datasets", fmt.Sprintf(with, path, ""))
	if hint, _ := p["hint"].(string); p["field"] != "unit" || !strings.Contains(hint, "--unit patient_id") || !strings.Contains(hint, `--unit none`) {
		t.Errorf("without a unit: %v", p)
	}
	d := s.wants(201, "kim", "POST", "/datasets", fmt.Sprintf(with, path, `, "unit": "none"`))
	if d["unit"] != nil || d["rows"] != 6000. {
		t.Errorf("unit none: %v", d)
	}
	s.wants(201, "kim", "POST", "/datasets/visits/grants", `{"analyst": "lee", "epsilon": 9, "delta": 1e-5}`)
	id := s.wants(202, "lee", "POST", "/fits", `{"dataset": "visits", "epsilon": 4, "delta": 1e-6, "components": 1}`)["id"].(string)
	if end := s.ended("lee", id); end["state"] != "released" {
		t.Errorf("%v, for the custodian %v", end, s.wants(200, "kim", "GET", "/fits/"+id, ""))
	}
}
