package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// TestPrint: what a Go program prints of a release has numbers and no addresses.
func TestPrint(t *testing.T) {
	rows := 20_000
	c := release.Certificate{Relation: "replace-one", Epsilon: 1, Delta: 1e-6, Method: "general", Rows: &rows}
	one := model.Mixture{Columns: []string{"age"}, Components: make([]model.Gaussian, 2), Weights: []float64{.9, .1}, Background: []bool{false, true}}
	r := &release.Release{Model: &one, Certificate: c}
	mean := &release.Noisy{Value: 42.5, Noise: .125}
	for _, got := range []string{fmt.Sprint(r), fmt.Sprint(c), fmt.Sprintf("%v", []*release.Noisy{mean}), fmt.Sprint(release.ColumnProfile{Name: "age", Mean: mean})} {
		if strings.Contains(got, "0xc") {
			t.Errorf("an address is printed: %s", got)
		}
	}
	if got, want := fmt.Sprint(r), "1 component over 1 column; epsilon = 1, delta = 1e-06 under replace-one: method general on 20,000 rows"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := fmt.Sprint(mean); got != "42.5 ± 0.12" {
		t.Errorf("got %q", got)
	}
	c.Rows = nil
	if got := fmt.Sprint(c); !strings.Contains(got, "private number of rows") {
		t.Errorf("got %q", got)
	}
}
