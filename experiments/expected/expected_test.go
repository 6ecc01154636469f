package expected

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Every method of the catalog for one component is measured, and the grid of each is one that
// lookups can use.
func TestGrid(t *testing.T) {
	table := map[string]int{}
	text, err := os.ReadFile(filepath.Join("..", "..", "estimate", "catalog", "measured.csv"))
	if err != nil {
		t.Fatal(err)
	}
	measured, err := catalog.ParseErrorTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range measured.Points() {
		table[p.Method]++
	}
	points := map[string]int{}
	enginetest.Lines(t, Study, func(l *line) error {
		points[l.By] += len(l.Rows)
		if last := l.Rows[len(l.Rows)-1]; float64(last*l.Cell.columns) > mostCells {
			return fmt.Errorf("%d rows of %d columns", last, l.Cell.columns)
		}
		return nil
	})
	for method := range points {
		if table[method] == 0 {
			t.Errorf("%s is not in the table", method)
		}
	}
	p := estimate.Problem{Columns: 2, Rows: 20000, Mu: .2, Components: 1}
	for _, c := range gauze.Methods().Candidates(p, p.Rows) {
		if points[c.Method] == 0 {
			t.Errorf("%s is a candidate for one component, and nothing measures it: add it to entries", c.Method)
		}
	}
}

// Facts that a method is told are true, and as loose as the table says.
func TestFactsAreTrue(t *testing.T) {
	for _, loose := range []float64{10, 1e4} {
		for _, d := range []int{1, 5} {
			s := setting{Kind: catalog.Kind{Relation: privacy.ReplaceOne, Data: catalog.GaussianRows, Loose: loose}, columns: d}
			for seed := range uint64(50) {
				drawn := s.draw(seed)
				if err := drawn.facts.Validate(); err != nil {
					t.Fatal(err)
				}
				if got := catalog.Looseness(drawn.facts, d); math.Abs(got/loose-1) > 1e-9 {
					t.Errorf("looseness %v, want %v", got, loose)
				}
				low, high := drawn.facts.Eigenvalues[0], drawn.facts.Eigenvalues[1]
				top, bottom := 1., 1/drawn.population.Kappa
				if d == 1 {
					top = bottom
				}
				if top > high*(1+1e-9) || bottom < low*(1-1e-9) || drawn.population.Offset > drawn.facts.MeanWithin {
					t.Errorf("seed %d: eigenvalues %v to %v, mean at %v: %+v", seed, bottom, top, drawn.population.Offset, drawn.facts)
				}
			}
		}
	}
}

// A few runs from end to end, printed although there is a folder for results; another method's
// lines in a table stay.
func TestMeasure(t *testing.T) {
	o, out := enginetest.Options(t), new(bytes.Buffer)
	o.Stdout, o.Only = out, []string{"full/replace-one/gaussian/0/1/1", "full/add-remove-one/gaussian/0/2/4"}
	if err := Study.Run(context.Background(), o, []string{"gaussian"}); err != nil {
		t.Fatal(err)
	}
	got, err := catalog.ParseErrorTable(out.String())
	if err != nil {
		t.Fatal(err)
	}
	points := got.Points()
	if len(points) != 2*len(multiples) {
		t.Fatalf("%d points, want %d", len(points), 2*len(multiples))
	}
	for _, p := range points {
		// At six times what is needed, fewer than one run in 10^4 is lost, and a setting only if
		// both of its runs are.
		if needs := float64(points[3].Rows); p.Runs != 2 || p.Columns == 1 && float64(p.Rows) > 5*needs && (p.Released == 0 || !(p.Covariance < 1) || !(p.PlainCovariance > 0)) {
			t.Errorf("%+v", p)
		}
	}
	name := filepath.Join(t.TempDir(), "out.csv")
	other := points[len(points)-1]
	other.Method = "univariate:kv18"
	for range 2 {
		if err := replace(name, "univariate:kv18", []catalog.ErrorPoint{other}); err != nil {
			t.Fatal(err)
		}
		if err := replace(name, "gaussian", points); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if want := format(append(points, other)); string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestUnknownMethod(t *testing.T) {
	if err := Study.Run(context.Background(), engine.Options{}, []string{"gausian"}); err == nil {
		t.Error("wanted an error, got none")
	}
}
