package coreset

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// leaves is a coreset of leaves of side 1 at whole numbers, each of the given weight.
func leaves(dim int, sd float64, at map[int]float64) *Coreset {
	c := &Coreset{Dim: dim, SD: sd}
	for x := -100; x <= 100; x++ {
		if w, ok := at[x]; ok {
			c.addCell(w, 1, append([]float64{float64(x)}, make([]float64, dim-1)...)...)
		}
	}
	return c
}

func (c *Coreset) addCell(weight, side float64, at ...float64) {
	cell := make([]float64, len(at))
	for i := range cell {
		cell[i] = side * side / 12
	}
	c.Points, c.Cells, c.Weights, c.Total = append(c.Points, at), append(c.Cells, cell), append(c.Weights, weight), c.Total+weight
}

// TestClumps on leaves by hand: groups that an empty leaf divides, groups that a thin bridge joins
// until it does not count, groups that are too light; leaves that do not count join the nearest
// group.
func TestClumps(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    map[int]float64
		least float64
		want  []int // of the assignment with two groups; nil for none
	}{
		{"one group", map[int]float64{0: 5, 1: 9, 2: 5}, 1, nil},
		{"two groups", map[int]float64{0: 50, 1: 90, 3: 60, 4: 70}, 1, []int{0, 0, 1, 1}},
		{"one of them light", map[int]float64{0: 50, 1: 90, 3: 6}, 10, nil},
		{"a bridge", map[int]float64{0: 50, 1: 50, 2: 2, 3: 50, 4: 50}, 10, []int{0, 0, 0, 1, 1}},
		{"a light leaf far off", map[int]float64{0: 50, 1: 50, 5: 50, 6: 50, 60: 2}, 10, []int{0, 0, 1, 1, 1}},
	} {
		for dim := 1; dim <= 3; dim++ {
			var got []int
			for _, assign := range leaves(dim, 1, c.at).Clumps(c.least) {
				if slices.Max(assign) == 1 {
					got = assign
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, dimension %d: %v, want %v", c.name, dim, got, c.want)
			}
		}
	}
	if got := (&Coreset{Dim: 2}).Clumps(1); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// TestClumpsOfTwoScales: leaves of different sides touch where they meet, corners included.
func TestClumpsOfTwoScales(t *testing.T) {
	c := &Coreset{Dim: 2, SD: 1}
	c.addCell(40, 2, 0, 0)
	c.addCell(40, 1, 1.5, 1.5) // at the corner of the first
	c.addCell(40, .5, 2.25, 2.25)
	c.addCell(40, .5, 4, 4)
	for _, assign := range c.Clumps(10) {
		if want := []int{0, 0, 0, 1}; slices.Max(assign) == 1 && !reflect.DeepEqual(assign, want) {
			t.Errorf("got %v, want %v", assign, want)
		}
	}
	if len(c.Touching()[3]) != 0 || len(c.Touching()[1]) != 2 {
		t.Errorf("neighbours %v", c.Touching())
	}
}

// TestClumpsAreAssignments: on random leaves every assignment names the groups from 0 on, gives
// each of them enough rows, and no two have equally many.
func TestClumpsAreAssignments(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		c := clusteredCoreset(rng, 80, 1+rng.IntN(3), 1+rng.IntN(6))
		least := c.Total / 50
		seen := map[int]bool{}
		for _, assign := range c.Clumps(least) {
			k := slices.Max(assign) + 1
			mass := make([]float64, k)
			for i, a := range assign {
				if a < 0 {
					t.Fatalf("leaf %d is in no group: %v", i, assign)
				}
				mass[a] += c.Weights[i]
			}
			if slices.Min(mass) < least || k < 2 || seen[k] {
				t.Errorf("%d groups of %v, at least %v, after %v", k, mass, least, seen)
			}
			seen[k] = true
		}
	}
}

// TestDropLonely drops light leaves that touch no other, and nothing else.
func TestDropLonely(t *testing.T) {
	c := leaves(2, 3, map[int]float64{0: 4, 1: 4, 5: 14, 9: 16})
	c.OwnCells = .5
	c.DropLonely(5)
	if !slices.Equal(c.Weights, []float64{4, 4, 16}) || c.Total != 24 || c.SD != 3 || c.OwnCells != .5 || len(c.Cells) != 3 || c.Points[2][0] != 9 {
		t.Errorf("left: %+v", c)
	}
}

// TestDroppingTree: cells above Split are split, others above Keep kept with their noisy count, the
// rest dropped; at the last level nothing is split.
func TestDroppingTree(t *testing.T) {
	frame, half := box(1)
	tree := NewDroppingTree(frame, half, 2, 3, 60, Thresholds{Split: 8, Keep: 3})
	tree.Take([]float64{100, 31, 29, -500}, 10) // split; kept; dropped; dropped
	if c, ok := tree.Next(); !ok || !slices.Equal(c.Parents, []uint64{0}) {
		t.Fatalf("next: %+v", c)
	}
	tree.Take([]float64{1000, 20}, 10)
	if _, more := tree.Next(); more {
		t.Error("the tree goes beyond its last level")
	}
	c := tree.Coreset()
	if !slices.Equal(c.Weights, []float64{31, 1000}) || c.Total != 1031 || c.SD != 10 || c.Points[0][0] != -2 || c.Points[1][0] != -7 {
		t.Errorf("leaves: %+v", c)
	}
	few := NewDroppingTree(frame, half, 2, 3, 200, Thresholds{Split: 8, Keep: 3})
	few.Take([]float64{150, 0, 0, 0}, 10) // fewer rows than are ever split
	if _, more := few.Next(); more || len(few.Coreset().Points) != 1 {
		t.Errorf("a cell of few rows was split: %+v", few.Coreset())
	}
	if want := 4. / 12; math.Abs(tree.Finest()[0]-want) > 1e-12 { // 16 cut in 8
		t.Errorf("finest cells have the variance %v, want %v", tree.Finest(), want)
	}
}

// TestFitAll: without steps it is the M-step of the assignment; empty places are left out; the
// caller's assignment stays; of two that differ in the components' numbers the first counts.
func TestFitAll(t *testing.T) {
	rng := newRand(t)
	c := clusteredCoreset(rng, 60, 2, 3)
	assign, other := make([]int, 60), make([]int, 60)
	for i := range assign {
		assign[i], other[i] = []int{0, 2, 5}[i%3], []int{4, 0, 1}[i%3]
	}
	before := slices.Clone(assign)
	all := FitAll(t.Context(), c, [][]int{assign, make([]int, 60), other}, 0)
	if len(all) != 2 || len(all[1].Weights) != 1 {
		t.Fatalf("%d fits from two assignments", len(all))
	}
	got := all[0]
	if !slices.Equal(assign, before) || len(got.Weights) != 3 {
		t.Fatalf("%d components; the assignment is %v", len(got.Weights), assign)
	}
	for j := range 3 {
		mass, first := 0.0, 0.0
		for i := j; i < 60; i += 3 {
			mass, first = mass+c.Weights[i], first+c.Weights[i]*c.Points[i][0]
		}
		agree(t, "weight", got.Weights[j], mass/c.Total)
		agree(t, "mean", got.Means[j][0], first/mass)
	}
	mustPanic(t, "no points", func() { FitAll(t.Context(), &Coreset{Dim: 1}, [][]int{{}}, 1) })
	if none := FitAll(t.Context(), c, nil, 1); len(none) != 0 {
		t.Errorf("%d fits from no assignment", len(none))
	}
}

// TestOwnCells: with OwnCells a component's variance is that of its own leaves and a part of
// theirs, whatever the others; Cells says what theirs is.
func TestOwnCells(t *testing.T) {
	c := &Coreset{Dim: 1, SD: 1, OwnCells: .5}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		c.addCell(10*rng.ExpFloat64(), 1e-3, 1e-2*rng.NormFloat64())
		c.addCell(10*rng.ExpFloat64(), 8, 500+100*rng.NormFloat64())
	}
	assign := make([]int, 100)
	for i := range assign {
		assign[i] = i % 2
	}
	m := FitAll(t.Context(), c, [][]int{assign}, 0)[0]
	for j, side := range []float64{1e-3, 8} {
		mass, first, second := 0.0, 0.0, 0.0
		for i := j; i < 100; i += 2 {
			w, x := c.Weights[i], c.Points[i][0]
			mass, first, second = mass+w, first+w*x, second+w*x*x
		}
		want := second/mass - first*first/mass/mass + .5*side*side/12
		if got := m.Covs[j].At(0, 0); math.Abs(got-want) > 1e-6*want {
			t.Errorf("component %d: variance %v, want %v", j, got, want)
		}
		if got := m.Cells[j][0]; math.Abs(got-side*side/12) > 1e-9*got {
			t.Errorf("component %d: cells of %v, want %v", j, got, side*side/12)
		}
	}
	c.OwnCells = 0
	shared := FitAll(t.Context(), c, [][]int{assign}, 0)[0]
	if got := shared.Covs[0].At(0, 0); got < 1 {
		t.Errorf("of about one scale: the small component has the variance %v, want the others' cells in it", got)
	}
}
