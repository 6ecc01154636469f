package paper

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// Across lists the mixtures of Mixtures that have a Gaussian of each group, each once.
func TestAcross(t *testing.T) {
	var all []Gaussian
	for i := range 6 {
		all = append(all, Line(float64(i), 1))
	}
	for _, sizes := range [][]int{{6}, {2, 4}, {1, 2, 3}, {1, 1, 1, 3}} {
		var groups [][]Gaussian
		var group []int
		at := 0
		for g, size := range sizes {
			groups = append(groups, all[at:at+size])
			at += size
			for range size {
				group = append(group, g)
			}
		}
		for k := len(sizes); k <= 4; k++ {
			for units := len(sizes); units <= 5; units++ {
				every, err := Mixtures(all, k, units)
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]bool{}
				for i := range every.Len() {
					index, share := every.Terms(i)
					var has []int
					for _, g := range index {
						has = append(has, group[g])
					}
					if slices.Sort(has); len(slices.Compact(has)) == len(sizes) {
						want[fmt.Sprint(index, share)] = true
					}
				}
				got, err := Across(groups, k, units)
				if err != nil {
					t.Fatal(err)
				}
				if float64(got.Len()) != CountAcross(sizes, k, units) || got.Len() != len(want) {
					t.Fatalf("groups of %d, k %d, %d units: %d mixtures, %v counted, want %d", sizes, k, units, got.Len(), CountAcross(sizes, k, units), len(want))
				}
				for i := range got.Len() {
					if index, share := got.Terms(i); !want[fmt.Sprint(index, share)] {
						t.Fatalf("groups of %d, k %d, %d units: %v %v", sizes, k, units, index, share)
					}
				}
			}
		}
	}
	if _, err := Across([][]Gaussian{all[:1], all[1:2], all[2:]}, 2, 4); err == nil || errors.Is(err, ErrTooMany) {
		t.Errorf("three groups, two components: %v", err)
	}
}
