package partition

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// uniform are EM's starts.
func uniform(k int) func(start int) func() float64 {
	return func(start int) func() float64 { return rand.New(rand.NewPCG(uint64(start), uint64(k))).Float64 }
}

// unitBox is a box of scale 1 about a centre.
func unitBox(mass float64, center ...float64) Box {
	b := whole(len(center), mass)
	b.Center = center
	for j, c := range center {
		b.Scale[j], b.Low[j], b.High[j] = 1, c-reach, c+reach
	}
	return b
}

// setOf is a set whose leaves are n points of a mixture on a line, weighted at random.
func setOf(rng *rand.Rand, number, n, components int) set {
	leaves := &coreset.Coreset{Dim: 1, SD: 1 + 5*rng.Float64()}
	for i := range n {
		w := 5 + 60*rng.Float64()
		leaves.Points = append(leaves.Points, []float64{3*float64(i%components) - 3 + .4*rng.NormFloat64()})
		leaves.Weights = append(leaves.Weights, w)
		leaves.Cells = append(leaves.Cells, []float64{.02})
		leaves.Total += w
	}
	return set{Box: unitBox(leaves.Total, 1000*float64(number)), Columns: []int{0}, Leaves: leaves}
}

// numbers are how many of the components lie in each of the sets of setOf.
func numbers(sets int, cs []component.Gaussian) []int {
	out := make([]int, sets)
	for _, c := range cs {
		out[int(math.Round(c.Mean[0]/1000))]++
	}
	return out
}

// TestShare: components are shared out as well as trying all ways does.
func TestShare(t *testing.T) {
	rng := newRand(t)
	for range 25 {
		var sets []set
		rows := 0.0
		for b := range 1 + rng.IntN(3) {
			s := setOf(rng, b, 1+rng.IntN(15), 1+rng.IntN(3))
			if rng.IntN(6) == 0 {
				s.Leaves = &coreset.Coreset{Dim: 1, SD: 1} // nothing passed
			}
			sets, rows = append(sets, s), rows+s.Box.Mass
		}
		most := rng.IntN(8)
		penalty := []float64{0, .7, 3}[rng.IntN(3)]
		value := func(ks []int) (sum float64) {
			for b, k := range ks {
				s := sets[b]
				if sum -= penalty * float64(k) * s.bic(rows); len(s.Leaves.Points) > 0 {
					m, _ := coreset.Fit(t.Context(), s.Leaves, k, starts, uniform(k))
					sum += m.LogLik
				}
			}
			return sum
		}
		best := math.Inf(-1)
		var try func(ks []int, left int)
		try = func(ks []int, left int) {
			if len(ks) == len(sets) {
				best = math.Max(best, value(ks))
				return
			}
			others := len(sets) - len(ks) - 1
			for k := 1; k <= min(left-others, max(1, len(sets[len(ks)].Leaves.Points))); k++ {
				try(append(slices.Clone(ks), k), left-k)
			}
		}
		try(nil, max(most, len(sets)))
		cs, _ := share(t.Context(), sets, most, penalty, StartConfig{Rows: rows, Uniform: uniform})
		ks := numbers(len(sets), cs)
		if slices.Min(ks) < 1 || len(cs) > max(most, len(sets)) {
			t.Fatalf("%v components in the sets, at most %d", ks, most)
		}
		if got := value(ks); math.Abs(got-best) > 1e-9*(1+math.Abs(best)) {
			t.Errorf("penalty %v, at most %d: %v is worth %v, the best way %v", penalty, most, ks, got, best)
		}
		total := 0.0
		for _, c := range cs {
			total += c.Weight
			if !(c.Weight > 0) || !(c.Cov.At(0, 0) > 0) {
				t.Errorf("%+v", c)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("the weights sum to %v", total)
		}
	}
}

// TestPenalty: more components are taken where they cost less.
func TestPenalty(t *testing.T) {
	rng := newRand(t)
	sets := []set{setOf(rng, 0, 30, 3), setOf(rng, 1, 30, 1)}
	rows := sets[0].Box.Mass + sets[1].Box.Mass
	last := math.MaxInt
	for _, penalty := range []float64{0, .7, 5, 1e6} {
		cs, _ := share(t.Context(), sets, 9, penalty, StartConfig{Rows: rows, Uniform: uniform})
		n := len(cs)
		if n > last {
			t.Errorf("%d components at penalty %v, fewer at a smaller one", n, penalty)
		}
		last = n
	}
	if last != 2 {
		t.Errorf("%d components where each costs all that there is, want one for each box", last)
	}
}

// mixedTable is a table of two columns: two components in the first box, 4 sds apart in the first
// column, and one far away; and its boxes.
func mixedTable(rng *rand.Rand) (rows [][]float64, found []Box) {
	rows = draw(rng, []group{
		{3000, []float64{-2, 7e6}, []float64{1, 1e6}}, {3000, []float64{2, 7e6}, []float64{1, 1e6}}, {3000, []float64{5000, 7e6}, []float64{10, 3e6}},
	})
	one, two := whole(2, 6000), whole(2, 3000)
	one.Low, one.High, one.Center, one.Scale, one.Gain = []float64{-9, 1e6}, []float64{9, 14e6}, []float64{0, 7e6}, []float64{math.Sqrt(5), 1e6}, []float64{.3, 0}
	two.Low, two.High, two.Center, two.Scale = []float64{4900, -8e6}, []float64{5100, 22e6}, []float64{5000, 7e6}, []float64{10, 3e6}
	return rows, []Box{one, two}
}

// TestStart: where answers are exact, a box that holds two components is started with those; boxes
// that hold one, or that are as many as were asked for, with what they look like, and then nothing
// is measured.
func TestStart(t *testing.T) {
	rng := newRand(t)
	rows, found := mixedTable(rng)
	for _, rel := range relations {
		for _, c := range []struct{ asked, most, trees, components int }{{0, 10, 1, 3}, {2, 0, 0, 2}, {3, 0, 1, 5}, {0, 2, 1, 2}} {
			s := open(t, rows, 2, rel, kerneltest.Options{Exact: true})
			mu2 := treePart * s.Mu() * s.Mu()
			cs, held, err := Start(t.Context(), s.SubBudget(), treeStep, found, mu2, StartConfig{Components: c.asked, Most: c.most, Rows: 9000, Uniform: uniform})
			if err != nil {
				t.Fatal(err)
			}
			if want := Held(found); held > want*(1+1e-9) || c.asked != 2 && held < .99*want {
				t.Errorf("%+v: the boxes hold %.0f of %.0f rows", c, held, want)
			}
			total, spent, first := 0.0, 0.0, 0.0
			for _, g := range cs {
				total += g.Weight
				if g.Mean[0] < 100 {
					first += g.Weight
				}
			}
			for _, m := range s.Measurements() {
				spent += float64(m.Count) * m.Mu * m.Mu
			}
			if len(cs) > c.components || c.asked == 0 && len(cs) != c.components || math.Abs(total-1) > 1e-9 || math.Abs(first-2./3) > .02 {
				t.Errorf("%+v: %d components, weights %v in all and %v in the first box", c, len(cs), total, first)
			}
			if (spent > 0) != (c.trees > 0) || spent > mu2 {
				t.Errorf("%+v: trees cost %v of %v", c, spent, mu2)
			}
			if c.components != 3 {
				continue
			}
			slices.SortFunc(cs, func(a, b component.Gaussian) int { return cmp.Compare(a.Mean[0], b.Mean[0]) })
			for i, want := range [][4]float64{{-2, 7e6, 1, 1e6}, {2, 7e6, 1, 1e6}, {5000, 7e6, 10, 3e6}} {
				for j := range 2 {
					g, mean, sd := cs[i], want[j], want[2+j]
					if got := math.Sqrt(g.Cov.At(j, j)); math.Abs(g.Mean[j]-mean) > .3*sd || math.Abs(math.Log(got/sd)) > .3 {
						t.Errorf("component %d column %d: mean %v and sd %v, want %v and %v", i, j, g.Mean[j], got, mean, sd)
					}
				}
			}
		}
	}
}

// TestMixedColumns: a tree is made of the columns that look mixed most, in order, of others where
// none does, never of columns that were not looked at, and not of atoms if it can.
func TestMixedColumns(t *testing.T) {
	for _, c := range []struct {
		gain         []float64
		atom, unseen []int
		want         []int
	}{
		{[]float64{0, .5, 0}, nil, nil, []int{1}},
		{[]float64{.2, .5, .3, .4}, nil, nil, []int{1, 2, 3}},
		{[]float64{0, 0, 0}, nil, nil, []int{0, 1}},
		{[]float64{0, 0, 0}, []int{0}, nil, []int{1, 2}},
		{[]float64{0, 0, 0}, []int{2}, []int{0}, []int{1}},
		{[]float64{0, 0}, []int{1}, []int{0}, []int{1}},
		{[]float64{0}, []int{0}, nil, []int{0}},
	} {
		b := unitBox(1, c.gain...)
		b.Gain = c.gain
		for _, j := range c.unseen { // left out of Config.Columns
			b.Scale[j] = 0
		}
		for _, j := range c.atom {
			b.Atom[j] = true
		}
		if got := b.mixed(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
