package single

import (
	"fmt"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Methods as their papers print them.
const (
	literalHeavy     = "heavy-tailed:paper"
	literalGaussian  = "gaussian:kmssu22"
	literalCoinpress = coinpressName
	literalOne       = "univariate:kv18"
)

// literalCells are where the literal algorithms are tried: the places where their analyses say that
// they work, and those on the way.
var literalCells = []struct {
	d       int
	kappa   float64
	epsilon float64
	rows    []int
	only    []string
}{
	{1, 1, 1, []int{1000, 4000, 16_000, 64_000, 256_000}, inOneColumn},
	{1, 1e8, 1, []int{16_000}, inOneColumn},
	{1, 1, 10, []int{250, 1000, 4000}, inOneColumn},
	{2, 1, 1, []int{16_000, 256_000}, inMore},
	{2, 100, 1, []int{16_000, 64_000, 256_000, 512_000}, inMore},
	{2, 1e6, 1, []int{256_000}, inMore},
	{2, 100, 10, []int{4000, 16_000, 64_000}, inMore},
	{5, 100, 1, []int{64_000, 256_000}, inMore},
	{5, 100, 10, []int{16_000, 256_000}, inMore},
}

// Who is tried in one column, and who in more.
var (
	inOneColumn = []string{"gaussian", literalOne, literalCoinpress, literalGaussian}
	inMore      = []string{"gaussian", literalCoinpress, literalGaussian, literalHeavy}
)

// literal sets the papers' algorithms beside the practical one.
var literal = experiment{
	name: "literal", title: "The algorithms as printed",
	about: "Cells are d/κ/ε; δ = 1e-6, geometric spectrum, the mean at the origin. `univariate:kv18` and `gaussian:kmssu22` are given no bounds; the others some that hold: the mean, eigenvalues between 1/(4κ) and 4, " +
		"moments up to the fourth. Success: a covariance within 2×.",
	cells: func() []cell {
		var out []cell
		for _, l := range literalCells {
			out = append(out, cell{name: fmt.Sprintf("%d/%g/%g", l.d, l.kappa, l.epsilon), rows: l.rows, only: l.only, budget: privacy.Budget{Epsilon: l.epsilon, Delta: 1e-6},
				bounds: estimate.Facts{KnowsMean: true, Eigenvalues: [2]float64{.25 / l.kappa, 4}, Moments: 4}, pop: madeup.Population{Columns: l.d, Kappa: l.kappa}})
		}
		return out
	},
	contenders: []contender{
		practical,
		{name: literalOne, method: literalOne},
		{name: literalCoinpress, method: literalCoinpress, told: true},
		{name: literalGaussian, method: literalGaussian},
		{name: literalHeavy, method: literalHeavy, told: true},
	},
	runs: 10, success: covarianceLearned,
	summary: func(p *engine.Page, r *results) {
		p.Heading("Covariance error in non-private rates")
		p.Text("Medians over the runs that released a model.")
		p.Table(beside(r, "", func(runs []engine.Result) string {
			return engine.Med(runs, covTimes) + "×" + refusals(runs)
		}, nil))
	},
}
