package single

import (
	"fmt"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// rank has covariances of exact rank.
var rank = experiment{
	name: "rank", title: "Exact rank",
	about: "Rows in a flat of r dimensions; constant: so many of the columns are constant; repeated: other rows, in columns of very different units. κ = 1e4 in the flat, the mean 10 largest " +
		"standard deviations off. A direction counts as found if the model's standard deviation in it is above 1e-8 of the largest; \"null sd\" is the model's in the directions that have none. " +
		"Success: the rank is exact, and the covariance in the flat within 2×.",
	cells: func() []cell {
		var out []cell
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			add := func(name string, n int, pop madeup.Population) {
				pop.Kappa, pop.Offset = 1e4, usualOffset
				out = append(out, cell{name: name + "/" + relation.String(), rows: []int{n}, relation: &relation, pop: pop})
			}
			add("5/r3", 4000, madeup.Population{Columns: 5, Rank: 3})
			add("10/r7", 8000, madeup.Population{Columns: 10, Rank: 7})
			add("10/r7/constant 2", 12_000, madeup.Population{Columns: 10, Rank: 7, Constant: 2})
			add("20/r15", 30_000, madeup.Population{Columns: 20, Rank: 15})
			add("5/r4/constant 1", 4000, madeup.Population{Columns: 5, Constant: 1})
			add("10/r7/units 3", 8000, madeup.Population{Columns: 10, Rank: 7, Units: 3})
		}
		return out
	},
	runs: 100,
	success: func(v engine.Values, c cell) bool {
		return v[rankFound] == float64(c.pop.RankOf()) && v[nullSpread] < madeup.NullBar && covarianceLearned(v, c)
	},
	summary: func(p *engine.Page, r *results) {
		for _, by := range r.Contenders() {
			p.Heading("Rank: " + by)
			t := engine.Table{Head: []string{"cell", "n", "rank exact", "largest null sd", "largest offset in a null direction", "constant columns told", "× in the flat"}}
			for _, l := range r.By(by) {
				c := l.Cell
				runs := l.First()
				exact := 0
				for _, run := range runs {
					if int(run.Values[rankFound]) == c.pop.RankOf() && run.Values[released] == 1 {
						exact++
					}
				}
				t.Add(c.name, engine.Rows(c.rows[0]), fmt.Sprintf("%d of %d", exact, len(runs)), engine.Number(engine.Quantile(engine.Pick(runs, nullSpread), 1)),
					engine.Number(engine.Quantile(engine.Pick(runs, nullOffset), 1)), engine.Total(runs, constantsOK), engine.Spread(engine.Pick(runs, covTimes)))
			}
			p.Table(t)
		}
	},
}
