package kernel_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

const gapWindow = 1 << 15

// gapLadders has one ladder for each number of gaps: those of ladder i have length 64^i and lie in
// window 1 of scale i, exactly, between its ramps. The gaps from one ladder to the next lie in
// window 0 of other scales, one each.
func gapLadders(numbers []int) (rows [][]float64) {
	for i, n := range numbers {
		gap := math.Ldexp(1, 6*i)
		for j := range n + 1 {
			rows = append(rows, []float64{gapWindow*gap + float64(j)*gap, 2})
		}
	}
	return rows
}

// numbersAround are numbers of gaps from below to above a threshold.
func numbersAround(threshold float64) (numbers []int) {
	for i := range 9 {
		numbers = append(numbers, int(threshold)-4+i)
	}
	return numbers
}

func openGaps(t *testing.T, kind string, r privacy.Relation, rows [][]float64, o kerneltest.Options) *kernel.Session {
	p := kernel.Plan{Method: "gaps", Steps: []kernel.Step{{Name: "gaps", Query: kind, Share: 1, Most: 1, Slack: 1}}}
	return kerneltest.Open(t, kerneltest.Table(rows, 2, r), p, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 2, Delta: 1e-3}}, o)
}

// onlyLeft is a partition with one leaf for rows whose second column is below 3 and one for others.
var onlyLeft = query.Partition{Regions: []query.Region{
	{Conditions: []query.Condition{{Map: query.Affine{Columns: []int{1}, Center: []float64{5}, W: [][]float64{{1}}}, Radius: 2}}}, {}}}

// TestGapThreshold: without noise a window is released from mass T on, T = M + sigma PhiInv(1 -
// s/J), s = delta/(1 + e^epsilon), sigma = S/mu, with the numbers of query.SpacingMasses, whatever
// the number of leaves; and windows say where they are.
func TestGapThreshold(t *testing.T) {
	for r, c := range map[privacy.Relation][3]float64{privacy.ReplaceOne: {1.7944, 1.34375, 12}, privacy.AddRemoveOne: {1.18441, 1.171875, 8}} {
		for leaf, q := range []query.SpacingMasses{{LogWindow: 15}, {LogWindow: 15, Partition: onlyLeft}} {
			var want float64
			run := func(numbers []int) ([]kernel.Spacing, kernel.Measurement, float64) {
				s := openGaps(t, q.Kind(), r, gapLadders(numbers), kerneltest.Options{Exact: true})
				windows, sigma, err := kernel.SpacingHistogram(s.SubBudget(), "gaps", q, .8*s.Mu())
				if err != nil {
					t.Fatal(err)
				}
				return windows, s.Measurements()[0], sigma
			}
			_, m, sigma := run(nil)
			if m.Noise != sigma || m.Query != q.Kind() || m.Sensitivity/sigma > m.Mu*(1+1e-15) || math.Abs(m.Sensitivity-c[0]) > 1e-4 || m.Law != "" ||
				m.Delta > .05*1e-3 || m.Delta < .0499*1e-3 {
				t.Errorf("%v: recorded %+v, sigma %v", r, m, sigma)
			}
			want = c[1] + sigma*math.Sqrt2*math.Erfcinv(2*m.Delta/(1+math.Exp(2))/c[2])
			numbers := numbersAround(want)
			windows, _, _ := run(numbers)
			for i, n := range numbers {
				released := len(windows) > 0 && windows[0].Scale == i
				if released != (float64(n) >= want) {
					t.Errorf("%v, leaf %d: %d gaps released: %v; threshold %v", r, leaf, n, released, want)
				}
				if released {
					gap := math.Ldexp(1, 6*i)
					if w := (kernel.Spacing{Leaf: leaf, Scale: i, Length: gap, Low: .375 * gapWindow * gap, High: 1.625 * gapWindow * gap, Mass: float64(n)}); windows[0] != w {
						t.Errorf("got %+v, want %+v", windows[0], w)
					}
					windows = windows[1:]
				}
			}
			if len(windows) != 0 {
				t.Errorf("released as well: %v", windows)
			}
		}
	}
}

// truncatedSupport is A of restatement 1.1 in integers: the least one with P(Z > A-D) <= s.
func truncatedSupport(epsilon, d, s float64) float64 {
	a := d
	for math.Expm1(epsilon)/(math.Exp(epsilon/d*a)*(math.Exp(epsilon/d)+1)-2) > s {
		a++
	}
	return a
}

// TestTruncatedThreshold: without noise, cells and buckets are released from A + 1 on, and recorded
// with their L1 sensitivity, whatever the number of leaves; they say where they are.
func TestTruncatedThreshold(t *testing.T) {
	const epsilon = .25
	grid := query.Grid{Map: frame(2), Side: []float64{1, 1}, Offset: []float64{0, 0}}
	for r, one := range map[privacy.Relation]float64{privacy.ReplaceOne: 2, privacy.AddRemoveOne: 1} {
		var d, a float64
		check := func(s *kernel.Session, support float64, kind string, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			m := s.Measurements()[0]
			a = truncatedSupport(epsilon, d, m.Delta/(1+math.Exp(2)))
			if support != a || m.Query != kind || m.Law != pure.LawTruncated || m.Sensitivity != d || math.Abs(m.Noise-d/epsilon) > 1e-12*d || m.Mu != privacy.MuOfPure(epsilon) ||
				m.Delta > .05*1e-3 || m.Delta < .0499*1e-3 {
				t.Errorf("%v: support %v, want %v; recorded %+v", r, support, a, m)
			}
		}
		for _, joint := range []bool{true, false} {
			for leaf, q := range []query.BoxKeys{{Grids: []query.Grid{grid}, Joint: joint}, {Partition: onlyLeft, Grids: []query.Grid{grid, grid}, Joint: joint}} {
				d = one
				if !joint {
					d *= 2
				}
				run := func(numbers []int) []kernel.HistogramCell {
					var rows [][]float64
					for i, n := range numbers {
						for range n {
							rows = append(rows, []float64{float64(i) + .5, 2.9 - float64(i)})
						}
					}
					s := openGaps(t, q.Kind(), r, rows, kerneltest.Options{Exact: true})
					released, support, err := pure.TruncatedHistogram(s.SubBudget(), "gaps", q, epsilon)
					check(s, support, q.Kind(), err)
					return released
				}
				run(nil)
				numbers := numbersAround(a)
				found := run(numbers)
				want := kernel.HistogramCell{Leaf: leaf, Key: []float64{5}, Count: a + 1}
				if joint {
					want.Coordinate, want.Key = -1, []float64{5, -3}
				}
				if len(found) != 4*int(d/one) || !reflect.DeepEqual(found[0], want) {
					t.Errorf("%v, joint %v: released %v, want %v first", r, joint, found, want)
				}
			}
		}
		d = 3 * one
		q := papers.SpacingBuckets{Rows: 1 << 10}
		run := func(numbers []int) []pure.Bucket {
			s := openGaps(t, "gap buckets", r, gapLadders(numbers), kerneltest.Options{Exact: true})
			buckets, support, err := pure.TruncatedSpacings(s.SubBudget(), "gaps", q, epsilon)
			check(s, support, "gap buckets", err)
			return buckets
		}
		run(nil)
		buckets := run(numbersAround(a))
		if len(buckets) != 4 || buckets[0] != (pure.Bucket{Scale: 30, Length: 1 << 30, Low: 0, High: 1 << 50, Count: a + 1}) {
			t.Errorf("%v: released %+v, from %v on", r, buckets, a+1)
		}
	}
}

// TestTruncatedError: no count is off by more than the support, cells of more than two supports are
// always released, and no other cell is.
func TestTruncatedError(t *testing.T) {
	q := query.BoxKeys{Grids: []query.Grid{{Map: query.Affine{Columns: []int{0}, Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{1}, Offset: []float64{0}}}}
	var rows [][]float64
	for v := range 120 {
		for range v {
			rows = append(rows, []float64{float64(v), 0})
		}
	}
	total := 0
	for seed := range uint64(40) {
		s := openGaps(t, q.Kind(), privacy.ReplaceOne, rows, kerneltest.Options{Seed: seed})
		released, support, err := pure.TruncatedHistogram(s.SubBudget(), "gaps", q, .9*privacy.PureOfMu(s.Mu()))
		if err != nil {
			t.Fatal(err)
		}
		sure := 0
		for _, c := range released {
			if c.Count <= support || math.Abs(c.Count-c.Key[0]) > support || c.Key[0] < 1 || c.Key[0] > 119 {
				t.Errorf("released %+v, support %v", c, support)
			}
			if c.Key[0] > 2*support {
				sure++
			}
		}
		if want := 119 - int(2*support); sure != want || want < 20 {
			t.Errorf("%d of %d sure cells", sure, want)
		}
		total += len(released)
	}
	if total == 40*len(rows) || total == 0 {
		t.Error("nothing depends on the noise")
	}
}

// TestGapsReplay: recorded runs replay, on other rows too, and are independent of the order of
// rows.
func TestGapsReplay(t *testing.T) {
	rows := gapLadders([]int{300, 400, 500, 600})
	backwards := make([][]float64, len(rows))
	for i, row := range rows {
		backwards[len(rows)-1-i] = row
	}
	grid := query.BoxKeys{Grids: []query.Grid{{Map: query.Affine{Columns: []int{1}, Center: []float64{0}, W: [][]float64{{1}}}, Side: []float64{1}, Offset: []float64{0}}}}
	for kind, run := range map[string]func(s *kernel.Session) (any, float64, error){
		"gaps": func(s *kernel.Session) (any, float64, error) {
			return kernel.SpacingHistogram(s.SubBudget(), "gaps", query.SpacingMasses{LogWindow: 15}, .5*s.Mu())
		},
		"gap buckets": func(s *kernel.Session) (any, float64, error) {
			return pure.TruncatedSpacings(s.SubBudget(), "gaps", papers.SpacingBuckets{Rows: 1000}, .3)
		},
		grid.Kind(): func(s *kernel.Session) (any, float64, error) {
			return pure.TruncatedHistogram(s.SubBudget(), "gaps", grid, .3)
		},
	} {
		var tr kerneltest.Transcript
		first, size, err := run(openGaps(t, kind, privacy.ReplaceOne, rows, kerneltest.Options{Seed: 7, Record: &tr}))
		if err != nil || reflect.ValueOf(first).Len() == 0 {
			t.Fatalf("%s: %v, %v", kind, first, err)
		}
		replayed, again, err := run(openGaps(t, kind, privacy.ReplaceOne, rows[:9], kerneltest.Options{Seed: 8, Replay: &tr}))
		if err != nil || again != size || !reflect.DeepEqual(first, replayed) {
			t.Errorf("%s: recorded %v, replayed %v (%v)", kind, first, replayed, err)
		}
		turned, _, err := run(openGaps(t, kind, privacy.ReplaceOne, backwards, kerneltest.Options{Seed: 7}))
		if err != nil || !reflect.DeepEqual(first, turned) {
			t.Errorf("%s: %v, and %v with the rows backwards (%v)", kind, first, turned, err)
		}
	}
}

// TestGapsRefused: what cannot be used is refused and costs nothing.
func TestGapsRefused(t *testing.T) {
	p := kernel.Plan{Method: "gaps", Steps: []kernel.Step{{Name: "gaps", Query: "gaps", Share: .5, Most: 1, Slack: .5}, {Name: "no slack", Query: "gaps", Share: .5, Most: 1},
		{Name: "buckets", Query: "gap buckets", Share: .5, Most: 1, Slack: .5}}}
	s := kerneltest.Open(t, kerneltest.Table(someRows(20, 2), 2, terms.Relation), p, terms, kerneltest.Options{})
	a := s.SubBudget()
	good, mu := query.SpacingMasses{LogWindow: 15}, .1*s.Mu()
	for name, try := range map[string]func() error{
		"no slack":   func() error { _, _, err := kernel.SpacingHistogram(a, "no slack", good, mu); return err },
		"other step": func() error { _, _, err := kernel.SpacingHistogram(a, "buckets", good, mu); return err },
		"over share": func() error { _, _, err := kernel.SpacingHistogram(a, "gaps", good, .9*s.Mu()); return err },
		"zero mu":    func() error { _, _, err := kernel.SpacingHistogram(a, "gaps", good, 0); return err },
		"NaN mu":     func() error { _, _, err := kernel.SpacingHistogram(a, "gaps", good, math.NaN()); return err },
		"bad window": func() error { _, _, err := kernel.SpacingHistogram(a, "gaps", query.SpacingMasses{}, mu); return err },
		"bad column": func() error {
			_, _, err := kernel.SpacingHistogram(a, "gaps", query.SpacingMasses{LogWindow: 15, Column: 2}, mu)
			return err
		},
		"bad rows": func() error {
			_, _, err := pure.TruncatedSpacings(a, "buckets", papers.SpacingBuckets{}, .1)
			return err
		},
		"zero epsilon": func() error {
			_, _, err := pure.TruncatedSpacings(a, "buckets", papers.SpacingBuckets{Rows: 9}, 0)
			return err
		},
		"tiny epsilon": func() error {
			_, _, err := pure.TruncatedSpacings(a, "buckets", papers.SpacingBuckets{Rows: 9}, 1e-7)
			return err
		},
		"NaN epsilon": func() error {
			_, _, err := pure.TruncatedSpacings(a, "buckets", papers.SpacingBuckets{Rows: 9}, math.NaN())
			return err
		},
		"large epsilon": func() error {
			_, _, err := pure.TruncatedSpacings(a, "buckets", papers.SpacingBuckets{Rows: 9}, 2)
			return err
		},
		"bad keys":   func() error { _, _, err := pure.TruncatedHistogram(a, "buckets", query.BoxKeys{}, .1); return err },
		"other kind": func() error { _, _, err := pure.TruncatedHistogram(a, "buckets", keys, .1); return err },
	} {
		if err := try(); err == nil || s.Loss().Mu != 0 || len(s.Measurements()) != 0 {
			t.Errorf("%s: error %v, spent %+v", name, err, s.Loss())
		}
	}
}
