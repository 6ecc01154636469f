package general

import (
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of rows that lack cells, guesses, tried on made-up mixtures of two to twenty
// columns with 5 to 40 % of their cells missing at random.
const (
	// If fewer than this part is whole, all that is measured is of completed rows, and otherwise
	// what comes after half of the rounds.
	fewWhole = .2
	// .. and if the columns' units are known from a profile, or so many whole rows, times mu, can
	// find them.
	wholeForUnits = 400.0
	// So many times rows are completed before the last round, at most.
	mostCompletions = 6
	gapsPart        = .02 // of mu^2, for the missing cells of components
)

// A missing holds what is known of rows that lack cells.
type missing struct {
	table *kernel.SubBudget // with the rows as they are; nil if nothing is completed
	rows  float64           // released number of rows that have some cell
	early bool              // few rows are whole
	gaps  *kernel.SubBudget // .. of the table, for the missing cells of components
}

// incomplete decides whether rows that lack cells are completed.
func (f *fit) incomplete() error {
	rows, err := f.Incomplete(stepCells.Name, f.Mu(countPart))
	if rows == 0 || err != nil {
		return err
	}
	known := f.Problem.Profile != nil
	f.missing = missing{table: f.SubBudget, rows: rows, early: f.Rows < fewWhole*rows && (known || f.Rows*f.Problem.Mu > wholeForUnits)}
	if f.missing.early {
		if f.AtMost = rows; known {
			f.Rows = rows
		}
	}
	return nil
}

// complete has what follows asked of completed rows: those that lack cells have them drawn from
// Gaussians in a space, given the cells that they have.
func (f *fit) complete(space component.Space, by []component.Gaussian) error {
	table, err := kernel.Complete(f.missing.table, program.CompletionBy(space, f.Units.Center, by))
	if err != nil {
		return err
	}
	f.table, f.all = table, f.missing.rows
	if f.odds == 1 {
		f.drawn = table
	} else if f.missing.early {
		if f.drawn, err = kernel.Subsample(table, uint64(f.odds)); err != nil {
			return err
		}
	}
	return nil
}

// begun completes rows by the columns' units, where few are whole.
func (f *fit) begun() error {
	if !f.missing.early {
		return nil
	}
	d, rounds := f.space.Dim(), f.schedule.rounds
	f.schedule = planned(f.Problem, f.Problem.Columns, f.missing.rows/f.odds)
	f.schedule.rounds = max(rounds, f.schedule.rounds)
	err := f.complete(f.space, []component.Gaussian{{Weight: 1, Mean: make([]float64, d), Cov: symmetric.Identity(d)}})
	f.asks(false)
	return err
}

// renewed completes rows by the components of r before round i, if it is time to.
func (f *fit) renewed(i int, r *privateem.Rounds) error {
	from := f.schedule.rounds / 2
	if f.missing.early {
		from = 1
	}
	every := max(1, (f.schedule.rounds-from)/mostCompletions)
	if f.missing.table == nil || i < from || (i-from)%every != 0 || len(r.Components) == 0 {
		return nil
	}
	return f.complete(r.Space, r.Components)
}

// last completes rows by the components of r before the last round.
func (f *fit) last(r *privateem.Rounds) error {
	if f.missing.table == nil || len(r.Components) == 0 {
		return nil
	}
	err := f.complete(r.Space, r.Components)
	f.asks(true)
	r.Rows = f.Rows
	return err
}

// keepForGaps reserves what the missing cells of components cost.
func (f *fit) keepForGaps() {
	if f.missing.table != nil {
		f.missing.gaps = f.missing.table.Take(gapsPart * f.Mu2)
	}
}

// giveBack gives back what is reserved.
func (f *fit) giveBack() {
	if f.missing.gaps != nil {
		f.missing.table.Return(f.missing.gaps)
		f.missing.gaps = nil
	}
}

// asFound has what follows asked of the rows as they are, and not completed.
func (f *fit) asFound() {
	if f.missing.table != nil {
		f.SubBudget = f.missing.table
	}
}
