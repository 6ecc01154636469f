package profile

import (
	"math"
	"slices"
	"testing"
)

// TestLonelyOctave: an octave that is hardly clear of the noise, far from all others, holds no
// rows, and neither do those beside it; one that is clear does.
func TestLonelyOctave(t *testing.T) {
	edges, zero := octaveEdges(1, 1)
	counts := make([]float64, len(edges)+1)
	one, far := slices.Index(edges, 1)+1, slices.Index(edges, math.Ldexp(1, 500))+1
	const clear = 4.6
	counts[one], counts[far], counts[far+1] = 100, 1.2*clear, 2
	var c column
	if c.readOctaves(edges, counts, zero, 1, clear); len(c.seen) != 1 || c.seen[0].low != 1 {
		t.Errorf("seen %v, want the octave from 1", c.seen)
	}
	counts[one], c = 0, column{}
	if c.readOctaves(edges, counts, zero, 1, clear); c.seen != nil {
		t.Errorf("seen %v, want nothing", c.seen)
	}
	counts[far] = 2 * clear
	if c.readOctaves(edges, counts, zero, 1, clear); len(c.seen) != 2 || c.seen[0].low != edges[far-1] {
		t.Errorf("seen %v, want two octaves from 2^500", c.seen)
	}
}

// TestEnds: a bin far out with a little more than its noise is no end of what is seen, however
// many rows the bins between have.
func TestEnds(t *testing.T) {
	b := bins{octaves: [2]float64{0, 40}}
	for i := range 40 {
		b.edges = append(b.edges, float64(i))
	}
	b.rows, b.sds = make([]float64, 41), slices.Repeat([]float64{1}, 41)
	b.rows[12], b.rows[32] = 100, 1.3
	for i := 13; i < 29; i++ {
		b.rows[i] = 1.2
	}
	if left, right := b.ends(); left != 12 || right != 29 {
		t.Errorf("ends %d and %d, want 12 and 29", left, right)
	}
}

// TestLaidBins: beyond the octaves that are seen bins widen by no more than a factor, so that rows
// just outside of the finest are not taken to be in the middle of a bin as wide as all others.
func TestLaidBins(t *testing.T) {
	c := column{cells: 1000, seen: []bin{{1, 2, 500, 5}, {2, 4, 500, 5}}}
	c.lay(5)
	for i := 2; i < len(c.bins.edges); i++ {
		before, width := c.bins.edges[i-1]-c.bins.edges[i-2], c.bins.edges[i]-c.bins.edges[i-1]
		if e := c.bins.edges[i-1]; e > 3.5 && width > 4.5*before {
			t.Errorf("after %v a bin of width %v follows one of %v", e, width, before)
		}
	}
}

// TestUnseenBesideAtom: where most cells are 0, an sd is not told if many of the others may lie
// beyond what is seen; and the noise of a mean grows by what clipping may have moved.
func TestUnseenBesideAtom(t *testing.T) {
	c := column{cells: 1000, cellsSD: 1, atoms: []atom{{0, 900, 5}}}
	c.list = []bin{{0, 0, 900, 5}, {1, 9, 60, 5}}
	c.mean, c.meanSD, c.sd, c.sdSD = 1, .1, 2, .1
	if p := c.profile(1000, 0); p.NoSD {
		t.Errorf("nothing is unseen, and the sd is not told: %v", p.Notes)
	}
	c.outside[1] = 40
	if p := c.profile(1000, 0); !p.NoSD || p.NoMean {
		t.Errorf("40 of 100 cells are unseen: NoSD %v, NoMean %v", p.NoSD, p.NoMean)
	}
	if c.unsureBy(c.hidden(), 10); math.Abs(c.meanSD-math.Hypot(.1, .2)) > 1e-12 {
		t.Errorf("noise of the mean %v", c.meanSD)
	}
}

// TestDividedRows: rows whose sum is known stay seen when a closer look divides them into bins that
// are all less than their noise.
func TestDividedRows(t *testing.T) {
	c := column{cells: 6000, seen: []bin{{0, 64, 6000, 60}}, fine: [2]float64{31, 32}}
	c.bins = bins{octaves: [2]float64{0, 64}, width: 1, looks: 3}
	for i := range 65 {
		c.bins.edges, c.bins.rows, c.bins.sds = append(c.bins.edges, float64(i)), append(c.bins.rows, 0), append(c.bins.sds, 25)
	}
	c.bins.rows, c.bins.sds = append(c.bins.rows, 0), append(c.bins.sds, 25)
	c.bins.rows[12], c.bins.rows[32] = 1400, 4600
	edges := slices.Clone(c.bins.edges)
	for i := 1; i < 64; i++ {
		edges = append(edges, 31+float64(i)/64)
	}
	edges = increasing(edges)
	rows := make([]float64, len(edges)+1)
	for i := range rows {
		if at, _ := slices.BinarySearch(edges, 31.0); i > at && i <= at+64 {
			rows[i] = 72
		}
	}
	at, _ := slices.BinarySearch(edges, 11.5)
	rows[at] = 1400
	c.join(edges, rows, 200)
	if c.settle(); c.hidden() > .2 {
		t.Errorf("%.2g of the cells are hidden", c.hidden())
	}
	c.outside[0] = 3500
	if c.decide(); c.reason != unresolved {
		t.Errorf("more than half is hidden: %q", c.reason)
	}
}

// TestSpreadOfOneBin: where all that is seen shares one bin, or what sums see is far wider than the
// bins, the noise of an sd covers that.
func TestSpreadOfOneBin(t *testing.T) {
	told := func(sd, noise float64, list ...bin) bool {
		c := column{cells: 1000, cellsSD: 1}
		c.list = list
		mean, binsSD, reach := c.byBins()
		c.mean, c.sd, c.sdSD, c.meanSD = mean, sd, noise, noise
		c.surer(c.ofBins(mean, binsSD, reach))
		return !c.profile(1000, 0).NoSD
	}
	if told(150, 25, bin{0, 400, 1000, 20}) {
		t.Error("one bin of width 400")
	}
	if !told(115, 1, bin{0, 400, 1000, 20}) {
		t.Error("one bin, and a clear sd")
	}
	if !told(150, 25, bin{0, 200, 500, 20}, bin{200, 400, 500, 20}) {
		t.Error("two bins")
	}
	if told(500, 25, bin{0, 200, 500, 20}, bin{200, 400, 500, 20}) {
		t.Error("two bins, and an sd that they do not show")
	}
}
