package families

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// tables are the sorts of whole tables.
var tables = []sort{
	{UseOne, "far", [2]string{"around", "one-place"}, false, func(b *builder) { b.far(b.logBetween(.01, .1), b.logBetween(10, 100)) }},
	{UseOne, "far-off", [2]string{"around", "one-place"}, false, func(b *builder) { b.far(b.logBetween(.02, .12), b.logBetween(500, 5000)) }},
	{UseOne, "tailed-rows", [2]string{"t", "no-moments"}, false, (*builder).tailedRows},
	{UseOne, "one-hot", [2]string{"even", "uneven"}, false, (*builder).oneHot},
	{UseOne, "percent", [2]string{"shares", "rounded"}, false, (*builder).percent},
	{UseOne, "dependent", [2]string{"copy", "sum"}, false, (*builder).copied},
	{UseOne, "collinear", [2]string{"nearly", "rounded"}, true, (*builder).collinear},
	{UseOne, "order", [2]string{"sorted", "repeated"}, true, (*builder).ordered},
	{UseOne, "missing", [2]string{"rows", "cells"}, true, (*builder).missing},
	{UseOne, "binaries", [2]string{"all", "half"}, false, (*builder).binaries},
	{UseOne, "scales", [2]string{"apart", "extreme"}, true, (*builder).scales},
	{UseOne, "offset", [2]string{"large", "dates"}, true, (*builder).offset},
	{UseOne, "survey", [2]string{"small", "large"}, false, (*builder).survey},
	{UseOne, "cities", [2]string{"few", "many"}, false, (*builder).cities},
	{UseOne, "groups", [2]string{"even", "uneven"}, false, (*builder).groups},
	{UseOne, "wide", [2]string{"factors", "plain"}, true, (*builder).wide},
	{UseColumn, "overlap", [2]string{"two", "three"}, true, (*builder).overlapping},
	{UseColumn, "nests", [2]string{"two", "three"}, true, (*builder).nests},
	{UseColumn, "gaps", [2]string{"scales", "wide"}, true, (*builder).gaps},
	{UseColumn, "clusters-coded", [2]string{"nines", "minus"}, false, (*builder).codedLine},
	{UseAxis, "plain", [2]string{"few", "many"}, true, func(b *builder) { b.clusters(b.whole(2, 3), twin(b, b.whole(2, 4), b.whole(5, 10)), nil, 6) }},
	{UseAxis, "one-separates", [2]string{"few", "many"}, true, (*builder).oneSeparates},
	{UseAxis, "light", [2]string{"twentieth", "fiftieth"}, false, (*builder).light},
	{UseAxis, "background", [2]string{"box", "ball"}, false, (*builder).background},
	{UseAxis, "whole", [2]string{"undeclared", "declared"}, false, (*builder).wholeNumbers},
	{UseAxis, "correlated", [2]string{"one", "two"}, false, (*builder).correlated},
	{UseKnown, "known", [2]string{"diagonal", "full"}, true, func(b *builder) { b.known(0, 1) }},
	{UseKnown, "known-stray", [2]string{"few", "some"}, false, func(b *builder) { b.known(twin(b, b.logBetween(.005, .03), b.logBetween(.03, .1)), 1) }},
	{UseKnown, "known-wrong", [2]string{"wider", "narrower"}, false, func(b *builder) { b.known(0, twin(b, b.between(1.4, 2.5), b.between(.4, .7))) }},
}

// far puts a part of the rows a number of standard deviations away, in every direction or in one
// place.
func (b *builder) far(share, sds float64) {
	d := b.whole(1, 12)
	b.gaussians(d)
	b.say("%.3g of the rows at %.3g sd", share, sds)
	direction := make([]float64, d)
	for j := range direction {
		direction[j] = b.p.NormFloat64()
	}
	scale := make([]float64, d)
	for j, c := range b.cols {
		scale[j] = math.Abs(c[0]-c[1]) + math.Abs(c[2]-c[3]) // of the order of its spread
	}
	for i := range b.n {
		if b.rng.Float64() >= share {
			continue
		}
		b.stray(i)
		for j, c := range b.cols {
			way := direction[j]
			if !b.second {
				way = b.rng.NormFloat64()
			}
			c[i] += sds * scale[j] * way
		}
	}
}

// tailedRows draws those of a multivariate t.
func (b *builder) tailedRows() {
	degrees := twin(b, b.between(3, 6), b.between(.8, 2))
	b.t.NoMoments = b.second
	b.say("t%.2g", degrees)
	b.gaussians(b.whole(2, 10))
	centre := make([]float64, len(b.cols))
	for j, c := range b.cols {
		for _, x := range c {
			centre[j] += x / float64(b.n)
		}
	}
	for i := range b.n {
		s := math.Sqrt(degrees / distuv.ChiSquared{K: degrees, Src: b.rng}.Rand())
		for j, c := range b.cols {
			c[i] = centre[j] + s*(c[i]-centre[j])
		}
	}
}

// oneHot draws a column for each of the levels of a word.
func (b *builder) oneHot() {
	k := b.whole(3, twin(b, 4, 8))
	cumulative := make([]float64, k)
	for l := range cumulative {
		cumulative[l] = twin(b, 1, b.logBetween(.05, 1))
		if l > 0 {
			cumulative[l] += cumulative[l-1]
		}
	}
	b.gaussians(b.whole(0, 4))
	level := make([]int, b.n)
	for i := range level {
		level[i], _ = slices.BinarySearch(cumulative, cumulative[k-1]*b.rng.Float64())
	}
	b.say("%d levels", k)
	for l := range k {
		b.column(func(i int) float64 { return truth(level[i] == l) })
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// percent draws shares that sum to 100.
func (b *builder) percent() {
	k := b.whole(3, 6)
	shape := make([]float64, k)
	for l := range shape {
		shape[l] = b.logBetween(.5, 8)
	}
	rows := make([][]float64, b.n)
	for i := range rows {
		rows[i] = make([]float64, k)
		total := 0.0
		for l := range k {
			rows[i][l] = distuv.Gamma{Alpha: shape[l], Beta: 1, Src: b.rng}.Rand()
			total += rows[i][l]
		}
		for l := range k {
			rows[i][l] *= 100 / total
			if b.second {
				rows[i][l] = math.Round(rows[i][l])
			}
		}
	}
	b.gaussians(b.whole(0, 3))
	for l := range k {
		b.column(func(i int) float64 { return rows[i][l] })
	}
}

// copied has a column that is there twice, or one that is the sum of others.
func (b *builder) copied() {
	b.gaussians(b.whole(2, 8))
	first := b.cols
	b.column(func(i int) float64 {
		if !b.second {
			return first[0][i]
		}
		return first[0][i] + first[1][i]
	})
}

// collinear has two columns with a correlation near 1, or one that is the other's in other digits.
func (b *builder) collinear() {
	b.gaussians(b.whole(1, 6))
	first := b.cols[0]
	scale := math.Abs(first[0]-first[1]) + math.Abs(first[2]-first[3])
	by := b.logBetween(1e-4, 1e-2)
	b.column(func(i int) float64 {
		if b.second {
			return math.Round(first[i]/(by*scale)) * by * scale
		}
		return 2.54 * (first[i] + by*scale*b.rng.NormFloat64())
	})
}

// ordered draws rows in the order of a column, or each there several times.
func (b *builder) ordered() {
	b.gaussians(b.whole(1, 8))
	from := make([]int, b.n)
	times := b.whole(2, 4)
	for i := range from {
		from[i] = i - i%times
	}
	if !b.second {
		for i := range from {
			from[i] = i
		}
		slices.SortFunc(from, func(i, j int) int {
			if b.cols[0][i] < b.cols[0][j] {
				return -1
			}
			return 1
		})
	}
	for j, c := range b.cols {
		sorted := make([]float64, b.n)
		for i, at := range from {
			sorted[i] = c[at]
		}
		b.cols[j] = sorted
	}
}

// missing has rows without any value, or cells without.
func (b *builder) missing() {
	b.gaussians(b.whole(2, 8))
	share := twin(b, b.between(.2, .6), b.between(.01, .2))
	b.say("%.2g missing", share)
	for i := range b.n {
		none := b.rng.Float64() < share
		for _, c := range b.cols {
			if b.second {
				none = b.rng.Float64() < share
			}
			if none {
				c[i] = math.NaN()
			}
		}
	}
}

// binaries draws many columns of answers.
func (b *builder) binaries() {
	d := b.whole(25, 40)
	if b.second {
		b.gaussians(d / 2)
		d /= 2
	}
	for range d {
		p, lean := b.between(.1, .9), 0.0
		if len(b.cols) > 0 && b.p.Float64() < .5 {
			lean = b.between(-.5, .5)
		}
		last := []float64(nil)
		if lean != 0 {
			last = b.cols[len(b.cols)-1]
		}
		b.column(func(i int) float64 {
			q := p
			if last != nil && last[i] == 1 {
				q = min(1, max(0, p+lean))
			}
			return truth(b.rng.Float64() < q)
		})
	}
}

// scales draws Gaussian columns of units that no other sort has together.
func (b *builder) scales() {
	b.gaussians(b.whole(2, 8))
	units := []float64{1e-9, 1e12}
	if b.second {
		units = []float64{1e-140, 1e140}
	}
	for j, c := range b.cols {
		if j >= 2 && b.p.Float64() < .5 {
			continue
		}
		low, high := slices.Min(c), slices.Max(c)
		for i := range c {
			c[i] = units[j%2] * (c[i] - low) / (high - low)
		}
	}
}

// offset draws columns that are far from 0 in their own spread.
func (b *builder) offset() {
	d := b.whole(1, 6)
	for range d {
		at, sd := b.logBetween(1e8, 1e15), b.between(1, 100)
		if b.second {
			at, sd = b.between(1.2e9, 1.8e9), b.logBetween(1e3, 1e7) // seconds since 1970
		}
		b.column(func(int) float64 { return math.Round(at + sd*b.rng.NormFloat64()) })
	}
}

// survey draws a table like a register's: every column has some law.
func (b *builder) survey() {
	of := []string{"binary", "lattice", "few-values", "counts", "skew-mild", "zeros-half", "heaped", "bounded", "rounded", "equal-some", "gaussian", "zeros-mostly"}
	b.gaussians(b.whole(1, 3))
	for range b.whole(twin(b, 2, 6), twin(b, 5, 14)) {
		name := oneOf(b, of...)
		first := len(b.cols)
		b.say("%s", name)
		b.fill(columnLaws[slices.IndexFunc(columnLaws, func(l columnLaw) bool { return l.sort == name })])
		if b.p.Float64() < .3 {
			b.dependent(first)
		}
	}
}

// cities draws coordinates of people who live in a few places, and a column that depends on where.
func (b *builder) cities() {
	k := twin(b, b.whole(3, 5), b.whole(8, 15))
	x, y, income := make([]float64, k), make([]float64, k), make([]float64, k)
	spread := b.logBetween(.003, .1)
	for i := range k {
		x[i], y[i], income[i] = b.between(35, 60), b.between(-10, 30), b.between(1, 3)
	}
	at := make([]int, b.n)
	for i := range at {
		at[i] = min(b.rng.IntN(k), b.rng.IntN(k))
	}
	b.say("%d places of %.2g", k, spread)
	b.column(func(i int) float64 { return x[at[i]] + spread*b.rng.NormFloat64() })
	b.column(func(i int) float64 { return y[at[i]] + spread*b.rng.NormFloat64() })
	b.column(func(i int) float64 { return income[at[i]] * math.Exp(.4*b.rng.NormFloat64()) })
	b.gaussians(b.whole(0, 3))
}

// groups draws two or three kinds of rows, far apart; their joint mean and covariance are
// estimated.
func (b *builder) groups() {
	d := b.whole(1, 8)
	b.gaussians(d)
	share, shift := twin(b, .5, b.between(.05, .15)), make([]float64, d)
	b.say("%.2g shifted", share)
	for j, c := range b.cols {
		shift[j] = b.between(-12, 12) * (math.Abs(c[0]-c[1]) + math.Abs(c[2]-c[3]))
	}
	for i := range b.n {
		if b.rng.Float64() < share {
			for j, c := range b.cols {
				c[i] += shift[j]
			}
		}
	}
}

// wide draws more columns than usual, of a few factors or of as many as there are columns.
func (b *builder) wide() {
	d := b.whole(25, 50)
	if b.second {
		b.gaussians(d)
		return
	}
	factors := make([][]float64, b.whole(2, 5))
	for f := range factors {
		factors[f] = make([]float64, b.n)
		for i := range b.n {
			factors[f][i] = b.rng.NormFloat64()
		}
	}
	for range d {
		load, unit := make([]float64, len(factors)), b.unit()
		for f := range load {
			load[f] = b.p.NormFloat64()
		}
		b.column(func(i int) float64 {
			x := b.rng.NormFloat64()
			for f, l := range load {
				x += l * factors[f][i]
			}
			return unit * x
		})
	}
}
