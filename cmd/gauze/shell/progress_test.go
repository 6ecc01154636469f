package shell

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out, "plain", false)
	p.Read(1<<20, .336)
	p.Read(1<<20+1, .4)
	p.Read(2<<20, 0)
	if got := out.String(); got != "1,048,576 rows read, 34 % of the file\n2,097,152 rows read\n" {
		t.Errorf("got %q", got)
	}
}

// A program that shows a bar takes its lines apart without reading words.
func TestLinesForAProgram(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out, "plain", true)
	p.Step(`"range"`, .25)
	p.Step("moments", .5)
	p.End()
	for line := range strings.Lines(out.String()) {
		var got struct {
			Progress string
			Spent    float64
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Progress == "" || got.Spent < .25 {
			t.Errorf("%q: %v", line, err)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want 2: %q", n, out.String())
	}
}
