// Package families draws tables as people bring them. Every sort is there twice, as twins of other
// numbers or of another law; one of the two is for choosing constants on, and one is held out, by
// the parity of a hash of the sort's name, so that nobody chose by results.
package families

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// A Use is what is asked of a table.
type Use string

// The uses.
const (
	UseOne    Use = "one"    // one distribution: a mean and a covariance
	UseColumn Use = "column" // one column, as a mixture
	UseAxis   Use = "axis"   // clusters, aligned to the axes
	UseKnown  Use = "known"  // clusters of one known covariance
	// Several is several columns, as a mixture of any covariances.
	UseSeveral Use = "several"
)

// A Family draws tables of one sort.
type Family struct {
	Use        Use
	Sort, Twin string
	Held       bool // out: for judging, not for choosing
	// Kind: this is what the methods for the use are made for, and the mean and the covariance of
	// it are easy unless it is Grouped.
	Kind, Grouped bool
	// Rows are the least and the most of them, where the sort is about their number; else 0.
	Rows   [2]int
	second bool
	draw   func(*builder)
}

// Name returns "use/sort/twin".
func (f Family) Name() string { return fmt.Sprintf("%s/%s/%s", f.Use, f.Sort, f.Twin) }

// A Table is n rows with what is known of them.
type Table struct {
	Rows *mat.Dense // n x d; NaN is a missing cell
	What string     // the parameters that were drawn
	// Outliers marks the rows that are known not to belong to the rest; nil for none.
	Outliers []bool
	// Labels are the components that the rows were drawn from, 0 to Components-1; for an outlier
	// the component whose place it took; nil if there is only one.
	Labels     []int
	Components int // to be asked for
	// Declared is the unit of each column; nil for none.
	Declared []float64
	// Covariance is what is said to be known of every component; nil for nothing.
	Covariance [][]float64
	// Truth is the mixture that the rows without outliers were drawn from, if it is one of
	// Gaussians that the rows show; else nil.
	Truth *model.Mixture
	// NoMoments: the law has no covariance, so that no answer is right.
	NoMoments bool
}

// Streams of random numbers of one seed.
const (
	parameterStream = iota + 11
	tableStream
	againStream
)

// Draw draws a table of n rows: a function of family, seed and n. The parameters do not depend on
// n.
func (f Family) Draw(seed uint64, n int) *Table { return f.table(seed, tableStream, n) }

// Again draws other rows of the table of a seed.
func (f Family) Again(seed uint64, n int) *Table { return f.table(seed, againStream, n) }

func (f Family) table(seed, stream uint64, n int) *Table {
	b := &builder{p: rand.New(rand.NewPCG(seed, parameterStream)), rng: rand.New(rand.NewPCG(seed, stream)),
		n: n, second: f.second, t: &Table{Components: 1}}
	f.draw(b)
	b.finish()
	return b.t
}

// Families returns all families.
func Families() (out []Family) {
	add := func(l *columnLaw, u Use, sort string, twins [2]string, kind bool, draw func(*builder)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(sort)) // a hash takes everything
		held := int(h.Sum32()>>16) & 1
		for i, twin := range twins {
			out = append(out, Family{Use: u, Sort: sort, Twin: twin, Held: i == held, Kind: kind, Grouped: u == UseColumn && l == nil, Rows: rowsOf[sort], second: i == 1, draw: draw})
		}
	}
	for _, l := range columnLaws {
		add(&l, UseOne, l.sort, l.twins, l.kind, func(b *builder) { b.among(l) })
		add(&l, UseColumn, l.sort, l.twins, l.kind, func(b *builder) { b.alone(l) })
		if l.beside {
			add(&l, UseAxis, l.sort, l.twins, false, func(b *builder) { b.besideClusters(l) })
		}
	}
	for _, s := range slices.Concat(tables, mixtures) {
		add(nil, s.use, s.sort, s.twins, s.kind, s.draw)
	}
	return out
}

// A sort is one of whole tables.
type sort struct {
	use   Use
	sort  string
	twins [2]string
	kind  bool
	draw  func(*builder)
}

// A builder makes a table: columns first, then rows of them.
type builder struct {
	p, rng *rand.Rand // of the parameters, and of the rows
	n      int
	second bool // of the twins
	t      *Table
	cols   [][]float64
	// keep is that a column is not taken into another unit: its numbers mean something, or its unit
	// is declared.
	keep bool
	what []string
}

func (b *builder) say(format string, args ...any) {
	b.what = append(b.what, fmt.Sprintf(format, args...))
}

// finish takes the columns into units and puts them together, in a random order.
func (b *builder) finish() {
	d := len(b.cols)
	order := b.p.Perm(d)
	if b.keep {
		for j := range order {
			order[j] = j
		}
	}
	b.t.Rows = mat.NewDense(b.n, d, nil)
	for to, from := range order {
		for i, x := range b.cols[from] {
			b.t.Rows.Set(i, to, x)
		}
	}
	b.t.What = strings.Join(b.what, ", ")
}

func (b *builder) between(low, high float64) float64 { return low + (high-low)*b.p.Float64() }

func (b *builder) logBetween(low, high float64) float64 {
	return low * math.Pow(high/low, b.p.Float64())
}

// whole returns a whole number from low to high.
func (b *builder) whole(low, high int) int { return low + b.p.IntN(high-low+1) }

func oneOf[T any](b *builder, of ...T) T { return of[b.p.IntN(len(of))] }

// twin returns the first value for the first of the twins, and the second for the second.
func twin[T any](b *builder, first, second T) T {
	if b.second {
		return second
	}
	return first
}

// column appends one.
func (b *builder) column(cell func(i int) float64) {
	c := make([]float64, b.n)
	for i := range c {
		c[i] = cell(i)
	}
	b.cols = append(b.cols, c)
}

// stray marks a row as an outlier.
func (b *builder) stray(i int) {
	if b.t.Outliers == nil {
		b.t.Outliers = make([]bool, b.n)
	}
	b.t.Outliers[i] = true
}

// gaussians appends d correlated Gaussian columns in units of their own, some of them far from 0.
func (b *builder) gaussians(d int) {
	if d == 0 {
		return
	}
	factor := make([]float64, d*d)
	for i := range factor {
		factor[i] = b.p.NormFloat64()
	}
	at, unit := make([]float64, d), make([]float64, d)
	own := b.between(.3, 2) // of each column, against what it shares
	for j := range d {
		unit[j] = b.unit()
		at[j] = unit[j] * oneOf(b, 0.0, 1, 10, 300) * b.p.NormFloat64()
	}
	cols := make([][]float64, d)
	for j := range cols {
		cols[j] = make([]float64, b.n)
	}
	z := make([]float64, d)
	for i := range b.n {
		for j := range z {
			z[j] = b.rng.NormFloat64()
		}
		for j := range cols {
			x := own * math.Sqrt(float64(d)) * b.rng.NormFloat64()
			for a, v := range z {
				x += factor[j*d+a] * v
			}
			cols[j][i] = at[j] + unit[j]*x/math.Sqrt(float64(d))
		}
	}
	b.cols = append(b.cols, cols...)
}

// unit returns a column's unit: mostly like those of people, sometimes of any size.
func (b *builder) unit() float64 {
	if b.p.Float64() < .2 {
		return b.logBetween(1e-9, 1e12)
	}
	return b.logBetween(.01, 1e4)
}
