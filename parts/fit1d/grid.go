package fit1d

import (
	"fmt"
	"math"
	"slices"
)

// A Grid holds the numbers Offset + k Unit. The zero value is no grid: any number.
type Grid struct{ Unit, Offset float64 }

// Beyond returns the middle between the greatest number of the lattice that is not above x and the
// next.
func (l Grid) Beyond(x float64) float64 {
	return l.Offset + (math.Floor((x-l.Offset)/l.Unit)+.5)*l.Unit
}

// Above returns the middle between the least number of the lattice that is not below x and the one
// before.
func (l Grid) Above(x float64) float64 {
	return l.Offset + (math.Ceil((x-l.Offset)/l.Unit)-.5)*l.Unit
}

// Words describes columns that seem to be recorded on the grid.
func (l Grid) Words() string {
	from := ""
	if l.Offset != 0 {
		from = fmt.Sprintf(", from %g on", l.Offset)
	}
	return fmt.Sprintf("values look rounded to units of %g%s, and the fit used that; state rounded_to in the schema if it is so", l.Unit, from)
}

// DeclaredGrids returns the lattices of d columns whose units are public, 0 where none is.
func DeclaredGrids(roundedTo []float64, d int) []Grid {
	l := make([]Grid, d)
	for j, unit := range roundedTo {
		l[j].Unit = unit
	}
	return l
}

// digits: a point must differ from its neighbours in numbers with this many bits, and its bin
// reaches as far as the error of anything computed from such a number.
const digits = 0x1p-40

// RoundNumbers returns the multiples between two numbers of 1, 2.5 or 5 times a power of ten, the
// finest of them of which there are at most most: whole numbers, halves, quarters, tenths and so
// on, and whatever is a multiple of these, like weeks in days. Nil if there is none, or if the
// numbers are too large to distinguish them.
func RoundNumbers(low, high float64, most int) (points []float64) {
	width := high - low
	if !(width > 0) || math.IsInf(width, 1) {
		return nil
	}
	unit := math.Pow(10, math.Ceil(math.Log10(width))+1)
	for _, next := range chain(unit) {
		if width/next > float64(most-1) {
			break
		}
		unit = next
	}
	size := math.Max(math.Abs(low), math.Abs(high))
	if unit < 4*digits*size || unit < 0x1p-900 || unit > 0x1p900 {
		return nil
	}
	for k := math.Ceil(low / unit); k*unit <= high; k++ {
		points = append(points, decimal(k, unit))
	}
	return points
}

// chain returns the units from a power of ten down.
func chain(ten float64) (units []float64) {
	for range 16 {
		units = append(units, .5*ten, .25*ten, ten/10)
		ten /= 10
	}
	return units
}

// decimal returns k units, by a division where the unit is the inverse of a whole number: so that
// three tenths are the number that is written so.
func decimal(k, unit float64) float64 {
	if inverse := math.Round(1 / unit); unit < 1 && math.Abs(inverse*unit-1) < 1e-12 {
		return k / inverse
	}
	return k * unit
}

// PointEdges of a histogram in which every point has a bin of its own, the second of every two.
func PointEdges(points []float64) (edges []float64) {
	for i, p := range points {
		beside := p
		if i > 0 {
			beside = points[i-1]
		} else if len(points) > 1 {
			beside = points[1]
		}
		reach := math.Max(math.Abs(p), math.Abs(p-beside)) * digits
		edges = append(edges, p-reach, p+reach)
	}
	return edges
}

// PointCounts returns those of the points, in a histogram whose edges hold those of Edges.
func PointCounts(points, edges, counts []float64) (of []float64) {
	comb := PointEdges(points)
	at, _ := slices.BinarySearch(edges, comb[0])
	for i := 0; i < len(comb); i++ {
		in := 0.0
		for ; at+1 < len(edges) && i+1 < len(comb) && edges[at] < comb[i+1]; at++ {
			in += counts[at+1]
		}
		if i%2 == 0 {
			of = append(of, in)
		}
	}
	return of
}

// Utility constants, guesses.
const (
	onPart = .97 // of the rows must be on the grid, up to the noise
	// the noise that a sum over points is allowed to have, noiseSDs of it, as a part of the rows
	noiseSDs, mostNoise = 3.0, .25
	// mostAlike: a column nearly all of whose rows have one value is no lattice but an atom; with
	// less in one of two values their spread is no less than that of rounding, unit^2/12.
	mostAlike = .9
	// Beside a value with so large a part of the rows others are often heaped on round numbers: the
	// noise must then be half as large. Guesses: of 26,000 people's hours 47 % are 40, and in every
	// other fit the rest passed for multiples of 2.5 or 5.
	heapedPart, heapedNoise = .25, .5
)

// InferGrid returns the coarsest grid that the rows within a comb are on, given the counts of its
// points with noise sigma each, and how many rows there are from the first to the last, with noise
// about. One value does not make a grid: the rows with other values than the most frequent must be
// on it. ok is false if there is none, or the noise hides it. The chance that rows of a continuous
// law pass for a grid is that of a sum of noise above eight of its sds, for each of the grids
// tried.
func InferGrid(points, counts []float64, sigma, rows, about float64) (l Grid, ok bool) {
	n := len(points)
	if n < 2 {
		return l, false
	}
	full := slices.Max(counts)
	at := slices.Index(counts, full)
	rest := rows - math.Max(full, 0)
	if !(rest > (1-mostAlike)*rows) {
		return l, false
	}
	allowed := mostNoise * rest
	if full > heapedPart*rows {
		allowed *= heapedNoise
	}
	for step := n - 1; step >= 1; step-- {
		from := at % step
		sum, many := fullest(counts, from, step, sigma)
		noise := noiseSDs * math.Sqrt(about*about+sigma*sigma*float64(many+1))
		if noise <= allowed && sum-full > onPart*rest-noise {
			return between(points, from, step), true
		}
	}
	return l, false
}

// FewValues reports that nearly all rows have one of two values: then a component may hold one of
// them alone, and what rounding adds to a spread would be too much for it.
func FewValues(counts []float64, rows float64) bool {
	first, second := 0.0, 0.0
	for _, c := range counts {
		first, second = math.Max(first, c), math.Max(second, math.Min(first, c))
	}
	return first+second > mostAlike*rows
}

// fullest returns the largest sum of a run of every step-th count from one on, less a charge for
// each, without the charges, and how many there are in it.
func fullest(counts []float64, from, step int, charge float64) (sum float64, many int) {
	best, run, length, net := 0.0, 0.0, 0, 0.0
	for i := from; i < len(counts); i += step {
		if net <= 0 {
			run, length, net = 0, 0, 0
		}
		run, length, net = run+counts[i], length+1, net+counts[i]-charge
		if net > best {
			best, sum, many = net, run, length
		}
	}
	return sum, many
}

// leastPoints is the number of points that must be seen above the noise if a comb is to pay for
// itself. A guess.
const leastPoints = 4

// GridVisible reports that Infer may find a lattice, for the noise of a count and that of the rows.
func GridVisible(sigma, rows, about float64) bool {
	return noiseSDs*math.Sqrt(leastPoints*sigma*sigma+about*about) <= mostNoise*rows
}

// between returns the lattice of every step-th point from one on, its offset 0 or the least above.
func between(points []float64, from, step int) Grid {
	unit := points[from+step] - points[from]
	if size := math.Pow(10, 9-math.Floor(math.Log10(unit))); math.Abs(math.Round(unit*size)/size-unit) < 1e-6*unit {
		unit = math.Round(unit*size) / size
	}
	offset := math.Mod(points[from], unit)
	if offset < 0 {
		offset += unit
	}
	if offset < 1e-6*unit || offset > (1-1e-6)*unit {
		offset = 0
	}
	return Grid{unit, offset}
}
