package catalog

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

// ErrorTableHead names the columns of a table.
var ErrorTableHead = []string{"method", "covariance", "relation", "data", "loose", "d", "n", "mu", "cov", "mean", "plain_cov", "plain_mean", "released", "runs"}

// ParseErrorTable reads a table of points: a line each, below a [Head].
//
// Failures: another head, a cell that is not of its kind, and those of [newTable].
func ParseErrorTable(text string) (*ErrorTable, error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("expected errors: %w", err)
	}
	if len(records) == 0 || !slices.Equal(records[0], ErrorTableHead) {
		return nil, fmt.Errorf("expected errors: wanted the head %s", strings.Join(ErrorTableHead, ","))
	}
	points := make([]ErrorPoint, 0, len(records))
	for i, cells := range records[1:] {
		p, err := pointOf(cells)
		if err != nil {
			return nil, fmt.Errorf("expected errors: line %d: %w", i+2, err)
		}
		points = append(points, p)
	}
	return newTable(points)
}

// pointOf reads the cells of one line; an empty one for a number is NaN.
func pointOf(cells []string) (p ErrorPoint, err error) {
	var faults []error
	var shape, relation string
	for i, cell := range []any{&p.Method, &shape, &relation, &p.Data, &p.Loose, &p.Columns, &p.Rows, &p.Mu,
		&p.Covariance, &p.Mean, &p.PlainCovariance, &p.PlainMean, &p.Released, &p.Runs} {
		var err error
		switch cell := cell.(type) {
		case *string:
			*cell = cells[i]
		case *int:
			*cell, err = strconv.Atoi(cells[i])
		case *float64:
			if *cell = math.NaN(); cells[i] != "" {
				*cell, err = strconv.ParseFloat(cells[i], 64)
			}
			if *cell < 0 || math.IsInf(*cell, 1) {
				err = errors.New("wanted a finite number of at least 0")
			}
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %q: %w", ErrorTableHead[i], cells[i], err))
		}
	}
	var known bool
	if p.Shape, known = estimate.ShapeOf(shape); !known {
		faults = append(faults, fmt.Errorf("covariance: wanted full, diagonal or spherical, got %q", shape))
	}
	if p.Relation, err = privacy.ParseRelation(relation); err != nil {
		faults = append(faults, err)
	}
	if p.Released > 0 && math.IsNaN(p.Covariance+p.Mean+p.PlainCovariance+p.PlainMean) {
		faults = append(faults, fmt.Errorf("errors: wanted four numbers for %d releases, got none", p.Released))
	}
	return p, errors.Join(faults...)
}
