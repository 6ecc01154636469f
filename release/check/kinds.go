package check

import (
	"math"
	"strings"
)

// bounds returns the most that one row can change an answer, in its integer units: by coming or
// going, and by being replaced.
type bounds func(s Shape) (added, replaced float64)

// A kind holds what is known of the queries of one kind.
type kind struct {
	// In L2 for Gaussian noise, and in L1 for threshold releases and scores; nil where that noise
	// is never used. Laplace noise on sums uses the L1 bound that follows (Line.laplace).
	l2, l1 bounds
	// The least and the largest of the number in Shape.Of: it has none if both are 0.
	least, most int
	// Its answer is a threshold release: there is a delta, and Laplace noise is truncated.
	threshold bool
	// Moving a row from one leaf to another changes no more than replacing it within a leaf.
	alone   bool
	balance bool // it may count the rows not above an edge minus those above
	columns columns
}

// columns says how Shape.Of follows from the number d of the table's columns.
type columns int

const (
	anyColumns  columns = iota
	mostColumns         // at most d
	allColumns          // d
)

// many is more than any list has.
const many = 1 << 30

// fixed returns bounds that depend on nothing.
func fixed(added, replaced float64) bounds {
	return func(Shape) (float64, float64) { return added, replaced }
}

// The bounds of counts. A row is in one bin of every list; it is above an edge or not.
func bins2(s Shape) (a, b float64) { return math.Sqrt(float64(s.Of)), math.Sqrt(2 * float64(s.Of)) }
func bins1(s Shape) (a, b float64) { return float64(s.Of), 2 * float64(s.Of) }
func above2(s Shape) (a, b float64) {
	root := math.Sqrt(float64(s.Of))
	return root, max(1, float64(s.By)) * root
}

// The integers that vectors of moments consist of, squared and not, and those of spacing
// histograms.
const (
	gram   = 1 << 32
	linear = 1 << 30
	gaps   = 1 << 20
)

// moments returns the bounds of clipped moments: of integral matrices, or of vectors.
func moments(s Shape) (a, b float64) {
	if s.Of == 1 || s.Of == 4 {
		return gram, math.Sqrt2 * gram
	}
	return linear, math.Sqrt2 * linear
}

// categories returns the bounds of category counts: a row has shares that sum to 1 in one cell of
// each column.
func categories(s Shape) (a, b float64) {
	return linear * math.Sqrt(float64(s.Of)), linear * math.Sqrt(2*float64(s.Of))
}

// softGaps returns the bounds of soft spacing histograms: a gap's mass is 1, of which a row that
// comes moves b = 171/1024 of others' to higher scales and c = 5/1024 to other places
// (query.SpacingMasses).
func softGaps(Shape) (added, replaced float64) {
	const b, c = 171. / 1024, 5. / 1024
	moved := math.Sqrt(6)*b + math.Sqrt(8)*c
	return gaps * math.Sqrt(1+2*(b+c)+2*(b+c)*(b+c)), gaps * math.Sqrt(2+2*(3*b+4*c)+moved*moved)
}

// octaves returns the bounds of a histogram of pairs for every column: of one pair more or another,
// both.
func octaves(s Shape) (a, b float64) { b = math.Sqrt(2 * float64(s.Of)); return b, b }

func number(s Shape) (a, b float64) { return float64(s.Of), float64(s.Of) }

// balls and terrific return the bounds of scores by balls of t points.
func balls(s Shape) (a, b float64)    { return 2*float64(s.Of) - 1, 2*float64(s.Of) - 1 }
func terrific(s Shape) (a, b float64) { return 2*float64(s.Of) - 1, 3*float64(s.Of) - 2 }

// kinds are all kinds that a plan can measure. Each bound is proved at its query, in kernel/query
// and below; a test checks that they agree.
var kinds = map[string]kind{
	"count":                       {l2: fixed(1, 1)},
	"histogram":                   {l2: bins2, least: 1, most: many, columns: mostColumns},
	"column counts":               {l2: above2, least: 1, most: many, balance: true, columns: mostColumns},
	"distance counts":             {l2: bins2, least: 1, most: 1},
	"tail counts":                 {l2: above2, least: 1, most: many},
	"clipped moments":             {l2: moments, least: 1, most: 5},
	"directions":                  {l2: fixed(gram, math.Sqrt2*gram)},
	"category counts":             {l2: categories, least: 1, most: many},
	"category values":             {l2: bins2, least: 1, most: many, threshold: true, alone: true},
	"log ratio":                   {l2: fixed(linear, 2*linear)},
	"cell counts":                 {l2: fixed(1, math.Sqrt2)},
	"pair octaves":                {l2: octaves, least: 1, most: many, columns: allColumns},
	"pair distances":              {l2: fixed(math.Sqrt2, math.Sqrt2)},
	"pair moments":                {l2: fixed(math.Sqrt2*gram, math.Sqrt2*gram)},
	"pair spread":                 {l2: fixed(linear, linear)},
	"gaps":                        {l2: softGaps, threshold: true, alone: true},
	"stability histogram":         {l2: bins2, l1: bins1, least: 1, most: many, threshold: true, alone: true},
	"gap buckets":                 {l1: fixed(3, 6), threshold: true, alone: true},
	"of blocks: stable mean":      {l2: fixed(1, 1), threshold: true},
	"of blocks: popular number":   {l2: number, least: 2, most: many},
	"of blocks: popular estimate": {threshold: true},

	"of blocks: popular estimate in its author's space": {l2: number, least: 2, most: many},
}

// scores are all scores that a selection can use.
var scores = map[string]kind{
	"ball counts":      {l1: balls, least: 1, most: many},
	"good radius":      {l1: balls, least: 1, most: many},
	"terrific radius":  {l1: terrific, least: 1, most: many},
	"terrific centers": {l1: fixed(1, 1), least: 1, most: 1},
	"max box count":    {l1: fixed(1, 1), least: 1, most: 1},
	"multiset overlap": {l1: fixed(1, 1), least: 1, most: 1},
	"minimum distance": {l1: fixed(1, 1), least: 1, most: 1},
	"tournament":       {l1: fixed(1, 1), least: 1, most: 1},
	"cell deficits":    {l1: fixed(1, 1), least: 1, most: 1},
	"line deficits":    {l1: fixed(1, 1), least: 1, most: 1},
}

// ofBlocks begins the queries of block estimates. If a kind above begins with it, that kind is a
// test of agreement or its mask.
const ofBlocks = "of blocks: "

// A reading holds the parts of a line's query.
type reading struct {
	kind
	blocks, parts, selects bool
}

// read splits the text of a query into its parts; known is false for a query that Gauze does not
// have.
func (l Line) read() (r reading, known bool) {
	if r.kind, known = kinds[l.Query]; !known {
		var text string
		text, r.blocks = strings.CutPrefix(l.Query, ofBlocks)
		if text, r.selects = strings.CutPrefix(text, "select: "); r.selects {
			r.kind, known = scores[text]
		} else {
			for _, view := range []string{"present cells: ", "filled: ", "presence: "} {
				if rest, viewed := strings.CutPrefix(text, view); viewed {
					text = rest
					break
				}
			}
			text, r.parts = strings.CutPrefix(text, "in parts: ")
			r.kind, known = kinds[text]
			known = known && !strings.HasPrefix(text, ofBlocks)
		}
	}
	return r, known
}

// laws returns the laws that the noise of a query can have: only a selection picks by an
// exponential mechanism or by thresholds, and none is Gaussian (one with a single option is a noisy
// number, with Laplace noise).
func (r reading) laws() (laws []string) {
	if r.selects {
		return []string{"exponential", "above threshold", "laplace", "local exponential"}
	}
	if r.l2 != nil {
		laws = append(laws, "")
	}
	switch {
	case r.l1 != nil:
		laws = append(laws, "truncated laplace")
	case r.l2 != nil && !r.threshold:
		laws = append(laws, "laplace")
	}
	return laws
}
