package progress

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	var out strings.Builder
	p := New(&out, "plain", false)
	p.Read(1<<20, .336)
	p.Read(1<<20+1, .4)
	p.Read(2<<20, 0)
	if got := out.String(); got != "1,048,576 rows read, 34 % of the file\n2,097,152 rows read\n" {
		t.Errorf("got %q", got)
	}
}
