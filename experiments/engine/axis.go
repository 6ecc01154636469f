package engine

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// legendWidth is the room right of the plot, and legendMargin what stays empty of it.
const (
	legendWidth  = 1.75 * vg.Inch
	legendMargin = 6
)

// logTicks marks 1, 2 and 5 times powers of ten where the axis spans little, and powers of ten
// alone where it spans much.
type logTicks struct{ rows bool }

// Ticks is plot.Ticker.
func (l logTicks) Ticks(low, high float64) []plot.Tick {
	if !(low > 0) || !(high > low) {
		return nil
	}
	decades := math.Log10(high / low)
	var out []plot.Tick
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for m := 1; m < 10; m++ {
			v, err := strconv.ParseFloat(strconv.Itoa(m)+"e"+strconv.Itoa(e), 64)
			if err != nil || v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || decades < 3.5 && (m == 2 || m == 5) || decades < .7 {
				t.Label = l.label(v)
			}
			out = append(out, t)
		}
	}
	return out
}

func (l logTicks) label(v float64) string {
	if l.rows && v >= 1000 && v == math.Trunc(v) {
		return Rows(int(v))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
