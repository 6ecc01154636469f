package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release/check"
)

func mixture(t testing.TB) *model.Mixture {
	t.Helper()
	wide, err := model.NewFull(mat.NewSymDense(2, []float64{2, 0.3, 0.3, 1.0 / 3}))
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := model.NewDiagonal([]float64{1e-9, 4e7})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New([]string{"age", `b,"m" <i>`}, []float64{0.75, 0.25},
		[]model.Gaussian{{Mean: []float64{0.1, -1e300}, Cov: wide}, {Mean: []float64{5e-324, math.Pi}, Cov: narrow}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gaussian is a consistent release of Gaussian measurements and one threshold, at (epsilon, delta)
// = (1, 1e-6).
func gaussian(t testing.TB) *Release {
	t.Helper()
	const delta = 1e-6
	c, err := privacy.Calibrate(privacy.Budget{Epsilon: 1, Delta: delta}, privacy.Needs{Thresholds: true})
	if err != nil {
		t.Fatal(err)
	}
	part := float64(c.Cap) / 9 * (1 - 1e-15)
	step := func(name string, count int, sensitivity, mu float64) PlanStep {
		return PlanStep{Step: name, Query: "clipped moments", Count: count, Sensitivity: sensitivity, Noise: sensitivity / mu, Mu: mu, Source: "KSSU19 Algorithm 2"}
	}
	count := step("count", 1, 1, math.Sqrt(part))
	cells := step("cells", 1, math.Sqrt2, math.Sqrt(2*part))
	cells.Query, cells.Delta = "stability histogram", c.ThresholdDelta
	moments := step("moments", 2, 1234.5, math.Sqrt(3*part))
	r := &Release{Model: mixture(t), Certificate: Certificate{Relation: AddRemoveOne, Epsilon: 1, Delta: delta, Schema: SchemaDeclared,
		Method: "separated", Plan: []PlanStep{count, cells, moments}, Version: "1.0"}}
	finish(r, c)
	return r
}

// finish fills in what the plan spent, as the program does.
func finish(r *Release, c privacy.Calibration) {
	r.Format = Format
	sum := r.Certificate.planTotals()
	loss := c.Loss(privacy.Mu2(math.Min(sum.mu2, float64(c.Cap))), 0, math.Min(sum.delta, c.ThresholdDelta))
	r.Certificate.Spent = Spent{Epsilon: loss.Epsilon, Delta: loss.Delta, Mu: loss.Mu, Rho: loss.Rho}
}

// concentrated is a consistent release at rho = 0.1.
func concentrated(t testing.TB) *Release {
	t.Helper()
	c, err := privacy.Calibrate(privacy.Budget{Rho: 0.1}, privacy.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	rows, mu := 15892, math.Sqrt(float64(c.Cap)/3)*(1-1e-15)
	r := &Release{Model: mixture(t), Certificate: Certificate{Relation: ReplaceOne, Rho: 0.1, Rows: &rows, Schema: SchemaInferred, Method: "gaussian",
		Plan: []PlanStep{{Step: "moments", Query: "clipped moments", Count: 3, Sensitivity: 2, Noise: 2 / mu, Mu: mu}}}}
	finish(r, c)
	return r
}

// pure is a consistent release with a step of every law, at (epsilon, delta) = (2, 1e-6).
func pure(t testing.TB) *Release {
	t.Helper()
	c, err := privacy.Calibrate(privacy.Budget{Epsilon: 2, Delta: 1e-6}, privacy.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	mu := math.Sqrt(float64(c.Cap)/3) * (1 - 1e-12)
	eps0, ranged := privacy.PureOfMu(mu), privacy.BoundedRangeOfMu(mu)
	step := func(law string, factor, eps0, mu float64) PlanStep {
		return PlanStep{Step: law, Query: "select: good radius", Count: 1, Law: law, Sensitivity: 399, Noise: factor * 399 / eps0, Mu: mu}
	}
	r := &Release{Model: mixture(t), Certificate: Certificate{Relation: AddRemoveOne, Epsilon: 2, Delta: 1e-6, Schema: SchemaDeclared, Method: "separated",
		Plan: []PlanStep{step("laplace", 1, eps0, privacy.MuOfPure(eps0)), step("exponential", 2, ranged, privacy.MuOfBoundedRange(ranged)),
			step("above threshold", 4, eps0, privacy.MuOfPure(eps0))}}}
	finish(r, c)
	return r
}

// shaped is a consistent release that states the shapes of its queries.
func shaped(t testing.TB) *Release {
	t.Helper()
	c, err := privacy.Calibrate(privacy.Budget{Epsilon: 1, Delta: 1e-6}, privacy.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	mu := math.Sqrt(float64(c.Cap)/2) * (1 - 1e-12)
	r := &Release{Model: mixture(t), Certificate: Certificate{Relation: AddRemoveOne, Epsilon: 1, Delta: 1e-6, Schema: SchemaDeclared, Method: "gaussian",
		Plan: []PlanStep{{Step: "scale", Query: "histogram", Count: 1, Sensitivity: math.Sqrt2, Noise: math.Sqrt2 / mu, Mu: mu, Shape: &check.Shape{Of: 2, Unit: 1}},
			{Step: "count", Query: "count", Count: 1, Sensitivity: 1, Noise: 1 / mu, Mu: mu, Shape: &check.Shape{Unit: 1}}}}}
	finish(r, c)
	return r
}

// noDelta is a consistent release with every law that is pure, at (epsilon, delta) = (2, 0).
func noDelta(t testing.TB) *Release {
	t.Helper()
	step := func(law string, factor, epsilon, mu float64) PlanStep {
		return PlanStep{Step: law, Query: "select: good radius", Count: 1, Law: law, Sensitivity: 399, Noise: factor * 399 / epsilon, Mu: mu}
	}
	r := &Release{Format: Format, Model: mixture(t), Certificate: Certificate{Relation: AddRemoveOne, Epsilon: 2, Schema: SchemaDeclared, Method: "univariate:kv18",
		Plan: []PlanStep{step("laplace", 1, .5, privacy.MuOfPure(.5)), step("exponential", 2, .75, privacy.MuOfBoundedRange(.75)),
			step("above threshold", 4, .25, privacy.MuOfPure(.25))}}}
	r.Certificate.Plan[0].Count = 2
	r.Certificate.Spent.Epsilon = 2
	if err := r.Certificate.Complete(); err != nil {
		t.Fatal(err)
	}
	return r
}

// cut is a consistent release with the laws that stand with a threshold's delta, at (epsilon,
// delta) = (1, 1e-6).
func cut(t testing.TB) *Release {
	t.Helper()
	c, err := privacy.Calibrate(privacy.Budget{Epsilon: 1, Delta: 1e-6}, privacy.Needs{Thresholds: true})
	if err != nil {
		t.Fatal(err)
	}
	eps0 := privacy.PureOfMu(math.Sqrt(float64(c.Cap)/2) * (1 - 1e-12))
	step := func(law, query string, sensitivity float64) PlanStep {
		return PlanStep{Step: law, Query: query, Count: 1, Law: law, Sensitivity: sensitivity, Noise: sensitivity / eps0, Mu: privacy.MuOfPure(eps0), Delta: c.ThresholdDelta / 2}
	}
	r := &Release{Model: mixture(t), Certificate: Certificate{Relation: AddRemoveOne, Epsilon: 1, Delta: 1e-6, Schema: SchemaDeclared, Method: "general",
		Plan: []PlanStep{step("truncated laplace", "gap buckets", 6), step("local exponential", "select: cell deficits", 1)}}}
	finish(r, c)
	return r
}

// known is a consistent release of a fit that was told facts.
func known(t testing.TB) *Release {
	r := concentrated(t)
	r.Certificate.Facts = &Facts{MeanWithin: new(float64), EigenvaluesWithin: []float64{1e-3, 25}, Moments: 4, KnownCovariance: [][]float64{{4, .5}, {.5, 9}}}
	return r
}

func TestConsistentReleasesVerify(t *testing.T) {
	for name, r := range map[string]*Release{"gaussian": gaussian(t), "concentrated": concentrated(t), "pure": pure(t), "masked": masked(t), "published": published(t),
		"known": known(t), "shaped": shaped(t)} {
		if faults := Verify(r); faults != nil {
			t.Errorf("%s: %v", name, faults)
		}
		if faults := Verify(reread(t, r)); faults != nil {
			t.Errorf("%s, read back: %v", name, faults)
		}
	}
}

func reread(t testing.TB, r *Release) *Release {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// TestRoundTrip: everything that is written is read back as it was.
func TestRoundTrip(t *testing.T) {
	for name, r := range map[string]*Release{"gaussian": gaussian(t), "concentrated": concentrated(t), "pure": pure(t), "masked": masked(t), "published": published(t),
		"known": known(t), "shaped": shaped(t)} {
		r.Certificate.Simulated = true
		r.Diagnostics = Diagnostics{
			Components: []ComponentNote{{EffectiveNoise: 0.1, Misfit: .9, EffectiveRows: 1e-300, Flags: []Flag{{Code: flags.FewRows, Text: "thin"}}}, {}},
			Flags:      []Flag{{Code: flags.LeftOut, Columns: []string{"age"}, Share: .05, Noise: 1e-3, Text: "a, [b] {c}: \"d\"\\"}}, Unresolved: []Direction{{[]float64{0.6, 0.8}, 1e-3}},
			ConstantColumns: []string{"age"}, Notes: []string{"note <1>"},
			Number:      &Number{Found: 1, Confidence: .93, Or: 2},
			Undescribed: &Undescribed{Share: .06, Noise: 1e-3, Where: "far", Columns: []UndescribedColumn{{Column: "age", Share: .05, Noise: 1e-3, Beyond: []float64{-1, 1}, Pull: .2}}},
		}
		again := reread(t, r)
		if !reflect.DeepEqual(again.Certificate, r.Certificate) {
			t.Errorf("%s: certificate\ngot  %+v\nwant %+v", name, again.Certificate, r.Certificate)
		}
		if !reflect.DeepEqual(again.Diagnostics, r.Diagnostics) {
			t.Errorf("%s: diagnostics\ngot  %+v\nwant %+v", name, again.Diagnostics, r.Diagnostics)
		}
		got, err := json.Marshal(again.Model)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: model\ngot  %s\nwant %s", name, got, want)
		}
	}
}

// TestContract: the names and shapes that other programs rely on.
func TestContract(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, published(t)); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	keys := func(v any) string {
		var names []string
		for _, name := range []string{"format", "model", "certificate", "diagnostics", "kind", "columns", "weights", "means", "covariances", "covariance_type",
			"relation", "epsilon", "delta", "rho", "spent", "mu", "rows", "schema", "method", "plan", "simulated", "version",
			"step", "query", "count", "sensitivity", "noise", "source", "renyi", "pure", "mask", "learner"} {
			if _, ok := v.(map[string]any)[name]; ok {
				names = append(names, name)
			}
		}
		if len(names) != len(v.(map[string]any)) {
			t.Errorf("names beyond the contract in %v", v)
		}
		return strings.Join(names, " ")
	}
	certificate := got["certificate"].(map[string]any)
	plan := certificate["plan"].([]any)
	for _, c := range []struct{ where, got, want string }{
		{"release", keys(got), "format model certificate diagnostics"},
		{"model", keys(got["model"]), "kind columns weights means covariances covariance_type"},
		{"certificate", keys(certificate), "relation epsilon delta spent rows schema method plan simulated version learner"},
		{"spent", keys(certificate["spent"]), "epsilon delta rho mu"},
		{"Gaussian step", keys(plan[0]), "delta mu step query count sensitivity noise"},
		{"Rényi step", keys(plan[1]), "delta step query count renyi pure"},
		{"mask", keys(plan[2]), "delta step query count renyi mask"},
	} {
		if c.got != c.want {
			t.Errorf("%s has the fields %s, want %s", c.where, c.got, c.want)
		}
	}
	if got["format"] != "gauze/release/v1" || certificate["rows"] != 40000.0 {
		t.Errorf("format %v, rows %v", got["format"], certificate["rows"])
	}
	b.Reset()
	if err := Write(&b, gaussian(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n    \"rows\": null,\n", "\n      [0.1, -1e+300],\n", "\n        [2, 0.3],\n", "\n  \"diagnostics\": {}\n}\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in\n%s", want, b.String())
		}
	}
}

func TestReadMistakes(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, gaussian(t)); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	swap := func(old, by string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in the release", old)
		}
		return strings.Replace(good, old, by, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "want one JSON object"},
		"cut":               {good[:len(good)/2], "want one JSON object"},
		"more behind it":    {good + "{}", "want one JSON object"},
		"an array":          {"[]", "want a JSON object, got array"},
		"another file":      {`{"a": 1}`, "format: want \"gauze/release/v1\", got none"},
		"format a number":   {swap(`"gauze/release/v1"`, `1`), "format: want"},
		"newer":             {swap("release/v1", "release/v2"), "another version of gauze wrote it"},
		"something else":    {swap("gauze/release/v1", "pickle"), "it is not a release of Gauze"},
		"no model":          {`{"format": "gauze/release/v1", "certificate": {}}`, "model: want a mixture, got none"},
		"null model":        {`{"format": "gauze/release/v1", "model": null}`, "model: want a mixture, got none"},
		"weights":           {swap("[0.75, 0.25]", "[0.75, 0.5]"), "weights"},
		"epsilon in words":  {swap(`"epsilon": 1,`, `"epsilon": "one",`), "epsilon"},
		"number too large":  {swap(`"epsilon": 1,`, `"epsilon": 1e999,`), "epsilon"},
		"rows not whole":    {swap(`"rows": null`, `"rows": 1.5`), "rows"},
		"covariance ragged": {swap("[2, 0.3]", "[2]"), "covariances"},
		"epsilon twice":     {swap(`"epsilon": 1,`, `"epsilon": 0.01, "epsilon": 1,`), "want every key once"},
		"epsilon loud":      {swap(`"epsilon": 1,`, `"epsilon": 0.01, "EPSILON": 5,`), "want keys in small letters"},
		"weights twice":     {swap(`"weights"`, `"weights": [1], "weights"`), "want every key once"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader(swap(`"method"`, `"colour": {"of": ["the", 1]}, "method"`))); err != nil {
		t.Errorf("an unknown field: %v", err)
	}
	if _, err := Read(strings.NewReader(swap(`"method"`, `"component": {"missing": {"CRP": 0.1, "crp": 0.2}}, "method"`))); err != nil {
		t.Errorf("columns with missing cells, in capitals: %v", err)
	}
	if _, err := Read(iotest.ErrReader(os.ErrClosed)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a failing reader: %v", err)
	}
}

// TestReadBare: a bare model is a release that promises nothing, and a release of an earlier
// version that says beside its model what is background says it in the model.
func TestReadBare(t *testing.T) {
	want, err := json.Marshal(mixture(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, gaussian(t)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"release": b.String(), "bare": string(want), "no certificate": `{"format": "gauze/release/v1", "model": ` + string(want) + `}`} {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := json.Marshal(r.Model); err != nil || !bytes.Equal(got, want) || r.Bare() != (name != "release") {
			t.Errorf("%s: got %s, bare %v, %v", name, got, r.Bare(), err)
		}
	}
	byHand := `{"kind": "gaussian-mixture", "weights": [1], "means": [[1, 2]], "covariances": [[[1, 0], [0, 1]]]}`
	if r, err := Read(strings.NewReader(byHand)); err != nil || r.Model.Dim() != 2 {
		t.Errorf("by hand: %v", err)
	}
	old := `{"format": "gauze/release/v1", "model": ` + string(want) + `, "diagnostics": {"components": [{}, {"background": true}]}}`
	if r, err := Read(strings.NewReader(old)); err != nil || !slices.Equal(r.Model.Background, []bool{false, true}) {
		t.Errorf("background of an earlier version: %v, %v", r, err)
	}
	for _, text := range []string{"", "{}", `{"weights": [2]}`, strings.Replace(b.String(), "release/v1", "release/v9", 1)} {
		if r, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("Read(%.40q) = %v", text, r)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "release.json")
	link := filepath.Join(folder, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return strings.Join(all, " ")
	}
	first, second := gaussian(t), concentrated(t)
	if err := WriteFile(path, first); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := concentrated(t)
	broken.Model.Weights[0] = 7
	infinite := concentrated(t)
	infinite.Certificate.Epsilon = math.Inf(1)
	for _, bad := range []*Release{broken, infinite, {}, {Format: "x", Model: mixture(t)}} {
		if err := WriteFile(path, bad); err == nil {
			t.Error("a release that cannot be read back was written")
		}
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Error("a failed write changed the old file")
	}
	if err := WriteFile(link, second); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("a link was replaced by a file")
	}
	if r, err := ReadFile(path); err != nil || r.Certificate.Rho != 0.1 {
		t.Errorf("read back %v, %v", r, err)
	}
	within := filepath.Join(folder, "within")
	if err := os.Mkdir(within, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replace(within, func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if err := os.Remove(within); err != nil {
		t.Fatal(err)
	}
	if names() != "link.json release.json" {
		t.Errorf("left behind: %s", names())
	}
	if err := WriteFile(filepath.Join(folder, "none", "release.json"), first); err == nil {
		t.Error("a folder that is not there was written to")
	}
	if err := WriteFile(folder, first); err == nil {
		t.Error("a folder was written to")
	}
	if err := WriteFile(os.DevNull, first); err != nil {
		t.Errorf("a device: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("a device was replaced by a file")
	}
}

// FuzzRead: any bytes are read without a panic; what is read can be verified, put into words, and
// written so that it reads the same.
func FuzzRead(f *testing.F) {
	for _, r := range []*Release{gaussian(f), concentrated(f)} {
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"format": "gauze/release/v1", "model": {"kind": "gaussian-mixture", "weights": [1], "means": [[1]], "covariances": [[[0]]]}, "certificate": {"plan": [{"renyi": {"2": 1}}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		Verify(r)
		if said(r.Certificate) == "" {
			t.Fatal("no words")
		}
		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if _, err := Read(&b); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

// TestCells: what was declared of a column goes before what counts say, and is checked.
func TestCells(t *testing.T) {
	r, least, most := gaussian(t), 0., 120.
	names := r.Model.Columns
	r.Columns = []Column{{Name: names[0], RoundedTo: .1, AtLeast: &least, AtMost: &most}, {Name: names[1]}}
	r.Diagnostics.Units = []Unit{{Column: names[0], Unit: 3, Offset: 1}, {Column: names[1], Unit: 7, Offset: 2}}
	want := []model.Cell{{Unit: .1, Most: 120}, {Unit: 7, Offset: 2, Least: math.Inf(-1), Most: math.Inf(1)}}
	if got := reread(t, r).Model.Cells; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if faults := Verify(r); faults != nil {
		t.Errorf("faults: %v", faults)
	}
	r.Columns[1].Name, most = "other", -1
	r.Diagnostics.Units[0].Unit = -1
	if faults := Verify(r); len(faults) != 3 {
		t.Errorf("want three faults, got %v", faults)
	}
}

// TestReadEncodings: what an editor makes of a release is the same release.
func TestReadEncodings(t *testing.T) {
	r := gaussian(t)
	r.Identity = &Identity{Title: "größe"}
	var text bytes.Buffer
	if err := Write(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		wide, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().Bytes(text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{wide, append([]byte("\ufeff"), text.Bytes()...)} {
			if got, err := Read(bytes.NewReader(data)); err != nil || !reflect.DeepEqual(got.Certificate, r.Certificate) || got.Identity.Title != r.Identity.Title {
				t.Errorf("got %v", err)
			}
		}
	}
}
