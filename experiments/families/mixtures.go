package families

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// mixtures are the sorts of mixtures in several columns.
var mixtures = []sort{
	{UseSeveral, "plain", [2]string{"spheres", "ellipsoids"}, true, (*builder).plain},
	{UseSeveral, "single", [2]string{"few", "many"}, true, func(b *builder) { b.chain(1, twin(b, b.whole(2, 5), b.whole(6, 12)), 1) }},
	{UseSeveral, "sizes", [2]string{"tens", "simplex"}, true, (*builder).sizes},
	{UseSeveral, "clusters-coded", [2]string{"nines", "minus"}, false, (*builder).codedClusters},
	{UseSeveral, "single-far", [2]string{"around", "one-place"}, false, (*builder).singleFar},
	{UseSeveral, "grid", [2]string{"flat", "deep"}, false, (*builder).grid},
	{UseSeveral, "weights", [2]string{"twentieths", "fiftieth"}, false, (*builder).unevenWeights},
	{UseSeveral, "pancakes", [2]string{"two", "three"}, false, (*builder).pancakes},
	{UseSeveral, "chain", [2]string{"wide", "narrow"}, false, func(b *builder) {
		b.chain(twin(b, 6, 5), twin(b, b.whole(7, 9), b.whole(3, 5)), twin(b, b.between(6, 8), b.between(5, 6)))
	}},
	{UseSeveral, "nested", [2]string{"three", "two"}, false, (*builder).nested},
	{UseSeveral, "close", [2]string{"ring", "row"}, false, (*builder).close},
	{UseSeveral, "short", [2]string{"three", "two"}, false, func(b *builder) { b.chain(twin(b, 3, 2), twin(b, 2, 3), b.between(9, 12)) }},
	{UseSeveral, "thin", [2]string{"many", "few"}, false, (*builder).thin},
	{UseSeveral, "wide", [2]string{"thirty", "fifty"}, false, func(b *builder) { b.chain(2, twin(b, 30, 50), b.between(10, 20)) }},
	{UseSeveral, "crossing", [2]string{"right-angle", "oblique"}, false, (*builder).crossing},
	{UseSeveral, "whole", [2]string{"numbers", "halves"}, false, (*builder).wholeClusters},
	{UseSeveral, "curved", [2]string{"roll", "moons"}, false, (*builder).curved},
	{UseSeveral, "blocks", [2]string{"cubes", "balls"}, false, (*builder).blocks},
	{UseSeveral, "skewed", [2]string{"lognormal", "exponential"}, false, (*builder).skewed},
	{UseSeveral, "tails", [2]string{"three", "five"}, false, (*builder).tailedClusters},
}

// rowsOf are the numbers of rows of sorts that are about them.
var rowsOf = map[string][2]int{"short": {600, 2000}, "wide": {30_000, 50_000}, "grid": {20_000, 50_000}}

// drawn draws rows of a mixture, in units of the columns' own.
func (b *builder) drawn(weights []float64, means [][]float64, factors []*mat.Dense) {
	d := len(means[0])
	unit, at := make([]float64, d), make([]float64, d)
	for j := range unit {
		unit[j] = b.unit()
		at[j] = unit[j] * oneOf(b, 0.0, 1, 10, 300) * b.p.NormFloat64()
	}
	gs := make([]model.Gaussian, len(means))
	for i, m := range means {
		f := mat.DenseCopyOf(factors[i])
		gs[i].Mean = make([]float64, d)
		for j, u := range unit {
			gs[i].Mean[j] = at[j] + u*m[j]
			floats.Scale(u, f.RawRowView(j))
		}
		var err error
		if gs[i].Cov, err = model.FullFromFactor(f); err != nil {
			panic(err) // factors are finite
		}
	}
	truth, err := model.New(nil, weights, gs)
	if err != nil {
		panic(err) // weights sum to 1
	}
	b.of(truth)
}

// of draws rows of a mixture.
func (b *builder) of(truth *model.Mixture) {
	sampler, err := model.NewSampler(truth)
	if err != nil {
		panic(err) // it is a valid one
	}
	b.t.Truth, b.t.Components, b.t.Labels, b.keep = truth, len(truth.Components), make([]int, b.n), true
	b.cols = make([][]float64, truth.Dim())
	for j := range b.cols {
		b.cols[j] = make([]float64, b.n)
	}
	row := make([]float64, truth.Dim())
	for i := range b.n {
		b.t.Labels[i] = sampler.Row(row, b.rng)
		for j, x := range row {
			b.cols[j][i] = x
		}
	}
}

// round returns a factor of a covariance with about that standard deviation in every direction.
func (b *builder) round(d int, sd float64) *mat.Dense {
	f := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range i {
			f.Set(i, j, sd*b.p.NormFloat64()/4/math.Sqrt(float64(d)))
		}
		f.Set(i, i, sd*b.between(.8, 1.2))
	}
	return f
}

// along returns a factor of standard deviations along the axes.
func along(sd ...float64) *mat.Dense {
	f := mat.NewDense(len(sd), len(sd), nil)
	for j, s := range sd {
		f.Set(j, j, s)
	}
	return f
}

// turned rotates a factor's first two columns.
func turned(f *mat.Dense, angle float64) *mat.Dense {
	d, _ := f.Dims()
	turn := along(slices.Repeat([]float64{1}, d)...)
	s, c := math.Sincos(angle)
	turn.Set(0, 0, c)
	turn.Set(0, 1, -s)
	turn.Set(1, 0, s)
	turn.Set(1, 1, c)
	var out mat.Dense
	out.Mul(turn, f)
	return &out
}

func even(k int) []float64 {
	v := slices.Repeat([]float64{1}, k)
	floats.Scale(1/float64(k), v)
	return v
}

// plain draws two to four clusters far apart.
func (b *builder) plain() {
	p := madeup.Plain{Components: b.whole(2, 4), Columns: b.whole(2, 8), Ellipsoids: b.second, Placement: oneOf(b, madeup.Along, madeup.OnLine, madeup.Simplex),
		Distance: b.logBetween(8, 1e4), Scaled: b.p.IntN(2) == 0, Mapped: b.p.IntN(2) == 0}
	truth, err := p.Truth(b.p.Uint64())
	if err != nil {
		panic(err) // a valid one
	}
	b.say("%+v", p)
	b.of(truth)
}

// chain draws k components, each apart standard deviations from the one before, in any direction.
func (b *builder) chain(k, d int, apart float64) {
	means, factors := [][]float64{make([]float64, d)}, []*mat.Dense{b.round(d, 1)}
	for i := range k - 1 {
		m := append([]float64(nil), means[i]...)
		step := madeup.Direction(b.p, d)
		if i > 0 { // not back
			if last := floats.SubTo(make([]float64, d), means[i], means[i-1]); floats.Dot(step, last) < 0 {
				floats.Scale(-1, step)
			}
		}
		floats.AddScaled(m, apart, step)
		means, factors = append(means, m), append(factors, b.round(d, 1))
	}
	b.say("k = %d, %.3g apart", k, apart)
	b.drawn(b.weights(k), means, factors)
}

// sizes draws clusters of very different sizes, or many columns of equal ones.
func (b *builder) sizes() {
	if b.second {
		k, d, apart := 3, b.whole(8, 12), b.between(8, 15)
		means, factors := make([][]float64, k), make([]*mat.Dense, k)
		for i := range means {
			means[i], factors[i] = make([]float64, d), b.round(d, 1)
			means[i][i] = apart
		}
		b.drawn(b.weights(k), means, factors)
		return
	}
	d, sd := b.whole(2, 4), 1.0
	at := make([]float64, d)
	var means [][]float64
	var factors []*mat.Dense
	for range 3 {
		means, factors = append(means, append([]float64(nil), at...)), append(factors, b.round(d, sd))
		floats.AddScaled(at, sd*(6+60), madeup.Direction(b.p, d))
		sd *= b.between(7, 10)
	}
	b.drawn(b.weights(3), means, factors)
}

// codedClusters draws clusters with a code in one column.
func (b *builder) codedClusters() {
	b.chain(b.whole(2, 3), b.whole(3, 5), b.between(8, 20))
	rate, col := b.between(.03, .1), b.p.IntN(len(b.cols))
	c := b.cols[col]
	low, high := floats.Min(c), floats.Max(c)
	code := twin(b, high+b.between(2, 30)*(high-low), -999999*math.Max(1, math.Abs(high-low)))
	b.say("%.2g with a code", rate)
	for i := range c {
		if b.rng.Float64() < rate {
			c[i] = code
			b.stray(i)
		}
	}
}

// singleFar draws one Gaussian and a few rows far from it.
func (b *builder) singleFar() {
	d := b.whole(3, 8)
	b.chain(1, d, 1)
	rate, far, way := b.logBetween(.005, .03), b.logBetween(10, 100), madeup.Direction(b.p, d)
	b.say("%.2g of the rows at %.3g sd", rate, far)
	for i := range b.n {
		if b.rng.Float64() >= rate {
			continue
		}
		b.stray(i)
		for j := range d {
			sd := math.Sqrt(b.t.Truth.Components[0].Cov.At(j, j))
			b.cols[j][i] += sd * far * twin(b, b.rng.NormFloat64(), math.Sqrt(float64(d))*way[j])
		}
	}
}

// grid draws many components in a flat or a deep grid.
func (b *builder) grid() {
	sides, apart := twin(b, []int{4, b.whole(4, 5)}, []int{2, 2, b.whole(3, 4)}), b.between(7.5, 10)
	means := [][]float64{make([]float64, len(sides))}
	for j, side := range sides {
		for _, m := range means[:len(means):len(means)] {
			for s := 1; s < side; s++ {
				next := append([]float64(nil), m...)
				next[j] += apart * float64(s)
				means = append(means, next)
			}
		}
	}
	factors := make([]*mat.Dense, len(means))
	for i := range factors {
		factors[i] = b.round(len(sides), 1)
	}
	b.say("k = %d", len(means))
	b.drawn(even(len(means)), means, factors)
}

func (b *builder) unevenWeights() {
	d := b.whole(2, 4)
	w := twin(b, []float64{.05, .05, .9}, []float64{.02, .3, .68})
	means, factors := make([][]float64, 3), make([]*mat.Dense, 3)
	for i := range means {
		means[i], factors[i] = make([]float64, d), b.round(d, 1)
	}
	floats.AddScaled(means[1], b.between(8, 12), madeup.Direction(b.p, d))
	floats.AddScaled(means[2], b.between(-12, -8), madeup.Direction(b.p, d))
	b.drawn(w, means, factors)
}

// pancakes draws parallel flat components, apart in their thin direction.
func (b *builder) pancakes() {
	k, d := twin(b, 2, 3), twin(b, 2, b.whole(3, 4))
	angle, sds := b.p.Float64()*math.Pi, slices.Repeat([]float64{1}, d)
	for j := 1; j < d; j++ {
		sds[j] = 100
	}
	means, factors := make([][]float64, k), make([]*mat.Dense, k)
	for i := range means {
		factors[i] = turned(along(sds...), angle)
		means[i] = make([]float64, d)
		s, c := math.Sincos(angle)
		at := float64(i) * b.between(8, 12)
		means[i][0], means[i][1] = at*c, at*s
	}
	b.drawn(b.weights(k), means, factors)
}

// nested draws components in one place, of sizes far apart.
func (b *builder) nested() {
	k, d, sd := twin(b, 3, 2), twin(b, 3, 2), 1.0
	means, factors := make([][]float64, k), make([]*mat.Dense, k)
	for i := range means {
		means[i], factors[i] = make([]float64, d), b.round(d, sd)
		floats.AddScaled(means[i], sd/4, madeup.Direction(b.p, d))
		sd *= b.between(4.5, 8)
	}
	b.drawn(even(k), means, factors)
}

// close draws components that touch, in a ring or in a row.
func (b *builder) close() {
	k, apart := twin(b, b.whole(9, 12), b.whole(6, 8)), twin(b, 3.0, 3.5)
	means, factors := make([][]float64, k), make([]*mat.Dense, k)
	angle := b.p.Float64() * math.Pi
	for i := range means {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(k))
		radius := apart / 2 / math.Sin(math.Pi/float64(k))
		means[i] = []float64{radius * c, radius * s}
		if b.second {
			s, c = math.Sincos(angle)
			means[i] = []float64{apart * c * float64(i), apart * s * float64(i)}
		}
		factors[i] = along(1, 1)
	}
	b.drawn(even(k), means, factors)
}
