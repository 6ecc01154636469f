package coreset

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// plain are the loops of any length that those of fixed length stand for.
type plain struct{ points [][]float64 }

func (p plain) center(shares []float64, q int) (mean []float64, mass float64) {
	mean = make([]float64, q)
	for i, g := range shares {
		mass += g
		for l, x := range p.points[i] {
			mean[l] += g * x
		}
	}
	for l := range mean {
		mean[l] /= mass + massFloor
	}
	return mean, mass
}

func (p plain) scatter(shares, mean []float64) []float64 {
	q := len(mean)
	out, diff := make([]float64, q*q), make([]float64, q)
	for i, g := range shares {
		for l, m := range mean {
			diff[l] = p.points[i][l] - m
		}
		for a, v := range diff {
			v *= g
			for b := a; b < q; b++ {
				out[a*q+b] += v * diff[b]
			}
		}
	}
	return out
}

func (p plain) logDensities(inverse, mean []float64, logWeight float64) (out []float64) {
	q := len(mean)
	for _, x := range p.points {
		z2 := 0.0
		for a := range q {
			z := 0.0
			for b, v := range inverse[a*q : a*q+a+1] {
				z += v * (x[b] - mean[b])
			}
			z2 += z * z
		}
		out = append(out, logWeight-z2/2)
	}
	return out
}

// The loops of EM give the numbers of plain ones, but for rounding and shares that count as none;
// and the steps that are left out once one hardly changes the likelihood would together have
// changed it by no more than so many of them may.
func TestFastLoopsChangeNothing(t *testing.T) {
	for q := 1; q <= mostCoordinates; q++ {
		for _, own := range []float64{0, .5} {
			rng := rand.New(rand.NewPCG(uint64(q), 7))
			c := &Coreset{Dim: q, OwnCells: own}
			for i := range 300 {
				x, v := make([]float64, q), make([]float64, q)
				for l := range x {
					x[l], v[l] = 1e3+rng.NormFloat64()+float64(5*(i%3)), .01*float64(1+i%2)
				}
				w := 1 + 100*rng.Float64()
				c.Points, c.Cells, c.Weights, c.Total = append(c.Points, x), append(c.Cells, v), append(c.Weights, w), c.Total+w
			}
			for k := 1; k <= 5; k++ {
				p := pointsOf(c)
				assign := c.Parts(t.Context(), k, 1, func(int) func() float64 { return rng.Float64 })[0]
				a, b := newEM(p, assign), newEM(p, assign)
				a.run(t.Context(), emSteps)
				for range emSteps {
					b.expect(true)
					b.maximise()
				}
				b.expect(true)
				if off := math.Abs(a.loglik-b.loglik) / c.Total; !(off <= emSteps*settled) {
					t.Errorf("%d coordinates, own cells %v, %d components: the likelihoods differ by %g nats per row", q, own, k, off)
				}
				a.sameAs(t, plain{c.Points}, c)
			}
		}
	}
}

// sameAs compares the sums of a fit's last step, and its likelihood, with those of plain loops.
func (e *em) sameAs(t *testing.T, p plain, c *Coreset) {
	t.Helper()
	q := e.p.q
	logs, total := make([][]float64, e.k), make([]float64, len(c.Points))
	for j := range logs {
		logDet, _ := inverseFactor(e.work, e.cov[j*q*q:(j+1)*q*q], q)
		logs[j] = p.logDensities(e.work, e.mean[j*q:(j+1)*q], math.Log(e.w[j])-logDet/2-float64(q)/2*math.Log(2*math.Pi))
		for i, l := range logs[j] {
			total[i] += math.Exp(l)
		}
	}
	loglik := 0.0
	for i, w := range c.Weights {
		loglik += w * math.Log(total[i])
	}
	agree(t, "log-likelihood", e.loglik/c.Total, loglik/c.Total)
	mean, scatter := make([]float64, q), make([]float64, q*q)
	for j := range logs {
		shares, cells := make([]float64, len(total)), make([]float64, q)
		for i, l := range logs[j] {
			shares[i] = c.Weights[i] * math.Exp(l) / total[i]
			floats.AddScaled(cells, shares[i], c.Cells[i])
		}
		wantMean, wantMass := p.center(shares, q)
		mass := e.sums[j].moments(&e.parts[j].mean, mean, scatter)
		agree(t, "mass", mass, wantMass)
		for l, v := range wantMean {
			agree(t, "mean", mean[l], v)
			agree(t, "cells", e.sums[j].cells()[l], cells[l])
		}
		for l, v := range p.scatter(shares, wantMean) {
			agree(t, "scatter", 1e-4*scatter[l], 1e-4*v) // far points with shares that count as none
		}
	}
}
