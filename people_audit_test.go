package gauze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// others is how many persons of one row there are beside the attacked one.
const others = 1500

// TestPersonAudit attacks a person of 500 rows, who is there or not, from end to end: a file is
// opened, loaded and fitted, and the noisy number of rows behind the model is compared with what it
// would be half a row, or 250 rows, above that of all others. With the unit declared right guesses
// prove no more than is claimed; with the unit ignored the same attack proves more.
//
// False-alarm rate: 4e-8.
func TestPersonAudit(t *testing.T) {
	const many = 500
	runs := 36
	if os.Getenv("GAUZE_LONG") != "" {
		runs = 1500
	}
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	var base strings.Builder
	base.WriteString("person,x\n")
	for i := range others {
		fmt.Fprintf(&base, "p%d,%g\n", i, rng.NormFloat64())
	}
	with := base.String() + strings.Repeat("far,1\n", many)
	for _, unit := range []string{"person", ""} {
		right := [2]int{}
		for range runs {
			there := rng.IntN(2) == 0
			text := base.String()
			if there {
				text = with
			}
			rows := effectiveRows(t, text, unit)
			for i, edge := range []float64{.5, many / 2} {
				if (rows > others+edge) == there {
					right[i]++
				}
			}
		}
		proved := 0.
		for _, n := range right {
			low, _ := stattest.ProportionBounds(t, n, runs, 2e-8)
			proved = max(proved, 2*math.Sqrt2*math.Erfinv(max(0, 2*low-1)))
		}
		epsilon := 0.
		if proved > 0 {
			epsilon = privacy.EpsilonOfMu(1e-6, proved)
		}
		t.Logf("unit %q: %v of %d right, epsilon >= %.3f", unit, right, runs, epsilon)
		if (epsilon > 1) != (unit == "") {
			t.Errorf("unit %q: an epsilon of %.3f is proved, claimed was 1", unit, epsilon)
		}
	}
}

// effectiveRows is the noisy number of rows behind a Gaussian; that of all others where nothing was
// released.
func effectiveRows(t *testing.T, text, unit string) float64 {
	t.Helper()
	in, err := Open("-", strings.NewReader(text), &source.Schema{Unit: unit, Columns: []source.Column{{Name: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	table, err := in.Load(privacy.AddRemoveOne, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := in.Request()
	r.Relation, r.Budget, r.Method, r.Components = privacy.AddRemoveOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}, "gaussian", 1
	result, err := Fit(t.Context(), table, r)
	if err != nil {
		t.Fatal(err)
	}
	if result.Release == nil {
		return others
	}
	return result.Release.Diagnostics.Components[0].EffectiveRows
}
