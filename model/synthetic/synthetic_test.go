package synthetic

import (
	"strconv"
	"testing"
)

func TestNumbersReadBack(t *testing.T) {
	for _, v := range []float64{0, -0.5, 1e-7, 123456.789, 1e15, -1e300, 5e-324, 40, 1e14, 0.1} {
		text := string(appendNumber(nil, v))
		if got, err := strconv.ParseFloat(text, 64); err != nil || got != v {
			t.Errorf("%v is written as %s", v, text)
		}
	}
	if got := string(appendRow(nil, []float64{1000000, 0.25}, nil)); got != "1000000,0.25\n" {
		t.Errorf("got %q", got)
	}
}
