package families

import "math"

// labelled draws components of the weights.
func (b *builder) labelled(weights []float64) {
	b.t.Components, b.t.Labels = len(weights), make([]int, b.n)
	for i := range b.n {
		u, k := b.rng.Float64(), 0
		for k < len(weights)-1 && u >= weights[k] {
			u -= weights[k]
			k++
		}
		b.t.Labels[i] = k
	}
}

// weights returns k weights, none below .15.
func (b *builder) weights(k int) []float64 {
	w, total := make([]float64, k), 0.0
	for i := range w {
		w[i] = b.between(.5, 1.5)
		total += w[i]
	}
	for i := range w {
		w[i] /= total
	}
	return w
}

// line appends a column of Gaussians, one for each label.
func (b *builder) line(mean, sd []float64) {
	b.column(func(i int) float64 {
		k := b.t.Labels[i]
		return mean[k] + sd[k]*b.rng.NormFloat64()
	})
}

func (b *builder) overlapping() {
	k := twin(b, 2, 3)
	b.labelled(b.weights(k))
	mean, sd, at, unit := make([]float64, k), make([]float64, k), 0.0, b.unit()
	for i := range k {
		sd[i] = unit * b.between(.7, 1.5)
		mean[i] = at
		at += unit * b.between(2.5, 4)
	}
	b.line(mean, sd)
}

func (b *builder) nests() {
	k := twin(b, 2, 3)
	b.labelled(b.weights(k))
	mean, sd, at, unit := make([]float64, k), make([]float64, k), b.unit()*b.p.NormFloat64(), b.unit()
	for i := range k {
		mean[i], sd[i] = at+unit*b.p.NormFloat64()/4, unit
		unit *= b.between(6, 20)
	}
	b.line(mean, sd)
}

// gaps draws components of very different scales, or very far apart.
func (b *builder) gaps() {
	k := b.whole(2, 4)
	b.labelled(b.weights(k))
	mean, sd, at := make([]float64, k), make([]float64, k), 0.0
	for i := range k {
		sd[i] = twin(b, b.logBetween(1e-6, 1e4), 1)
		at += 10*sd[i] + twin(b, 0, b.logBetween(1e2, 1e12))
		mean[i] = at
		at += 10 * sd[i]
	}
	b.line(mean, sd)
}

// codedLine draws two clusters and a code.
func (b *builder) codedLine() {
	b.overlapping()
	rate, code := b.logBetween(.01, .1), twin(b, 999.0, -999999)
	b.say("%.3g with a code", rate)
	low, high := b.cols[0][0], b.cols[0][0]
	for _, x := range b.cols[0] {
		low, high = math.Min(low, x), math.Max(high, x)
	}
	if !b.second {
		code = high + b.between(3, 30)*(high-low)
	}
	for i := range b.n {
		if b.rng.Float64() < rate {
			b.cols[0][i] = code
			b.stray(i)
		}
	}
}

// clusters draws k clusters of d columns, at least apart pooled standard deviations from one
// another in one column at least. Nil weights are drawn.
func (b *builder) clusters(k, d int, weights []float64, apart float64) {
	if weights == nil {
		weights = b.weights(k)
	}
	b.labelled(weights)
	separating := b.p.IntN(d)
	for j := range d {
		unit := b.unit()
		mean, sd, at := make([]float64, k), make([]float64, k), unit*10*b.p.NormFloat64()
		for i, to := range b.p.Perm(k) {
			sd[to] = unit * b.between(.5, 1.5)
			mean[to] = at + unit*b.between(-3, 3)
			if j == separating {
				mean[to] = at + 1.5*unit*apart*(float64(i)+b.between(0, .3))
			}
		}
		b.line(mean, sd)
	}
	b.say("k = %d", k)
}

func (b *builder) besideClusters(l columnLaw) {
	b.clusters(2, b.whole(1, 4), nil, 6)
	b.fill(l)
}

// oneSeparates has one column in which the clusters differ.
func (b *builder) oneSeparates() {
	d := twin(b, b.whole(2, 6), b.whole(7, 20))
	b.labelled(b.weights(2))
	unit := b.unit()
	b.line([]float64{0, unit * b.between(7, 20)}, []float64{unit, unit * b.between(.5, 2)})
	for range d - 1 {
		unit, at := b.unit(), b.unit()*b.p.NormFloat64()
		b.column(func(int) float64 { return at + unit*b.rng.NormFloat64() })
	}
}

func (b *builder) light() {
	w := twin(b, b.between(.05, .08), b.between(.015, .03))
	b.say("weight %.3g", w)
	b.clusters(2, b.whole(2, 4), []float64{1 - w, w}, 8)
}

// background draws rows anywhere, in the box of the others or around them.
func (b *builder) background() {
	share := b.between(.04, .12)
	b.say("%.2g anywhere", share)
	b.clusters(b.whole(2, 3), b.whole(2, 4), nil, 8)
	low, high := make([]float64, len(b.cols)), make([]float64, len(b.cols))
	for j, c := range b.cols {
		low[j], high[j] = c[0], c[0]
		for _, x := range c {
			low[j], high[j] = math.Min(low[j], x), math.Max(high[j], x)
		}
	}
	for i := range b.n {
		if b.rng.Float64() >= share {
			continue
		}
		b.stray(i)
		for j, c := range b.cols {
			c[i] = low[j] + (high[j]-low[j])*b.rng.Float64()
			if b.second {
				c[i] = (low[j]+high[j])/2 + 2*(high[j]-low[j])*b.rng.NormFloat64()
			}
		}
	}
}

// wholeNumbers draws clusters in columns of whole numbers, with and without a declaration of that.
func (b *builder) wholeNumbers() {
	k, d := 2, b.whole(2, 4)
	b.labelled(b.weights(k))
	for j := range d {
		sd := b.logBetween(1, 30)
		at, apart := b.between(0, 100), sd*b.between(-3, 3)
		if j == 0 {
			apart = sd * b.between(7, 15)
		}
		b.line([]float64{at, at + apart}, []float64{sd, sd * b.between(.6, 1.5)})
		c := b.cols[j]
		for i := range c {
			c[i] = math.Round(c[i])
		}
	}
	b.keep = true
	if b.second {
		b.t.Declared = make([]float64, d)
		for j := range d {
			b.t.Declared[j] = 1
		}
	}
}

// correlated draws clusters that are not aligned to the axes.
func (b *builder) correlated() {
	k := twin(b, 1, 2)
	b.labelled(b.weights(k))
	rho := make([]float64, k)
	for i := range rho {
		rho[i] = b.between(.6, .95)
		if b.p.Float64() < .5 {
			rho[i] *= -1
		}
	}
	b.say("correlations %.2g", rho)
	z, apart := make([]float64, b.n), b.between(8, 15)
	b.column(func(i int) float64 {
		z[i] = b.rng.NormFloat64()
		return z[i] + apart*float64(b.t.Labels[i])
	})
	unit := b.unit()
	b.column(func(i int) float64 {
		r := rho[b.t.Labels[i]]
		return unit * (r*z[i] + math.Sqrt(1-r*r)*b.rng.NormFloat64())
	})
	for range b.whole(0, 3) {
		b.column(func(int) float64 { return b.rng.NormFloat64() })
	}
}

// known draws clusters of one covariance, of which factor^2 times the true one is said to be known,
// and a part of the rows that are outliers.
func (b *builder) known(stray, factor float64) {
	k, d := b.whole(2, 3), b.whole(1, 5)
	b.labelled(b.weights(k))
	sd, apart := make([]float64, d), b.between(6, 15)
	shared := 0.0
	if b.second && stray == 0 && factor == 1 {
		shared = b.between(.3, .8)
	}
	common := make([]float64, b.n)
	for i := range common {
		common[i] = b.rng.NormFloat64()
	}
	for j := range d {
		sd[j] = b.unit()
		at := make([]float64, k)
		for l := range at {
			at[l] = sd[j] * (10 + b.between(-3, 3))
			if j == 0 {
				at[l] = sd[j] * apart * float64(l)
			}
		}
		b.column(func(i int) float64 {
			return at[b.t.Labels[i]] + sd[j]*(math.Sqrt(1-shared)*b.rng.NormFloat64()+math.Sqrt(shared)*common[i])
		})
	}
	b.keep = true
	for i := range d {
		row := make([]float64, d)
		for j := range d {
			row[j] = factor * factor * shared * sd[i] * sd[j]
		}
		row[i] = factor * factor * sd[i] * sd[i]
		b.t.Covariance = append(b.t.Covariance, row)
	}
	b.say("sds times %.2g", factor)
	if stray > 0 {
		b.scattered(stray, sd)
	}
}

// scattered puts a part of the rows far from all clusters.
func (b *builder) scattered(share float64, sd []float64) {
	b.say("%.2g stray", share)
	far := b.logBetween(30, 1000)
	for i := range b.n {
		if b.rng.Float64() >= share {
			continue
		}
		b.stray(i)
		for j, c := range b.cols {
			c[i] += far * sd[j] * b.rng.NormFloat64()
		}
	}
}
