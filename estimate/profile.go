package estimate

// A Profile is what every column says by itself: table one. All of it is released values.
type Profile struct {
	Rows       float64           // public, or noisy
	Columns    []ColumnProfile   // of numbers
	Categories []CategoryProfile // of the columns of categories
}

// A CategoryProfile is how often each value of a column of categories occurs among all rows, give
// or take Noise.
type CategoryProfile struct {
	Shares []float64
	Noise  float64
}

// A ColumnProfile is about the cells that one column has. Noise is the sd of what noise alone adds:
// the truth is the table's own figure.
type ColumnProfile struct {
	// Cells is the share of rows that have one, in [0, 1].
	Cells, CellsNoise float64
	// HeldOut says why nothing else is released of the column; "" if the rest is. Where the noise
	// hides how close values differ, Histogram and Quantiles say where they are all the same, and
	// where it hides others than one value, Atoms has that.
	HeldOut           string
	Quantiles         []Quantile
	Mean, MeanNoise   float64
	SD, SDNoise       float64
	NoMean, NoSD      bool    // the noise hides it
	Low, High, Beyond float64 // values are seen within [Low, High], and at most a share Beyond may lie elsewhere unseen
	Grid, Offset      float64 // values are Offset and multiples of Grid from it; 0 if that is not known
	Atoms             []Atom
	Histogram         []Bar
	Counted           []Bar // .. as counted: of shares that may be negative
	Notes             []string
}

// A Quantile is the value below which a share P of the cells lies, give or take RankNoise.
type Quantile struct{ P, Value, RankNoise float64 }

// An Atom is one value that many cells have, as a share of the cells.
type Atom struct{ Value, Share, Noise float64 }

// A Bar is a share of the cells, give or take Noise, which lies in [Low, High).
type Bar struct{ Low, High, Share, Noise float64 }
