package families

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// A cell draws a value of a column, and returns whether it is an outlier.
type cell func(rng *rand.Rand) (x float64, stray bool)

// plain returns a cell without outliers.
func plain(draw func(rng *rand.Rand) float64) cell {
	return func(rng *rand.Rand) (float64, bool) { return draw(rng), false }
}

// A columnLaw is the law of a column: it draws the parameters and returns the cell.
type columnLaw struct {
	sort      string
	twins     [2]string
	kind      bool
	beside    bool // is put beside clusters too
	noMoments bool
	// keep: its numbers are not taken into another unit.
	keep bool
	make func(b *builder) cell
}

// laws are those of columns.
var columnLaws = []columnLaw{
	{sort: "gaussian", twins: [2]string{"near", "far"}, kind: true, make: func(b *builder) cell {
		at := twin(b, 3*b.p.NormFloat64(), b.logBetween(1e3, 1e8))
		return plain(func(rng *rand.Rand) float64 { return at + rng.NormFloat64() })
	}},
	{sort: "code-rare", twins: [2]string{"nines", "minus"}, beside: true, keep: true, make: func(b *builder) cell { return b.coded(.002, .01) }},
	{sort: "code-few", twins: [2]string{"nines", "minus"}, beside: true, keep: true, make: func(b *builder) cell { return b.coded(.01, .04) }},
	{sort: "code-many", twins: [2]string{"nines", "minus"}, beside: true, keep: true, make: func(b *builder) cell { return b.coded(.04, .15) }},
	{sort: "date", twins: [2]string{"1900", "9999"}, keep: true, make: (*builder).dated},
	{sort: "zeros-mostly", twins: [2]string{"counts", "amounts"}, beside: true, make: func(b *builder) cell {
		p := b.logBetween(.01, .15)
		return b.inflated(p, twin(b, counts(b.between(2, 12)), amounts(b.logBetween(20, 400), b.between(.3, .9))))
	}},
	{sort: "zeros-half", twins: [2]string{"counts", "gaussian"}, make: func(b *builder) cell {
		p, at := b.between(.25, .7), b.between(4, 40)
		return b.inflated(p, twin(b, counts(b.between(2, 12)), func(rng *rand.Rand) float64 { return at + at/5*rng.NormFloat64() }))
	}},
	{sort: "skew-heavy", twins: [2]string{"log-normal", "pareto"}, beside: true, make: func(b *builder) cell {
		if b.second {
			// incomes: some have none
			return b.inflated(b.between(.6, .95), pareto(1000, b.between(2.2, 3)))
		}
		s := b.between(1.5, 2.2)
		b.say("sigma %.2g", s)
		return plain(amounts(30, s))
	}},
	{sort: "skew-mild", twins: [2]string{"gamma", "log-normal"}, make: func(b *builder) cell {
		if b.second {
			return plain(amounts(30, b.between(.4, 1)))
		}
		shape := b.logBetween(.7, 4)
		return plain(func(rng *rand.Rand) float64 { return 10 * distuv.Gamma{Alpha: shape, Beta: 1, Src: rng}.Rand() })
	}},
	{sort: "binary", twins: [2]string{"even", "uneven"}, beside: true, make: func(b *builder) cell {
		return b.zeroOne(twin(b, b.between(.2, .5), b.logBetween(.05, .2)))
	}},
	{sort: "binary-rare", twins: [2]string{"rare", "very"}, beside: true, make: func(b *builder) cell {
		return b.zeroOne(twin(b, b.logBetween(.008, .04), b.logBetween(.001, .008)))
	}},
	{sort: "equal-most", twins: [2]string{"middle", "edge"}, make: func(b *builder) cell {
		share, at := b.between(.5, .88), twin(b, 0.0, b.between(1.5, 4))
		b.say("%.2g equal", share)
		return plain(func(rng *rand.Rand) float64 {
			if rng.Float64() < share {
				return 50 + 9*at
			}
			return 50 + 9*rng.NormFloat64()
		})
	}},
	{sort: "equal-some", twins: [2]string{"middle", "edge"}, kind: true, make: func(b *builder) cell {
		share, at := b.between(.05, .3), twin(b, 0.0, b.between(.5, 2))
		return plain(func(rng *rand.Rand) float64 {
			if rng.Float64() < share {
				return 50 + 9*at
			}
			return 50 + 9*rng.NormFloat64()
		})
	}},
	{sort: "constant-nearly", twins: [2]string{"few", "narrow"}, beside: true, make: (*builder).nearlyConstant},
	{sort: "lattice", twins: [2]string{"of-sevens", "of-weeks"}, beside: true, make: func(b *builder) cell {
		sd, unit := b.between(8, 20), oneOf(b, 5.0, 7, 12)
		if b.second {
			unit = sd * b.between(.25, 1)
		}
		at := b.between(0, 200)
		b.say("unit %.3g sd %.3g", unit, sd)
		return plain(func(rng *rand.Rand) float64 { return math.Round((at+sd*rng.NormFloat64())/unit) * unit })
	}},
	{sort: "rounded", twins: [2]string{"finely", "tenths"}, kind: true, make: func(b *builder) cell {
		sd, unit := b.between(5, 30), twin(b, 1, .1)
		at := b.between(0, 100)
		return plain(func(rng *rand.Rand) float64 { return math.Round((at+sd*rng.NormFloat64())/unit) * unit })
	}},
	{sort: "few-values", twins: [2]string{"likert", "counts"}, make: func(b *builder) cell {
		if b.second {
			mean := b.logBetween(.3, 2)
			b.say("poisson %.2g", mean)
			return plain(func(rng *rand.Rand) float64 { return distuv.Poisson{Lambda: mean, Src: rng}.Rand() })
		}
		most, at, sd := float64(oneOf(b, 5, 7)), b.between(1.5, 6), b.between(.7, 2)
		return plain(func(rng *rand.Rand) float64 { return min(most, max(1, math.Round(at+sd*rng.NormFloat64()))) })
	}},
	{sort: "counts", twins: [2]string{"dispersed", "plain"}, beside: true, make: func(b *builder) cell {
		mean, shape := b.logBetween(2, 30), b.logBetween(.3, 2)
		b.say("mean %.2g shape %.2g", mean, shape)
		return plain(func(rng *rand.Rand) float64 {
			m := mean
			if !b.second {
				m *= distuv.Gamma{Alpha: shape, Beta: shape, Src: rng}.Rand()
			}
			return distuv.Poisson{Lambda: max(m, 1e-9), Src: rng}.Rand()
		})
	}},
	{sort: "no-moments", twins: [2]string{"cauchy", "t2"}, noMoments: true, make: func(b *builder) cell { return student(twin(b, 1.0, 2)) }},
	{sort: "tails", twins: [2]string{"t", "laplace"}, make: func(b *builder) cell {
		if b.second {
			return plain(func(rng *rand.Rand) float64 { return rng.ExpFloat64() - rng.ExpFloat64() })
		}
		return student(b.between(3, 6))
	}},
	{sort: "flat", twins: [2]string{"uniform", "bowl"}, kind: true, make: func(b *builder) cell {
		return plain(func(rng *rand.Rand) float64 {
			u := rng.Float64()
			if b.second {
				return math.Pow(math.Sin(math.Pi/2*u), 2)
			}
			return u
		})
	}},
	{sort: "censored", twins: [2]string{"below", "above"}, make: func(b *builder) cell {
		limit, sd := b.between(-1.3, 0), b.between(.2, .7)
		b.say("at %.2g sd", limit)
		return plain(func(rng *rand.Rand) float64 {
			z := max(limit, rng.NormFloat64())
			if b.second {
				return 100 - 20*z
			}
			return math.Exp(sd * z)
		})
	}},
	{sort: "heaped", twins: [2]string{"ages", "hours"}, beside: true, make: (*builder).heaped},
	{sort: "seasonal", twins: [2]string{"months", "half-hours"}, make: func(b *builder) cell {
		steps, peaks, depth := twin(b, 12.0, 48), float64(b.whole(1, 2)), b.between(.5, 1)
		return plain(func(rng *rand.Rand) float64 {
			for {
				k := math.Floor(steps * rng.Float64())
				if 2*rng.Float64() < 1+depth*math.Sin(2*math.Pi*peaks*k/steps) {
					return twin(b, k+1, k/2)
				}
			}
		})
	}},
	{sort: "two-units", twins: [2]string{"kg-and-lb", "degrees"}, make: func(b *builder) cell {
		share := b.between(.03, .4)
		b.say("%.2g in the other unit", share)
		return plain(func(rng *rand.Rand) float64 {
			x := twin(b, 75.0, 20) + twin(b, 13.0, 6)*rng.NormFloat64()
			if rng.Float64() < share {
				x = twin(b, 2.2046*x, 32+1.8*x)
			}
			return math.Round(10*x) / 10
		})
	}},
	{sort: "bounded", twins: [2]string{"ceiling", "floor"}, beside: true, make: func(b *builder) cell {
		at, sd := twin(b, b.between(80, 105), b.between(-20, 15)), b.between(12, 30)
		return plain(func(rng *rand.Rand) float64 { return math.Round(min(100, max(0, at+sd*rng.NormFloat64()))) })
	}},
	{sort: "places", twins: [2]string{"four", "many"}, make: func(b *builder) cell {
		k := twin(b, 4, b.whole(6, 12))
		at, sd := make([]float64, k), b.logBetween(.005, .3)
		for i := range at {
			at[i] = b.between(35, 60)
		}
		return plain(func(rng *rand.Rand) float64 { return at[rng.IntN(k)] + sd*rng.NormFloat64() })
	}},
	{sort: "nested", twins: [2]string{"hundredfold", "tenfold"}, make: func(b *builder) cell {
		share, ratio := b.between(.2, .6), twin(b, b.logBetween(30, 300), b.logBetween(4, 15))
		b.say("%.2g of the rows x%.3g", share, ratio)
		return plain(func(rng *rand.Rand) float64 {
			if rng.Float64() < share {
				return ratio * rng.NormFloat64()
			}
			return rng.NormFloat64()
		})
	}},
}

// coded returns a column in which a part of the rows have a code in place of a value.
func (b *builder) coded(low, high float64) cell {
	rate, at, sd := b.logBetween(low, high), b.between(20, 90), b.between(2, 15)
	code := twin(b, oneOf(b, 999.0, 9999, 99999), oneOf(b, -9.0, -99, -999999))
	whole := b.p.Float64() < .5
	b.say("%.3g with %g in %.3g +- %.3g", rate, code, at, sd)
	return func(rng *rand.Rand) (float64, bool) {
		if rng.Float64() < rate {
			return code, true
		}
		x := at + sd*rng.NormFloat64()
		if whole {
			x = math.Round(x)
		}
		return x, false
	}
}

// dated returns a column of days since 1970, some of which stand for "unknown" or "never".
func (b *builder) dated() cell {
	rate, at, sd := b.logBetween(.003, .1), b.between(12000, 19000), b.logBetween(100, 1500)
	code := twin(b, -25567.0, 2932896)
	b.say("%.3g with %g, sd %.3g", rate, code, sd)
	return func(rng *rand.Rand) (float64, bool) {
		if rng.Float64() < rate {
			return code, true
		}
		return math.Round(at + sd*rng.NormFloat64()), false
	}
}

// inflated returns a column that is 0 except in a part p of the rows.
func (b *builder) inflated(p float64, draw func(*rand.Rand) float64) cell {
	b.say("%.3g not 0", p)
	return plain(func(rng *rand.Rand) float64 {
		if rng.Float64() < p {
			return draw(rng)
		}
		return 0
	})
}

func (b *builder) zeroOne(p float64) cell {
	if b.p.Float64() < .3 {
		p = 1 - p
	}
	b.say("P(1) = %.3g", p)
	return plain(func(rng *rand.Rand) float64 {
		if rng.Float64() < p {
			return 1
		}
		return 0
	})
}

// nearlyConstant has one value but in a few rows, or hardly moves about a large one.
func (b *builder) nearlyConstant() cell {
	rate, at, off := b.logBetween(.002, .03), b.between(1, 100), b.between(.1, 3)
	if b.second {
		at = b.logBetween(1e3, 1e7)
		return plain(func(rng *rand.Rand) float64 { return at + .01*rng.NormFloat64() })
	}
	b.say("%.3g differ", rate)
	return plain(func(rng *rand.Rand) float64 {
		if rng.Float64() < rate {
			return at + off*rng.NormFloat64()
		}
		return at
	})
}

// heaped returns a column of numbers that people round: ages to fives and tens, hours to 40.
func (b *builder) heaped() cell {
	share := b.between(.15, .6)
	b.say("%.2g heaped", share)
	return plain(func(rng *rand.Rand) float64 {
		heap := rng.Float64() < share
		switch {
		case b.second && heap:
			return 40
		case b.second:
			return math.Round(max(1, 38+12*rng.NormFloat64()))
		}
		x := 18 + 70*math.Pow(rng.Float64(), 1.3)
		if heap {
			return math.Round(x/5) * 5
		}
		return math.Floor(x)
	})
}

func counts(mean float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return 1 + distuv.Poisson{Lambda: mean, Src: rng}.Rand() }
}

// amounts returns a log-normal column.
func amounts(median, sigma float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return median * math.Exp(sigma*rng.NormFloat64()) }
}

func pareto(least, tail float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return least * math.Exp(rng.ExpFloat64()/tail) }
}

func student(degrees float64) cell {
	return plain(func(rng *rand.Rand) float64 { return distuv.StudentsT{Sigma: 1, Nu: degrees, Src: rng}.Rand() })
}

// fill appends a column of a law, in another unit if its numbers mean nothing.
func (b *builder) fill(l columnLaw) {
	draw, unit := l.make(b), 1.0
	if !l.keep && !b.keep && b.p.Float64() < .4 {
		unit = math.Pow(10, float64(b.whole(-3, 6)))
	}
	b.t.NoMoments = b.t.NoMoments || l.noMoments
	b.column(func(i int) float64 {
		x, stray := draw(b.rng)
		if stray {
			b.stray(i)
		}
		return unit * x
	})
}

// alone draws a table of this one column.
func (b *builder) alone(l columnLaw) { b.fill(l) }

// among puts one to three columns of the law among Gaussian ones, half of the time with a column
// that depends on the first.
func (b *builder) among(l columnLaw) {
	special := b.whole(1, 3)
	b.gaussians(b.whole(0, twin(b, 7, 12)))
	first := len(b.cols)
	for range special {
		b.fill(l)
	}
	if b.p.Float64() < .5 && !l.noMoments {
		b.dependent(first)
	}
}

// dependent appends a column that depends on column j, except for its outliers.
func (b *builder) dependent(j int) {
	of := func(value func(x float64) float64) float64 {
		sum, n := 0.0, 0.0
		for i, x := range b.cols[j] {
			if b.t.Outliers == nil || !b.t.Outliers[i] {
				sum, n = sum+value(x), n+1
			}
		}
		return sum / n
	}
	mean := of(func(x float64) float64 { return x })
	sd := math.Sqrt(of(func(x float64) float64 { return (x - mean) * (x - mean) }))
	by, unit := b.between(-1.5, 1.5), b.unit()
	if sd == 0 {
		return
	}
	b.say("a column depends on it by %.2g", by)
	b.column(func(i int) float64 {
		x := b.rng.NormFloat64()
		if b.t.Outliers == nil || !b.t.Outliers[i] {
			x += by * (b.cols[j][i] - mean) / sd
		}
		return unit * x
	})
}
