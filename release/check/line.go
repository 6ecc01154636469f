package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Line is what one line of a plan says of its measurement.
type Line struct {
	Query, Law  string
	Relation    privacy.Relation
	Columns     int    // of the table; 0 if not known
	Curve       bool   // the loss is a Rényi curve, in place of a sensitivity and noise
	Shape       *Shape // nil if not known
	Sensitivity float64
	Delta       float64
}

// A Fault describes an error in a line.
type Fault struct{ Field, Wanted, Got string }

// tolerance is the relative difference allowed between a sensitivity and the recomputed one: the
// queries round up.
const tolerance = 1e-9

// Faults returns what is wrong with the line: a query that Gauze does not have, a law of noise that
// its answer cannot have, a delta without a threshold or a threshold without, a shape that no such
// query has, or another sensitivity than follows from it.
func (l Line) Faults() []Fault {
	r, known := l.read()
	switch laws := r.laws(); {
	case !known:
		return []Fault{{"query", "a kind of measurement that Gauze makes", fmt.Sprintf("%q", l.Query)}}
	case l.Curve && (r.blocks || !strings.HasPrefix(l.Query, ofBlocks)):
		return []Fault{{"renyi", fmt.Sprintf("no curve for %q, which no test of agreement and no mask is", l.Query), "one"}}
	case l.Curve:
		return nil
	case laws == nil:
		return []Fault{{"renyi", fmt.Sprintf("a curve for %q", l.Query), "none"}}
	case !slices.Contains(laws, l.Law):
		return []Fault{{"law", fmt.Sprintf("one that noise of %q can have: %q", l.Query, laws), fmt.Sprintf("%q", l.Law)}}
	}
	var faults []Fault
	if (r.threshold || l.Law == "local exponential") != (l.Delta > 0) {
		faults = append(faults, Fault{"delta", "one above 0 where there is a threshold or a test, and 0 where not", fmt.Sprint(l.Delta)})
	}
	if l.Shape == nil {
		return faults
	}
	if misfit := l.misfit(r); misfit != nil {
		return append(faults, *misfit)
	}
	if want := l.recomputed(r); !(math.Abs(l.Sensitivity-want) <= tolerance*want && want <= math.MaxFloat64) {
		faults = append(faults, Fault{"sensitivity", fmt.Sprintf("that of its query and shape, %v", want), fmt.Sprint(l.Sensitivity)})
	}
	return faults
}

// recomputed returns the most that one row can change what the line measured: in L2 for Gaussian
// noise, in L1 or that of a score for other laws.
func (l Line) recomputed(r reading) float64 {
	of, moved := r.l1, 2.
	if l.Law == "" || l.Law == "laplace" && !r.selects {
		of, moved = r.l2, math.Sqrt2
	}
	added, replaced := of(*l.Shape)
	if !r.alone && l.Shape.Parts > 1 {
		replaced = max(replaced, moved*added) // out of one leaf and into another
	}
	sensitivity := max(added, replaced)
	if l.Relation == privacy.AddRemoveOne && !r.blocks {
		sensitivity = added
	}
	if l.Law == "laplace" && !r.selects {
		sensitivity = inL1(sensitivity, l.Shape.Numbers)
	}
	sensitivity *= float64(max(1, l.Shape.Estimates))
	if l.Shape.Unit > 0 {
		sensitivity *= l.Shape.Unit
	}
	return sensitivity
}

// inL1 returns the most that n integers can change in L1 which change by at most s in L2: s^2 and s
// sqrt n bound it, and it is a whole number. The margin is for the roots that s is made of.
func inL1(s float64, n int) float64 {
	return math.Floor(math.Min(s*s, s*math.Sqrt(float64(n))) * (1 + tolerance/10))
}

// misfit returns what is wrong with a shape: numbers that the query does not have.
func (l Line) misfit(r reading) *Fault {
	of, parts, estimates := span{r.least, r.most}, span{}, span{}
	if l.Columns > 0 && !r.blocks {
		switch r.columns {
		case mostColumns:
			of.most = l.Columns
		case allColumns:
			of = span{l.Columns, l.Columns}
		}
	}
	if r.parts && !r.alone || r.selects {
		parts = span{1, many}
	}
	if r.blocks && l.Shape.Estimates != 0 {
		estimates = span{2, many}
	}
	s := l.Shape
	for _, n := range []struct {
		name string
		got  int
		want span
	}{{"estimates", s.Estimates, estimates}, {"of", s.Of, of}, {"parts", s.Parts, parts}} {
		if n.got < n.want.least || n.got > n.want.most {
			return &Fault{"shape", fmt.Sprintf("%q from %d to %d for %q", n.name, n.want.least, n.want.most, l.Query), fmt.Sprint(n.got)}
		}
	}
	switch {
	case (l.Law == "laplace" && !r.selects) != (s.Numbers > 0) || s.Numbers < 0 || s.Numbers > 0 && s.Numbers < s.Of:
		return &Fault{"shape", `as many "numbers" as were answered, beside Laplace noise on sums alone`, fmt.Sprint(s.Numbers)}
	case s.By != 0 && !(s.By == 2 && r.balance):
		return &Fault{"shape", `"by" of 2 for the balance of column counts, and none else`, fmt.Sprint(s.By)}
	case !(s.Unit >= 0 && s.Unit <= math.MaxFloat64):
		return &Fault{"shape", `a finite "unit"`, fmt.Sprint(s.Unit)}
	}
	return nil
}

type span struct{ least, most int }
