package general

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of large tables, chosen on made-up families of 300,000 to 1.6 million rows in
// two to twenty columns, mixtures and tables that are none: samples of a strength of 80 to 250 lost
// components there, and with four last rounds instead of six some fits were worse. Eight of them,
// six with the number of components decided, are of 6 and none, 6 and 4, 8 and 6, 12 and 6 on
// mixtures of problems.Spec of a million rows: what was joined last had no rounds to settle in, and
// lost up to a hundred times as much.
const (
	// Rounds on large tables use a secret subsample until the last ones: one row in sampleOdds,
	// times the root of the number of rows over vast ..
	sampleOdds, vast = 4.0, 1 << 21
	// .. or of as few as leave the sample a strength of so much for leastColumns or more.
	sampleStrength = 400.0
	leastColumns   = 10
	// So many rounds before the last one are of all rows, and get half of what rounds may cost.
	tableRounds = 8
	// .. and this many of them come after the number of components is decided.
	settledRounds = 6
)

// oddsFor returns 1 / the sampling rate: 1 if the table is not large.
func (e Estimator) oddsFor(p estimate.Problem, rows float64) float64 {
	most := sampleOdds * math.Sqrt(math.Max(1, rows/vast))
	return math.Max(1, math.Floor(math.Min(most, strength(p, max(p.Columns, leastColumns), rows)/e.Enough)))
}

// units finds those of the columns, in a large table their centres in a sample of it; what follows
// is of the sample until round says otherwise. Where components are is then known as well as from a
// smaller table; the last rounds see all rows.
func (f *fit) units() (out estimate.Outcome, done bool, err error) {
	f.table, f.drawn, f.all, f.odds = f.SubBudget, f.SubBudget, f.Rows, f.method.oddsFor(f.Problem, f.Rows)
	if f.odds > 1 {
		if f.drawn, err = kernel.Subsample(f.table, uint64(f.odds)); err != nil {
			return out, true, err
		}
	}
	f.schedule = planned(f.Problem, f.Problem.Columns, f.Rows/f.odds)
	f.schedule.rounds = planned(f.Problem, f.Problem.Columns, f.Rows).rounds
	cfg := program.Config(prefixUnits, f.schedule.units, weakPart, f.Mu2)
	cfg.Sample = f.drawn
	out, done, err = f.Open(cfg, f.odds)
	f.space = f.Space
	f.asks(false)
	return out, done, err
}

// asks has what follows asked of all rows, or of the sample.
func (f *fit) asks(all bool) {
	if f.SubBudget, f.Rows = f.drawn, f.all/f.odds; all {
		f.SubBudget, f.Rows = f.table, f.all
	}
}

// round runs round i of r on the rows that it is for, the subsample or all, and returns its part of
// all rounds. All rows decide which components are merged.
func (f *fit) round(i int, r *privateem.Rounds) (part float64) {
	early := f.schedule.rounds - tableRounds
	f.asks(i >= early || f.Problem.Components == 0 && i+1 == openRounds)
	switch r.Rows, r.Floor = f.Rows, f.floor(); {
	case f.odds == 1:
		return 1 / float64(f.schedule.rounds)
	case i < early:
		return .5 / float64(early)
	}
	return .5 / tableRounds
}

// numbered returns the round after which the number of components is decided: 0 is the last one.
func (f *fit) numbered() int {
	switch {
	case f.odds > 1:
		return f.schedule.rounds - settledRounds
	case f.schedule.rounds >= leastRounds && !f.method.Without.Rest:
		return f.schedule.rounds - restRounds
	}
	return 0
}

// restRounds come after the number of components is decided in a table that is not large. A
// utility constant, chosen of none and 2 on plain clusters 5 and 6 sds apart and on mixtures that
// cross or overlap: a fifth less total variation.
const restRounds = 2
