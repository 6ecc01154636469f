package overall

import (
	"math"
	"strings"
)

// Worst is the noisiest of a table's columns: the noise of its mean and of its standard deviation,
// relative to the latter.
type Worst struct {
	Mean, SD float64
	Known    bool // known for all columns
	Chance   bool // sampling outweighs noise in all means
}

// Worst returns the noisiest column; it leaves out columns without spread.
func (t Table) Worst() Worst {
	w := Worst{Known: true, Chance: true}
	for _, c := range t.Columns {
		if c.SD.Value == 0 {
			continue
		}
		w.Known = w.Known && !math.IsNaN(c.Mean.Noise)
		noise := math.Sqrt(max(0, c.SD.Noise*c.SD.Noise-c.OfShape*c.OfShape))
		w.Mean, w.SD = max(w.Mean, c.Mean.Noise/c.SD.Value), max(w.SD, noise/c.SD.Value)
		w.Chance = w.Chance && c.Mean.Sampling > c.Mean.Noise
	}
	return w
}

// nameSDs is the distance of a component's mean from the whole's, in the whole's standard
// deviations, from which on its name mentions it; strongSDs that from which on it says "very".
// Guesses.
const nameSDs, strongSDs = .5, 1.5

// Called returns a readable name for a component with a mean, by the one or two columns in which it
// is farthest from the whole: "high age, low bmi". columns are the columns' labels.
func (t Table) Called(mean []float64, columns []string) string {
	var said []string
	used := -1
	for range 2 {
		best, at := nameSDs, -1
		for j, c := range t.Columns {
			if z := math.Abs(mean[j]/c.SD.Value - c.Mean.Value/c.SD.Value); c.SD.Value > 0 && j != used && z >= best {
				best, at = z, j
			}
		}
		if at < 0 {
			break
		}
		word := "high "
		if mean[at] < t.Columns[at].Mean.Value {
			word = "low "
		}
		if best >= strongSDs {
			word = "very " + word
		}
		said, used = append(said, word+columns[at]), at
	}
	if said == nil {
		return "about the mean of all"
	}
	return strings.Join(said, ", ")
}
