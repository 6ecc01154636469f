package kernel_test

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var partsPlan = kernel.Plan{Method: "parts", Steps: []kernel.Step{
	{Name: "moments", Query: query.PartsOf("clipped moments"), Share: 1, Most: 1 << 30},
	{Name: "ratios", Query: query.PartsOf("log ratio"), Share: 1, Most: 1 << 30},
	{Name: "counts", Query: query.PartsOf("count"), Share: 1, Most: 1 << 30},
	{Name: "distances", Query: query.PartsOf("distance counts"), Share: 1, Most: 1 << 30},
	{Name: "signed", Query: query.PartsOf("column counts"), Share: 1, Most: 1 << 30},
	{Name: "plain", Query: "count", Share: 1, Most: 1},
}}

// halves is the plane cut at x = 0; rows with |x| > 10 are in neither half.
func halves() query.Partition {
	at := func(x float64) query.Component {
		f := frame(1)
		f.Center[0] = x
		return query.Component{Map: f, Radius: 9}
	}
	first := query.Affine{Center: []float64{0, 0}, W: [][]float64{{1, 0}}}
	return query.Partition{Project: first, Components: []query.Component{at(-1), at(1)}}
}

func partsTable(r privacy.Relation, rows ...[]float64) *kernel.Table {
	nan := math.NaN()
	return kerneltest.Table(append([][]float64{{-2, 1}, {nan, nan}, {3, 1}, {50, 1}}, rows...), 2, r)
}

func parted(queries ...query.Sum) query.Parts {
	return query.Parts{Partition: halves(), Queries: queries}
}

// TestPartsNoise: every leaf's values less the exact ones, over the leaf's own sigma (times 1/sqrt2
// off the diagonals), are standard Gaussian: the part beyond one is .317. Noise that is half of
// what is claimed, and units that are swapped between leaves, are rejected. False-alarm rate 8e-9.
func TestPartsNoise(t *testing.T) {
	t.Parallel()
	moments := func(radii ...float64) query.Sum {
		q := query.ClippedMoments{Form: query.FullForm, Lift: 1}
		for _, r := range radii {
			q.Components = append(q.Components, query.Component{Map: frame(2), Radius: r})
		}
		return q
	}
	ratio := func(bound float64) query.Sum {
		return query.LogRatio{F: []query.Component{{Map: frame(2)}}, G: []query.Component{{Map: frame(2), LogWeight: 1}}, Bound: bound}
	}
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, factor := range []float64{1, .5} {
			beyond, _, n := partsNoise(t, "moments", parted(moments(1), moments(2, 5)), relation, factor)
			beyondRatio, swapped, nRatio := partsNoise(t, "ratios", parted(ratio(.25), ratio(40)), relation, factor)
			p := math.Erfc(1 / math.Sqrt2)
			if factor != 1 {
				stattest.BadProportion(t, beyond, n, p, stattest.FalseAlarm)
				stattest.BadProportion(t, beyondRatio, nRatio, p, stattest.FalseAlarm)
				continue
			}
			stattest.GoodProportion(t, beyond, n, p, stattest.FalseAlarm)
			stattest.GoodProportion(t, beyondRatio, nRatio, p, stattest.FalseAlarm)
			stattest.BadProportion(t, swapped, nRatio, p, stattest.FalseAlarm)
		}
	}
}

// partsNoise counts how many of n values are beyond one sigma of their leaf, and of the other leaf.
func partsNoise(t *testing.T, step string, q query.Parts, relation privacy.Relation, factor float64) (beyond, swapped, n int) {
	var tr kerneltest.Transcript
	s := kerneltest.Open(t, partsTable(relation), partsPlan, kernel.Terms{Relation: relation, Budget: privacy.Budget{Rho: 1e6}},
		kerneltest.Options{Seed: stattest.Seed(t), NoiseFactor: factor, Record: &tr})
	for run := range stattest.Trials(1000, 4000) {
		const mu = .1
		a, err := s.SubBudget().Sum(step, q, mu)
		if err != nil {
			t.Fatal(err)
		}
		exact := make([]float64, q.Size())
		for i, v := range tr.Sums[run] {
			exact[i] = float64(v)
		}
		values, sigmas := q.Split(a.Values, a.Sigma)
		truth, _ := q.Split(exact, a.Sigma)
		for leaf, part := range q.Queries {
			// The claim, by the words of Parts: max(B, sqrt2 A) or A, in the leaf's unit.
			bound := part.Sensitivity(privacy.AddRemoveOne)
			if relation == privacy.ReplaceOne {
				bound = math.Max(part.Sensitivity(relation), bound*math.Sqrt2)
			}
			if want := bound * part.Unit() / mu; math.Abs(sigmas[leaf]/want-1) > 1e-14 {
				t.Fatalf("leaf %d: sigma %v, want %v", leaf, sigmas[leaf], want)
			}
			for i, v := range values[leaf] {
				off := math.Abs(v-truth[leaf][i]) / part.Weight(i)
				if n++; off > sigmas[leaf] {
					beyond++
				}
				if off > sigmas[1-leaf] {
					swapped++
				}
			}
		}
	}
	return beyond, swapped, n
}

// TestPartsLoss: neighbouring tables lose at most mu^2, as the squared difference of their exact
// sums over the noise that the session claims; all of it where a row moves from one leaf to the
// other, or comes, under the relation that prices it.
func TestPartsLoss(t *testing.T) {
	frames := frame(2)
	half := func(i int) query.ClippedMoments {
		return query.ClippedMoments{Form: query.FullForm, Lift: .5, Components: []query.Component{{Map: frames, Radius: 1 + float64(i)}}}
	}
	edges := query.Counts{Map: frames, Edges: [][]float64{{1, 2}}}
	signed := query.Counts{Edges: [][]float64{{2}, {0}}, As: query.Balance}
	const mu = .5
	run := func(step string, q query.Parts, r privacy.Relation, table *kernel.Table) (sums []int64, sigma float64) {
		var tr kerneltest.Transcript
		s := kerneltest.Open(t, table, partsPlan, kernel.Terms{Relation: r, Budget: privacy.Budget{Rho: 1}}, kerneltest.Options{Record: &tr})
		if _, err := s.SubBudget().Sum(step, q, mu); err != nil {
			t.Fatal(err)
		}
		return tr.Sums[0], s.Measurements()[0].Noise
	}
	nan := math.NaN()
	left, right, middle, none, null := []float64{-1, 5}, []float64{1, 5}, []float64{4, -5}, []float64{40, 5}, []float64{nan, nan}
	for _, c := range []struct {
		name, step  string
		q           query.Parts
		replace     bool
		from, to    []float64 // nil: no row
		least, most float64   // of mu^2
	}{
		{"moves", "counts", parted(query.Count{}, query.Count{}), true, left, right, 1, 1},
		{"leaves", "counts", parted(query.Count{}, query.Count{}), true, left, none, .5, .5},
		{"becomes null", "counts", parted(query.Count{}, query.Count{}), true, left, null, .5, .5},
		{"stays", "counts", parted(query.Count{}, query.Count{}), true, middle, right, 0, 0},
		{"comes", "counts", parted(query.Count{}, query.Count{}), false, nil, right, 1, 1},
		{"comes to none", "counts", parted(query.Count{}, query.Count{}), false, nil, none, 0, 0},
		{"moves", "distances", parted(edges, edges), true, left, right, 1, 1},
		{"comes", "distances", parted(edges, edges), false, left, nil, 1, 1},
		{"moves", "moments", parted(half(0), half(2)), true, left, right, .99, 1},
		{"comes", "moments", parted(half(0), half(2)), false, left, nil, .99, 1},
		{"moves", "signed", parted(signed, signed), true, left, right, .5, .5},
		{"changes its signs", "signed", parted(signed, signed), true, middle, right, 1, 1},
		{"comes", "signed", parted(signed, signed), false, nil, right, 1, 1},
	} {
		relation := privacy.AddRemoveOne
		if c.replace {
			relation = privacy.ReplaceOne
		}
		with := func(row []float64) *kernel.Table {
			if row == nil {
				return partsTable(relation)
			}
			return partsTable(relation, row)
		}
		a, sigma := run(c.step, c.q, relation, with(c.from))
		b, _ := run(c.step, c.q, relation, with(c.to))
		loss := 0.0
		for i := range a {
			loss += math.Pow(float64(a[i]-b[i])/(sigma*c.q.Weight(i)), 2)
		}
		if loss /= mu * mu; loss > c.most*(1+1e-12) || loss < c.least*(1-1e-12) {
			t.Errorf("%s: a row %s: the loss is %v mu^2, want %v to %v", c.step, c.name, loss, c.least, c.most)
		}
	}
}

// TestPartsPriced: a spy in Parts, and Parts where the plan says otherwise, are refused before
// anything is spent; the certificate names the kind.
func TestPartsPriced(t *testing.T) {
	s := kerneltest.Open(t, partsTable(terms.Relation), partsPlan, terms, kerneltest.Options{})
	a := s.SubBudget()
	before := a.Left()
	for name, c := range map[string]struct {
		step string
		q    query.Sum
	}{
		"spy":                {"counts", parted(query.Count{}, spyQuery{})},
		"spies":              {"counts", parted(spyQuery{}, spyQuery{})},
		"spy in nested":      {"counts", parted(query.Count{}, parted(spyQuery{}, query.Count{}))},
		"kind":               {"counts", parted(query.Counts{Map: frame(2), Edges: [][]float64{{1}}}, query.Counts{Map: frame(2), Edges: [][]float64{{1}}})},
		"parts for a count":  {"plain", parted(query.Count{}, query.Count{})},
		"a count for parts":  {"counts", query.Count{}},
		"one query too few":  {"counts", parted(query.Count{})},
		"partition of no d":  {"counts", query.Parts{Partition: query.Partition{Components: []query.Component{{Map: frame(3), Radius: 1}}}, Queries: []query.Sum{query.Count{}}}},
		"endless partitions": {"counts", endless()},
	} {
		if _, err := a.Sum(c.step, c.q, .01); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if a.Left() != before || len(s.Measurements()) != 0 {
		t.Errorf("refusals spent %v", before-a.Left())
	}
	if _, err := a.Sum("counts", parted(query.Count{}, query.Count{}), .01); err != nil {
		t.Fatal(err)
	}
	if m := s.Measurements()[0]; m.Query != "in parts: count" || m.Sensitivity < math.Sqrt2 != (terms.Relation == privacy.AddRemoveOne) {
		t.Errorf("certificate %+v", m)
	}
}

func endless() query.Parts {
	q := parted(query.Count{}, query.Count{})
	q.Partition.Below = make([]query.Partition, 2)
	q.Partition.Below[0] = q.Partition
	return q
}
