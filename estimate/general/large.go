package general

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/sample"
)

// Utility constants of large tables, guesses that were tried on development families.
const (
	// Large tables are asked through a secret sample until the last rounds: of one row in so many,
	// times the root of how many times as large they are ..
	sampleOdds = 8.0
	// .. where strength in the sample is at least this. A guess.
	sampleStrength = 500.0
	// So many rounds before the last one are of all rows.
	tableRounds = 12
)

// largeTable is the rows of a large table; a variable for tests, which have no time for it.
var largeTable = float64(1 << 23)

// oddsFor says that one row in so many is asked: 1 where the table is not large.
func oddsFor(p estimate.Problem, rows float64) float64 {
	if odds := math.Floor(sampleOdds * math.Sqrt(rows/largeTable)); rows >= largeTable && strength(p, p.Columns, rows/odds) >= sampleStrength {
		return odds
	}
	return 1
}

// units finds those of the columns, in a large table their centres in a sample of it; what follows
// is of the sample until rejoin.
// Where components are is then known as well as from a smaller table; the last rounds see all rows.
func (f *fit) units() (out estimate.Outcome, done bool, err error) {
	drawn := f.Allotment
	if f.table, f.odds = f.Allotment, oddsFor(f.Problem, f.Rows); f.odds > 1 {
		if drawn, err = sample.Of(f.Allotment, uint64(f.odds)); err != nil {
			return out, true, err
		}
	}
	f.schedule = planned(f.Problem, f.Problem.Columns, f.Rows/f.odds)
	cfg := program.Config(prefixUnits, f.schedule.units, weakPart, f.Mu2)
	cfg.Sample = drawn
	out, done, err = f.Open(cfg)
	f.space, f.Allotment, f.Rows = f.Space, drawn, f.Rows/f.odds
	return out, done, err
}

// rejoin has what follows asked of all rows.
func (f *fit) rejoin() { f.Allotment, f.Rows, f.odds = f.table, f.Rows*f.odds, 1 }
