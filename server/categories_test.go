package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestCategoriesAtTheServer: a data set has columns of categories and dates in its schema, and an
// analyst plans and fits with them, or with some of the columns.
func TestCategoriesAtTheServer(t *testing.T) {
	s := opened(t)
	var b bytes.Buffer
	b.WriteString("age,ward,born\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "%.1f,%s,19%02d-0%d-11\n", 40+10*rand.NormFloat64(), []string{"a", "b", ""}[i%3], 50+rand.IntN(40), 1+i%9)
	}
	path := filepath.Join(s.in("kim"), "people.csv")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	set := `{"name": "people", "path": %q, "schema": {"columns": [{"name": "ward", "kind": "category", "categories": %s}, {"name": "age"}, {"name": "born", "kind": "date"}]}}`
	s.wants(201, "kim", "POST", "/datasets", fmt.Sprintf(set, path, `["a", "b"]`))
	s.wants(201, "kim", "POST", "/datasets/people/grants", `{"analyst": "lee", "epsilon": 9, "delta": 1e-5}`)
	for _, ask := range []string{`{"dataset": "people", "epsilon": 4, "delta": 1e-6, "components": 1}`, `{"dataset": "people", "columns": ["age", "ward"], "epsilon": 2, "delta": 1e-6, "components": 1}`} {
		s.wants(200, "lee", "POST", "/plans", ask)
		id := s.wants(202, "lee", "POST", "/fits", ask)["id"].(string)
		if end := s.ended("lee", id); end["state"] != "released" {
			t.Fatalf("%v, for the custodian %v", end, s.wants(200, "kim", "GET", "/fits/"+id, ""))
		}
		m := s.wants(200, "lee", "GET", "/releases/"+id, "")["model"].(map[string]any)
		ward, _ := m["categories"].(map[string]any)["ward"].(map[string]any)
		if fmt.Sprint(ward["values"]) != "[a b ]" {
			t.Errorf("%s: the categories are %v", ask, m["categories"])
		}
		if status, page := s.send("lee", "GET", "/api/v1/releases/"+id+"/report", ""); status != 200 || !bytes.Contains(page, []byte("Categories")) {
			t.Errorf("the report: %d %.200s", status, page)
		}
	}
}
