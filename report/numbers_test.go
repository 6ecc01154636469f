package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gauze-dp/gauze/release"
)

// grouped is a release of two groups with models and one without.
func grouped(t testing.TB) *release.Release {
	r := typical(t)
	d := r.Diagnostics
	single := fixtures(t)["single"]
	r.Certificate.By = []string{"sex"}
	r.Groups = []release.Group{
		{By: map[string]string{"sex": "f"}, Rows: 9000, Model: r.Model, Diagnostics: &d},
		{By: map[string]string{"sex": "m"}, Rows: 400, Model: single.Model, Diagnostics: &release.Diagnostics{}},
		{By: map[string]string{"sex": "x"}, NoRelease: &release.Reason{Reason: "about 30 rows are too few", Advice: "more rows"}},
	}
	r.Model, r.Diagnostics = nil, release.Diagnostics{}
	return r
}

// profiled is a release of table one: a column that is known, and one that is held out.
func profiled() *release.Release {
	return &release.Release{Format: release.Format, Columns: []release.Column{{Name: "age", Label: "Age", UnitOfMeasure: "years"}, {Name: "rare"}}, Profile: []release.ColumnProfile{
		{Name: "age", Cells: .975, CellsNoise: .003, Mean: &release.Noisy{Value: 40.25, Noise: .11}, Quantiles: map[string]float64{"0.25": 33, "0.5": 40}, RankNoise: map[string]float64{"0.25": .01, "0.5": .012},
			Within: []float64{16, 99}, Beyond: .01, Grid: 1, Atoms: []release.Atom{{Value: 99, Share: .06, Noise: .002}}, Histogram: []release.Bar{{Low: 16, High: 40, Share: .5}, {Low: 40, High: 99, Share: .5}},
			Notes: []string{"the noise hides the standard deviation"}},
		{Name: "rare", Cells: .005, CellsNoise: .003, HeldOut: "too few values: about 30 (give or take 18)"},
	}}
}

// profiledGroups is the same of one of two groups.
func profiledGroups() *release.Release {
	r := profiled()
	r.Certificate.By = []string{"sex"}
	r.Groups = []release.Group{{By: map[string]string{"sex": "f"}, Rows: 900, Profile: r.Profile, Diagnostics: &release.Diagnostics{}},
		{By: map[string]string{"sex": "m"}, NoRelease: &release.Reason{Reason: "no rows", Advice: "more rows"}}}
	r.Profile = nil
	return r
}

// TestNumbersGolden: csv and json as they are.
func TestNumbersGolden(t *testing.T) {
	all := fixtures(t)
	for name, r := range map[string]*release.Release{"typical": all["typical"], "bare": all["bare"], "degenerate": all["degenerate"], "grouped": grouped(t), "profile": profiled(), "profiles": profiledGroups()} {
		for _, format := range []string{"csv", "json"} {
			var b bytes.Buffer
			if err := Write(&b, r, format, Options{}); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+"."+format)
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || b.String() != string(want) {
				t.Errorf("%s differs, %v; if it should, run the test with -update", file, err)
			}
		}
	}
}

// TestPrincipalGolden: the principal components of one model and of groups, as a table and as JSON.
func TestPrincipalGolden(t *testing.T) {
	for name, r := range map[string]*release.Release{"typical": fixtures(t)["typical"], "grouped": grouped(t)} {
		for kind, o := range map[string]PrincipalOptions{"pca.txt": {}, "pca.json": {JSON: true, Correlation: true}} {
			var b bytes.Buffer
			if err := Principal(&b, r, o); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+"."+kind)
			if *update {
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || b.String() != string(want) {
				t.Errorf("%s differs, %v; if it should, run the test with -update", file, err)
			}
		}
	}
	if err := Principal(&bytes.Buffer{}, nil, PrincipalOptions{}); err == nil {
		t.Error("nothing has components")
	}
}

// TestNumbersRead: every fixture's csv and json read back, and both hold the model's own means.
func TestNumbersRead(t *testing.T) {
	for name, r := range fixtures(t) {
		var b bytes.Buffer
		if err := CSV(&b, r); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		means := map[string]int{}
		for _, line := range lines[1:] {
			if line[3] == "mean" {
				means[line[1]+line[2]]++
			}
			if _, err := strconv.ParseFloat(line[6], 64); err != nil {
				t.Errorf("%s: %q", name, line)
			}
		}
		if len(means) != len(r.Model.Components)+1 || means["table"] != r.Model.Dim() {
			t.Errorf("%s: means %v", name, means)
		}
		b.Reset()
		if err := JSON(&b, r); err != nil {
			t.Fatal(err)
		}
		var back struct {
			Components []struct {
				Weight  struct{ Value float64 }
				Columns []struct {
					Mean struct{ Value float64 }
					SD   struct{ Value float64 }
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Components) != len(r.Model.Components) {
			t.Fatalf("%s: %v", name, err)
		}
		for i, c := range back.Components {
			if math.Abs(c.Weight.Value-r.Model.Weights[i]) > 1e-12 || len(c.Columns) != r.Model.Dim() {
				t.Errorf("%s: component %d: %+v", name, i+1, c)
			}
			for j, column := range c.Columns {
				g := r.Model.Components[i]
				if r.Model.Cells == nil && math.Abs(column.Mean.Value-g.Mean[j]) > 1e-9*math.Abs(g.Mean[j]) {
					t.Errorf("%s: mean %g of component %d, column %d; want %g", name, column.Mean.Value, i+1, j+1, g.Mean[j])
				}
			}
		}
	}
}

// TestNumbersOfNothing: what has no model has no numbers.
func TestNumbersOfNothing(t *testing.T) {
	for _, format := range Formats {
		if err := Write(&bytes.Buffer{}, nil, format, Options{}); err == nil && format != "text" {
			t.Errorf("%s of nothing", format)
		}
	}
}
