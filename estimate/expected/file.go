package expected

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Head names the columns of a table.
var Head = []string{"method", "covariance", "relation", "data", "loose", "d", "n", "mu", "cov", "mean", "plain_cov", "plain_mean", "released", "runs"}

// Parse reads a table of points: a line each, below a [Head].
//
// Failures: another head, a cell that is not of its kind, and those of [newTable].
func Parse(text string) (*Table, error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("expected errors: %w", err)
	}
	if len(records) == 0 || !slices.Equal(records[0], Head) {
		return nil, fmt.Errorf("expected errors: wanted the head %s", strings.Join(Head, ","))
	}
	var points []Point
	for i, record := range records[1:] {
		r := reader{cells: record}
		points = append(points, r.point())
		if r.faults != nil {
			return nil, fmt.Errorf("expected errors: line %d: %w", i+2, errors.Join(r.faults...))
		}
	}
	return newTable(points)
}

// A reader takes the cells of one line one after another.
type reader struct {
	cells  []string
	at     int
	faults []error
}

func (r *reader) point() Point {
	p := Point{Kind: Kind{Method: r.next(), Shape: r.shape(), Relation: r.relation(), Data: r.next(), Loose: r.number()}}
	p.Columns, p.Rows, p.Mu = r.whole(), r.whole(), r.number()
	p.Errors = Errors{Covariance: r.number(), Mean: r.number(), PlainCovariance: r.number(), PlainMean: r.number()}
	p.Released, p.Runs = r.whole(), r.whole()
	if p.Released > 0 && math.IsNaN(p.Covariance+p.Mean+p.PlainCovariance+p.PlainMean) {
		r.faults = append(r.faults, fmt.Errorf("errors: wanted four numbers for %d releases, got none", p.Released))
	}
	return p
}

func (r *reader) next() string {
	r.at++
	return r.cells[r.at-1]
}

func (r *reader) fault(wanted string) {
	r.faults = append(r.faults, fmt.Errorf("%s: wanted %s, got %q", Head[r.at-1], wanted, r.cells[r.at-1]))
}

// number is NaN for an empty cell.
func (r *reader) number() float64 {
	text := r.next()
	if text == "" {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 1) {
		r.fault("a number of at least 0")
	}
	return x
}

func (r *reader) whole() int {
	n, err := strconv.Atoi(r.next())
	if err != nil {
		r.fault("a whole number")
	}
	return n
}

func (r *reader) shape() estimate.CovarianceType {
	name := r.next()
	for _, c := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
		if c.String() == name {
			return c
		}
	}
	r.fault("full, diagonal or spherical")
	return estimate.Full
}

func (r *reader) relation() privacy.Relation {
	rel, err := privacy.ParseRelation(r.next())
	if err != nil {
		r.fault("a neighbouring relation")
	}
	return rel
}
