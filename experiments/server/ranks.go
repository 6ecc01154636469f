package server

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// compare adds the quantities of a change to a table, and what differs to a brief one.
func (w *watched) compare(t, brief *engine.Table, name string, requests int64) {
	var names []string
	for what := range w.seen[0][0] {
		names = append(names, what)
	}
	slices.Sort(names)
	limit, largest := math.Sqrt2*math.Erfinv(1-falseAlarm/float64(len(names))), 0.
	var differ []string
	for _, what := range names {
		var x [2][]float64
		var d []float64
		for i := range w.seen[0] {
			for j := range x {
				x[j] = append(x[j], w.seen[j][i][what])
			}
			d = append(d, x[1][i]-x[0][i])
		}
		z := signedRanks(d)
		said := "no"
		if math.Abs(z) > limit {
			said, differ = "**yes**", append(differ, what)
		}
		largest = max(largest, math.Abs(z))
		t.Add(name, what, fmt.Sprintf("%.4g", engine.Median(x[0])), fmt.Sprintf("%.4g", engine.Median(x[1])), fmt.Sprintf("%.2f", z), said)
	}
	alone := 0
	for j := range w.texts {
		for text := range w.texts[j] {
			if !w.texts[1-j][text] {
				alone++
			}
		}
	}
	if differ == nil {
		differ = []string{"nothing"}
	}
	brief.Add(name, strings.Join(differ, "; "), fmt.Sprintf("%.2f", largest), fmt.Sprintf("%.2f", limit), alone, requests)
}

// signedRanks returns the standardized sum of the ranks of positive differences, ranked by size:
// about standard normal if each is as likely positive as negative, which it is if which of the two
// was measured first, and which is which, was drawn. Differences of zero are left out.
func signedRanks(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	sum, variance := 0., 0.
	for i := 0; i < len(d); {
		j := i
		for j < len(d) && math.Abs(d[j]) == math.Abs(d[i]) {
			j++
		}
		rank := float64(i+j+1) / 2
		for ; i < j; i++ {
			variance += rank * rank / 4
			if d[i] > 0 {
				sum += rank / 2
			} else {
				sum -= rank / 2
			}
		}
	}
	if variance == 0 {
		return 0
	}
	return sum / math.Sqrt(variance)
}
