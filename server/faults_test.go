package server

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// Whatever is wrong with the rows, an analyst is told the same, at the same time of the slot, and
// the same is spent: a file that is gone, changed, ragged, or of other columns. The custodian is
// told what it was.
func TestFaultsOfRowsLookAlike(t *testing.T) {
	s := opened(t, func(c *Config) { c.Workers = 4 })
	faults := map[string]func(path string) error{
		"gone":    os.Remove,
		"changed": func(path string) error { return appended(path, "41,27\n") },
		"ragged":  func(path string) error { return appended(path, "41,27,3\n") },
		"other":   func(path string) error { return os.WriteFile(path, []byte("height\n1\n"), 0o600) },
	}
	told, kept := map[string]bool{}, map[string]bool{}
	ids := map[string]string{}
	for name, fault := range faults {
		path := s.table(2000)
		s.register(name, path, "")
		if err := fault(path); err != nil {
			t.Fatal(err)
		}
		before := s.wants(200, "lee", "GET", "/datasets/"+name, "")
		f := s.wants(202, "lee", "POST", "/fits", fmt.Sprintf(`{"dataset": %q, "epsilon": 1, "delta": 1e-7, "components": 1}`, name))
		ids[name] = f["id"].(string)
		if fmt.Sprint(before["rows"]) != "2000" {
			t.Errorf("%s: %v", name, before)
		}
	}
	for name, id := range ids {
		end := s.ended("lee", id)
		starts, _ := time.Parse(time.RFC3339, end["starts"].(string))
		due, _ := time.Parse(time.RFC3339, end["due"].(string))
		took := due.Sub(starts)
		spent := s.wants(200, "lee", "GET", "/datasets/"+name, "")["spent"]
		told[fmt.Sprint(end["state"], end["detail"], len(end), took, spent)] = true
		fault, _ := s.wants(200, "kim", "GET", "/fits/"+id, "")["custodian_fault"].(string)
		kept[fault] = true
		if fault == "" {
			t.Errorf("%s: the custodian is told nothing", name)
		}
	}
	if len(told) != 1 {
		t.Errorf("an analyst can tell what was wrong: %v", told)
	}
	if len(kept) < 2 {
		t.Errorf("the custodian is told: %v", kept)
	}
	text := s.logged.String()
	if strings.Contains(text, "41,27") || strings.Contains(text, "people.csv") {
		t.Errorf("the log has traces of rows: %s", text)
	}
}

func appended(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	return file.Close()
}

// Where the number of rows is private an analyst is never told it, nor anything of that size:
// answers are the same for a table and its neighbour.
func TestPrivateRows(t *testing.T) {
	s := opened(t)
	var answers [2][]string
	for i, rows := range []int{3000, 3001} {
		name := "people-" + fmt.Sprint(i)
		s.register(name, s.table(rows), `, "relation": "add-remove-one", "capacity": 4000`)
		for _, request := range [][2]string{{"GET", "/datasets/" + name}, {"POST", "/plans"}, {"POST", "/fits"}} {
			status, text := s.send("lee", request[0], "/api/v1"+request[1], fmt.Sprintf(`{"dataset": %q, "epsilon": 1, "delta": 1e-7, "components": 1}`, name))
			if status >= 300 {
				t.Fatalf("%v: %d %s", request, status, text)
			}
			said := strings.ReplaceAll(string(text), name, "NAME")
			if i := strings.Index(said, `"submitted"`); i > 0 { // times and ids differ
				said = said[strings.Index(said, `"dataset"`):i]
			}
			answers[i] = append(answers[i], said)
		}
		if kept := s.wants(200, "kim", "GET", "/datasets/"+name, "")["custodian"].(map[string]any); fmt.Sprint(kept["rows"]) != fmt.Sprint(rows) {
			t.Errorf("the custodian is told %v rows", kept["rows"])
		}
	}
	for j := range answers[0] {
		if answers[0][j] != answers[1][j] || strings.Contains(answers[0][j], "300") {
			t.Errorf("%s\n%s", answers[0][j], answers[1][j])
		}
	}
}
