package speed

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// rowsOf stands in a program's name before the rows that it ran on.
const rowsOf = ",n="

// growth is how the CPU time of programs grows with their rows, of medians over the rounds: the
// exponent of the power of n that fits best, and the largest factor by which a row costs more than
// with as many rows as the program before had, and to how many rows that step is.
func growth(own []sample) (t engine.Table) {
	t.Head = []string{"program", "exponent", "largest step of the cost of a row", "to n"}
	for _, name := range distinct(own, func(s sample) string { name, _, _ := strings.Cut(s.program, rowsOf); return name }) {
		var n, seconds []float64
		step, at := 0.0, 0.0
		for _, program := range distinct(own, func(s sample) string { return s.program }) {
			rows, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(program, name+rowsOf), onTwo), 64)
			if err != nil {
				continue
			}
			var all []float64
			for _, s := range own {
				if s.program == program {
					all = append(all, s.values[cpu])
				}
			}
			n, seconds = append(n, math.Log(rows)), append(seconds, math.Log(engine.Median(all)))
			if last := len(n) - 2; last >= 0 {
				if s := math.Exp(seconds[last+1] - seconds[last] - (n[last+1] - n[last])); s > step {
					step, at = s, rows
				}
			}
		}
		if len(n) > 1 {
			_, exponent := stat.LinearRegression(n, seconds, nil, false)
			t.Add(name, three(exponent), three(step), strconv.FormatFloat(at, 'f', 0, 64))
		}
	}
	return t
}

// Units of the benchmark of scans.
const (
	ofRow   = "-ns/row"
	ofPlain = "-ratio" // to the Gram pass in Go, which is called plainPass
)

const plainPass, memory = "tiles", "fetch"

// scansOf are the scans of a line of the benchmark of scans, the fetch of memory first.
func scansOf(s sample) (out []sample) {
	for _, unit := range s.units {
		name, is := strings.CutSuffix(unit, ofRow)
		if !is {
			continue
		}
		one := sample{group: s.group, program: name, round: s.round, values: map[string]float64{cpu: s.values[unit] / 1e9}}
		if name != plainPass {
			one.values[gramPasses], one.units = s.values[name+ofPlain], []string{gramPasses}
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b sample) int {
		if (a.program == memory) == (b.program == memory) {
			return 0
		}
		if a.program == memory {
			return -1
		}
		return 1
	})
	return out
}

const gramPasses = "Gram-passes"
