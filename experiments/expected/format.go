package expected

import (
	"math"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/estimate/catalog"
)

// format writes points as a table that catalog.ParseErrorTable reads: errors with four digits,
// nothing where no run released a model.
func format(points []catalog.ErrorPoint) string {
	var b strings.Builder
	b.WriteString(strings.Join(catalog.ErrorTableHead, ",") + "\n")
	number := func(x float64, digits int) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	for _, p := range points {
		b.WriteString(strings.Join([]string{
			p.Method, p.Shape.String(), p.Relation.String(), p.Data, number(p.Loose, -1), strconv.Itoa(p.Columns), strconv.Itoa(p.Rows), number(p.Mu, -1),
			number(p.Covariance, 4), number(p.Mean, 4), number(p.PlainCovariance, 4), number(p.PlainMean, 4),
			strconv.Itoa(p.Released), strconv.Itoa(p.Runs),
		}, ",") + "\n")
	}
	return b.String()
}
