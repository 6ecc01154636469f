package program

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// StepOutside counts the rows outside every component, and says where they lie.
const StepOutside = "rows outside"

// Utility constants of the rows outside every component, guesses tried on tables with codes, zeros
// and far groups.
const (
	// The count shows outsideShare of the rows at four sds of its noise, if mostOutside of mu^2
	// pays for that.
	outsideShare, mostOutside = .006, .04
	// An earlier count of firstPart of mu^2 says whether to place them: from firstSDs sds on, and
	// so many that they would be seen.
	firstPart, mostFirst, firstSDs = .015, .06, 2.5
	// Placing shows placedShare of the rows at placedSDs sds of a count, if placesPart of mu^2 and
	// mostPlaced of what is left pay for that.
	placedShare, placedSDs, placesPart, mostPlaced = .005, 4.3, .08, .25
	least                                          = 0x1p-450 // of a distance
	// Bands begin nearestBand sds of a column from its mean, and each is bandStep times as far out
	// as the one before; those of a constant column begin at 2^leastOctave times its value, or 1.
	nearestBand, bandStep, bandsOfColumn       = 4.0, math.Sqrt2, 30
	leastOctave, constantStep, bandsOfConstant = -20, 2.0, 64
	widestPlace, mostPlaces                    = 2, 4 // bands of a place, places on a side of a column
	// Noise makes a place in about one of falseOf tables.
	falseOf = 100.0
	// Beyond farBands bands so many more sds are clear: what noise feigns there rules a moment.
	farBands, farMore = 12, 1.5
)

// OutsideStep returns the count of Schedule.Count, the one before it, and the one of places.
func OutsideStep(source string) kernel.Step {
	return kernel.Step{Name: StepOutside, Query: query.PartsOf(query.Count{}.Kind()), Share: mostOutside + firstPart + placesPart, Most: 3, Source: source}
}

// OutsidePart returns the part of mu^2 that the count of rows outside costs: less, the more rows
// there are.
func (r *Run) OutsidePart() float64 {
	want := 4 / (outsideShare * math.Max(r.Rows, 1))
	return math.Min(mostOutside, want*want/r.Mu2)
}

// Outside is what is known of the rows outside every component beside their number: components that
// stand for some of them, and those that differ in columns which are constant in all components.
type Outside struct {
	// rows of other values in the constant columns differ, and the sd of their noise
	rows, sd float64
	differ   []int
	placed   []placed
}

// A placed component is in a space that may have one column more, which is constant in all others.
type placed struct {
	space component.Space
	component.Gaussian
}

// KeepForPlaces counts the rows outside every component before the last round that lie far out in
// some column, and returns the part of mu^2 to keep for their places: 0 if they are too few. Both
// are small parts of the most that they may cost.
func (r *Run) KeepForPlaces(space component.Space, cs []component.Gaussian, most float64) (keep float64, err error) {
	if r.Problem.Covariance == estimate.Spherical {
		return 0, nil
	}
	near := privateem.Outside(space, cs)
	for i, l := range r.ladders(space, cs) {
		if i%2 == 1 { // the other side
			continue
		}
		near.Conditions = append(near.Conditions, query.Condition{Radius: 1, Map: query.Affine{Columns: []int{l.column}, Center: []float64{l.center}, W: [][]float64{{1 / l.near[0]}}}})
	}
	rows, sd, err := r.countOutside([]query.Region{near, privateem.Outside(space, cs)}, r.Notes.ConstantColumns, math.Min(firstPart*r.Mu2, mostFirst*most))
	if err != nil {
		return 0, err
	}
	want := placedSDs * r.Factor / (placedShare * math.Max(r.Rows, 1))
	price := min(placesPart*r.Mu2, want*want, mostPlaced*most)
	for i, n := range rows[1:] {
		if n < math.Max(firstSDs*sd, placedSDs*r.Factor/math.Sqrt(price)) {
			continue
		}
		if keep = price; i > 0 {
			r.differ = append(r.differ, r.Notes.ConstantColumns[i-1])
			r.rows, r.sd = r.rows+n, math.Hypot(r.sd, sd)
		}
	}
	return keep, nil
}

// ladders are bands on both sides of the columns of a space.
func (r *Run) ladders(space component.Space, cs []component.Gaussian) (out []ladder) {
	whole := component.Joined(cs[0], cs[1:]...)
	for i, j := range space.Columns {
		out = append(out, ladders(j, space.Center[i]+space.Scale[i]*whole.Mean[i], nearestBand*space.Scale[i]*math.Sqrt(whole.Cov.At(i, i)), bandStep, bandsOfColumn)...)
	}
	return out
}

// differs is where a constant column has another value.
func (c *Columns) differs(j int) query.Region {
	at := query.Affine{Columns: []int{j}, Center: []float64{c.Units.Center[j]}, W: [][]float64{{1}}}
	return query.Region{Conditions: []query.Condition{{Map: at, Outside: true}}}
}

// countOutside counts the rows in regions, and before those the ones that differ in constant
// columns, whose numbers follow.
func (r *Run) countOutside(of []query.Region, constant []int, mu2 float64) (rows []float64, sd float64, err error) {
	var p query.Partition
	for _, j := range constant {
		p.Regions = append(p.Regions, r.differs(j))
	}
	p.Regions = append(p.Regions, of...)
	answers, err := parts.AskLeaves(r.SubBudget, StepOutside, p, make([]query.Count, len(p.Regions)), parts.Mu(mu2))
	if err != nil {
		return nil, 0, err
	}
	for i := range answers {
		a := answers[(i+len(constant))%len(answers)]
		rows, sd = append(rows, a.Values[0]), a.Sigma
	}
	return rows, sd, nil
}

// Place releases where rows outside every component lie, for a part mu2 of the budget: of each row
// the farthest band, in sds of all components together, that one of its columns is in. A row is in
// one band at most, so all are counted at the price of one count, and as precisely in many columns
// as in one.
func (r *Run) Place(space component.Space, cs []component.Gaussian, mu2 float64) error {
	if mu2 == 0 || len(cs) == 0 {
		return nil
	}
	whole := component.Joined(cs[0], cs[1:]...)
	var p query.Partition
	var rows []*float64
	var all [][]ladder
	cut := func(region query.Region, of []ladder) {
		below, counts := bands(of)
		p.Regions, p.Below = append(p.Regions, region), append(p.Below, below)
		rows, all = append(rows, counts...), append(all, of)
	}
	for _, j := range r.differ {
		unit := cmp.Or(math.Abs(r.Units.Center[j]), 1)
		cut(r.differs(j), ladders(j, r.Units.Center[j], math.Ldexp(unit, leastOctave), constantStep, bandsOfConstant))
	}
	cut(privateem.Outside(space, cs), r.ladders(space, cs))
	answers, err := parts.AskLeaves(r.SubBudget, StepOutside, p, make([]query.Count, len(rows)), parts.Mu(mu2))
	if err != nil {
		return err
	}
	for i, a := range answers {
		*rows[i] = a.Values[0]
	}
	clear := clearSDs(len(rows))
	for _, of := range all {
		for i := range of {
			for _, w := range of[i].windows(answers[0].Sigma, clear) {
				r.placed = append(r.placed, w.component(space, whole, r.Rows))
			}
		}
	}
	return nil
}

// clearSDs returns how many noise sds of rows one of so many bands has in one of falseOf tables at
// most if there are none, or so many bands beside each other as make a place.
func clearSDs(bands int) float64 {
	return math.Sqrt2 * math.Erfcinv(2/(falseOf*float64(widestPlace*bands)))
}

// A ladder is bands on one side of a column, nearest first: where each begins, by what factor it is
// farther out than the one before, and the rows in it.
type ladder struct {
	column             int
	center, side, step float64
	near, rows         []float64
}

// ladders are bands on both sides of a column, if the first is a number whose square is one.
func ladders(column int, center, nearest, step float64, n int) []ladder {
	if !(nearest > least && nearest < 1/least) {
		return nil
	}
	near := make([]float64, n)
	for b := range near {
		near[b], nearest = nearest, nearest*step
	}
	return []ladder{{column, center, -1, step, near, make([]float64, n)}, {column, center, 1, step, near, make([]float64, n)}}
}

// condition is that a value lies in band b.
func (l *ladder) condition(b int) query.Condition {
	half := l.near[b] * (l.step - 1) / 2
	return query.Condition{Radius: 1, Map: query.Affine{Columns: []int{l.column}, Center: []float64{l.center + l.side*(l.near[b]+half)}, W: [][]float64{{1 / half}}}}
}

// bands cut rows by the farthest band that they are in, in any of the ladders' columns; the last
// leaf has the others.
func bands(of []ladder) (p query.Partition, rows []*float64) {
	for b := max(bandsOfColumn, bandsOfConstant) - 1; b >= 0; b-- {
		for i := range of {
			if l := &of[i]; b < len(l.near) {
				p.Regions = append(p.Regions, query.Region{Conditions: []query.Condition{l.condition(b)}})
				rows = append(rows, &l.rows[b])
			}
		}
	}
	p.Regions = append(p.Regions, query.Region{})
	return p, append(rows, new(float64))
}

// A window is bands with rows in them: how many, with the sd of their noise, and their values' mean
// and variance.
type window struct {
	column                   int
	rows, sd, mean, variance float64
}

// windows are those that hold more rows than noise feigns, the clearest first.
func (l *ladder) windows(sigma, clear float64) (out []window) {
	rows := slices.Clone(l.rows)
	for len(out) < mostPlaces {
		from, to, best := 0, 0, 0.0
		for i := range rows {
			sum := 0.0
			for k := i; k < min(i+widestPlace, len(rows)); k++ {
				sum += rows[k]
				z := sum / (sigma * math.Sqrt(float64(k+1-i)))
				if l.step == bandStep && k > farBands {
					z -= farMore
				}
				if z > best {
					from, to, best = i, k+1, z
				}
			}
		}
		if best < clear {
			break
		}
		w, second := window{column: l.column, sd: sigma * math.Sqrt(float64(to-from))}, 0.0
		for k := from; k < to; k++ {
			mid, width := l.near[k]*(1+l.step)/2, l.near[k]*(l.step-1)
			w.rows, w.mean, second = w.rows+rows[k], w.mean+rows[k]*mid, second+rows[k]*(mid*mid+width*width/12)
			rows[k] = math.Inf(-1)
		}
		mean := math.Max(l.near[from], math.Min(w.mean/w.rows, l.near[to-1]*l.step))
		width := mean * (l.step - 1)
		w.mean, w.variance = l.center+l.side*mean, math.Max(second/w.rows-mean*mean, width*width/12)
		out = append(out, w)
	}
	return out
}

// component is that of a window's rows, which are in all other columns as the whole is.
func (w window) component(space component.Space, whole component.Gaussian, rows float64) placed {
	i, d := slices.Index(space.Columns, w.column), space.Dim()
	if i < 0 {
		i, d = d, d+1
		space = component.Space{Columns: append(slices.Clone(space.Columns), w.column), Center: append(slices.Clone(space.Center), w.mean), Scale: append(slices.Clone(space.Scale), 1)}
	}
	out := placed{space, component.Gaussian{Weight: w.rows / rows, Rows: w.rows, CountSD: w.sd, Mean: make([]float64, d), Cov: mat.NewSymDense(d, nil)}}
	copy(out.Mean, whole.Mean)
	for a := range whole.Mean {
		for c := range a + 1 {
			if a != i && c != i {
				out.Cov.SetSym(a, c, whole.Cov.At(a, c))
			}
		}
	}
	out.Mean[i] = (w.mean - space.Center[i]) / space.Scale[i]
	out.Cov.SetSym(i, i, w.variance/square(space.Scale[i]))
	return out
}

// Placed is the weight of the components that stand for rows outside all others.
func (o *Outside) Placed() float64 {
	return parts.Sum(o.placed, func(p placed) float64 { return p.Weight })
}

// OutsideAll returns the components that stand for rows outside all others; in those of a constant
// column, that column comes last.
func (o *Outside) OutsideAll() []component.Gaussian {
	return parts.Map(o.placed, func(p placed) component.Gaussian { return p.Gaussian })
}

// AddOutside adds the components that stand for rows outside all others, and records how many rows
// these are, a share with that noise, and whether the background stands for most of them.
func (r *Run) AddOutside(out *Draft, share, noise float64) {
	o := &r.Outside
	for _, p := range o.placed {
		mean, cov, err := r.Raw(p.space, p.Gaussian, r.Problem.Covariance)
		if last := p.space.Columns[p.space.Dim()-1]; slices.Contains(o.differ, last) {
			out.varies(last, r.Units.Center[last], p.Gaussian)
		}
		out.Add(p.Weight, mean, cov, err, estimate.ComponentNote{EffectiveRows: p.Rows, EffectiveNoise: 2 * p.CountSD / p.Rows * math.Sqrt(2*float64(r.All)), Background: true})
	}
	share += o.rows / r.Rows
	marked, where := 0.0, "they are in no component"
	for i, note := range out.Notes.Components {
		if note.Background {
			marked += out.m.Weights[i]
		}
	}
	if 2*marked > share {
		where += "; components marked as background describe some of them"
	}
	out.LeavesOut(estimate.Undescribed{Share: share, Noise: math.Hypot(noise, o.sd/r.Rows), Where: where})
}

// varies has a column that is constant in all components but one no longer called so.
func (d *Draft) varies(j int, value float64, g component.Gaussian) {
	d.Notes.ConstantColumns = slices.DeleteFunc(slices.Clone(d.Notes.ConstantColumns), func(k int) bool { return k == j })
	d.Notes.Flags = slices.DeleteFunc(slices.Clone(d.Notes.Flags), func(f estimate.Flag) bool {
		return f.Code == flags.ConstantColumn && slices.Equal(f.Columns, []int{j})
	})
	d.Notes.Flag(flags.New(flags.Background, "column %v is %.6g in all groups: about %.2g%% of the rows have other values, and a component marked as background describes them", flags.Ref{j}, value, 100*g.Weight).
		In(j).Of(g.Weight, g.CountSD/math.Max(g.Rows, 1)*g.Weight))
}
