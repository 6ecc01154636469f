package recursive

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

const stepRadius = "radius"

// Utility constants of the radius ([KSSU19] Section C.1, stage R of the restatement). Distances are
// in the units of the columns: location and scale has made sure that three rows in five are within
// about one unit of the centre in every column.
const (
	radiusLow  = -8  // half-octaves: the upper end of the first bin
	radiusNear = 10  // where the bulk of most tables ends
	radiusHigh = 400 // .. and of all
	// private PCA clips the rows to the ball that holds this part of them: directions matter, noise
	// grows with the radius
	pcaCore    = .85
	radiusCore = .9  // of the rows are within the radius in any case
	radiusPart = .01 // a bin beyond counts if it holds this part of the rows
	// two bins that hold this part of the rows, and this many noise sds, belong, however far
	radiusFar, radiusFarSDs = .035, 5.0
	radiusSDs               = 3.0 // .. and this many noise sds
	radiusGap               = 5   // half-octaves that may be empty between the core and what belongs to it
)

// findRadius finds the ball around the centre that holds the connected bulk of the rows.
//
// Differs from the source: the bulk first, then outwards over small gaps, so that outliers that
// share a distance do not count.
func (f *Finder) findRadius() error {
	d := f.Space.Dim()
	var edges []float64
	for e := radiusLow; e <= radiusHigh; e++ {
		edges = append(edges, math.Exp2(float64(e)/2))
	}
	q := query.Counts{Map: f.Space.Affine(make([]float64, d), mat.DenseCopyOf(symmetric.Identity(d))), Edges: [][]float64{edges}}
	ans, err := f.Sum(f.Prefix+stepRadius, q, f.Mu(radiusShare))
	if err != nil {
		return err
	}
	at := radiusBin(ans.Values[:len(edges)], f.Rows, ans.Sigma)
	f.radius = edges[at]
	f.clip = quantile(edges[:at+1], ans.Values[:at+1], pcaCore*f.Rows)
	return nil
}

// quantile returns the distance that holds the given number of rows, interpolated in a noisy
// histogram; the last edge if there are not so many.
func quantile(edges, counts []float64, rows float64) float64 {
	within, low := 0.0, 0.0
	for b, c := range counts {
		if c > 0 && within+c >= rows {
			return low + (edges[b]-low)*math.Max(.1, (rows-within)/c)
		}
		within, low = within+c, edges[b]
	}
	return edges[len(edges)-1]
}

// radiusBin returns the last bin that belongs, of counts with noise sd for about that many rows.
func radiusBin(counts []float64, rows, sd float64) int {
	low := math.Max(radiusSDs*sd, radiusPart*rows)
	near := min(radiusNear-radiusLow+1, len(counts))
	within, core, full := 0.0, 0, 0
	for core < near && within < radiusCore*rows {
		if within += counts[core]; counts[core] > 2*sd {
			full = core
		}
		core++
	}
	at := core - 1
	if within < radiusCore*rows { // by noise, or because rows are far
		at = full
		enough := radiusCore*rows - radiusSDs*sd*math.Sqrt(float64(near))
		for b := near; b < len(counts) && within < enough; b++ {
			if counts[b] > low {
				within, at = within+counts[b], b
			}
		}
	}
	for b := len(counts) - 1; b > at; b-- { // a cluster far off, however far
		if counts[b]+counts[b-1] <= math.Max(math.Sqrt2*radiusFarSDs*sd, radiusFar*rows) {
			continue
		}
		if at = b; counts[b] <= low {
			at = b - 1
		}
	}
	for b := at + 1; b < len(counts) && b-at <= radiusGap; b++ {
		switch {
		case counts[b] > low:
			at = b
		// rows that two bins share
		case b+1 < len(counts) && counts[b]+counts[b+1] > math.Sqrt2*low:
			at = b + 1
		}
	}
	return at
}
