package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	id := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
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
