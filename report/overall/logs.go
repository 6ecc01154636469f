package overall

import "math"

// ownUnits converts the figures of a column of logarithms, y, to the column's own units: quantiles
// by the map itself, mean and standard deviation as those of its inverse under the mixture of
// Gaussians within their limits. Noise of a component moves the mean of y and its standard
// deviation.
func (c column) ownUnits(named *Column, n float64) {
	for i, q := range named.Quantiles {
		x := c.cell.Log.From(q.Value)
		slope := c.cell.Log.Slope(x)
		named.Quantiles[i] = Amount{x, q.Noise / slope, q.Sampling / slope}
	}
	const step = 1. / 64 // of a standard deviation, in differences
	means, squares := make([]float64, len(c.parts)), make([]float64, len(c.parts))
	mean, square := 0., 0.
	for i, p := range c.parts {
		means[i], squares[i] = c.moments(p)
		mean, square = mean+p.weight*means[i], square+p.weight*squares[i]
	}
	sd, noise, noiseSD := math.Sqrt(max(0, square-mean*mean)), 0., 0.
	for i, p := range c.parts {
		away := means[i] - mean
		moves := []float64{c.count * away}
		movesSD := []float64{c.count * (squares[i] - square - 2*mean*away)}
		for _, q := range []part{{mean: p.mean + step*p.sd, sd: p.sd}, {mean: p.mean, sd: p.sd * (1 + step/2)}} {
			q.least, q.most = p.least, p.most
			q.cut()
			m, s := c.moments(q)
			moves, movesSD = append(moves, (m-means[i])/step), append(movesSD, (s-squares[i]-2*mean*(m-means[i]))/step)
		}
		for k := range moves {
			noise, noiseSD = math.Hypot(noise, p.weight*p.noise*moves[k]), math.Hypot(noiseSD, p.weight*p.noise*movesSD[k])
		}
	}
	named.Mean, named.SD = Amount{mean, noise, sd / math.Sqrt(n)}, Amount{Value: sd}
	if sd > 0 {
		named.SD = Amount{sd, noiseSD / (2 * sd), math.NaN()} // its sampling error would need fourth moments
	}
}

// moments returns the mean and the mean square of the values of p's rows, by the trapezoidal rule:
// the second moment of a Gaussian's image under the inverse map comes from at most two variances
// above the mean.
func (c column) moments(p part) (mean, square float64) {
	const points, reach = 1 << 10, 8
	value := func(y float64) float64 { return c.cell.Log.From(c.centre + c.unit*y) }
	if p.cutSD == 0 {
		x := value(p.cutMean)
		return x, x * x
	}
	low := math.Max(p.least, p.mean-reach*p.sd)
	high := math.Min(p.most, p.mean+reach*p.sd+2*c.unit*p.sd*p.sd)
	total := 0.
	for i := range points {
		y := low + (high-low)*(float64(i)+.5)/points
		w, x := bell((y-p.mean)/p.sd), value(y)
		total, mean, square = total+w, mean+w*x, square+w*x*x
	}
	if total == 0 {
		x := value(p.cutMean)
		return x, x * x
	}
	return mean / total, square / total
}
