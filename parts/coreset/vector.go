package coreset

import "math"

// The loops over points exist twice: here, in Go, which says what they compute, and in assembly,
// which takes as many lanes at a time as a register of the machine holds. Every lane passes through
// the same operations in the same order in both, each rounded by itself (the explicit conversions
// forbid fused multiply-add), so both give the same bits as long as all differences of coordinates
// are finite. TestForms holds this for every form that the machine has.
//
// shares and gather run the form that path names: 0 for Go, and what follows is the machine's. The
// build tag purego leaves Go alone.
var path uint8

// Points lie in blocks of width, one lane each; sums over points are made by lane, and joined in
// the end. A panel is a number of blocks that, with their shares, stay in the processor's first
// cache.
const (
	width = 8
	panel = 16
)

type lanes [width]float64

// A block is width leaves: where they are, the variances within, and their weights.
type block struct {
	at, cell [mostCoordinates]lanes
	weight   lanes
}

// A part is a component's part of the density: e^log times e^(-|inverse (x - mean)|^2/2), inverse
// being a lower triangle.
type part struct {
	mean    vector
	inverse [mostCoordinates]vector
	log     float64
}

func (p *part) at(x *block, r int, wide bool) (log float64) {
	m, w := &p.mean, &p.inverse
	d0, d1 := x.at[0][r]-m[0], x.at[1][r]-m[1]
	z0, z1 := float64(w[0][0]*d0), float64(w[1][0]*d0)+float64(w[1][1]*d1)
	square := float64(z0*z0) + float64(z1*z1)
	if wide {
		d2, d3 := x.at[2][r]-m[2], x.at[3][r]-m[3]
		z2 := float64(w[2][0]*d0) + float64(w[2][1]*d1) + float64(w[2][2]*d2)
		z3 := float64(w[3][0]*d0) + float64(w[3][1]*d1) + float64(w[3][2]*d2) + float64(w[3][3]*d3)
		square = square + float64(z2*z2) + float64(z3*z3)
	}
	return p.log - square/2
}

// negligible is the logarithm of a share that counts as 0.
const negligible = -30

// sharesGo writes, of the points of a panel, the part of every component in their densities,
// relative to the largest, and what makes shares of their weights of these; if asked it adds their
// log-densities times their weights to loglik. wide is false if all coordinates from the third on
// are zero.
func sharesGo(share [][panel]lanes, scale *[panel]lanes, x []block, parts []part, loglik *lanes, wide, score bool) {
	for b := range x {
		for r, w := range &x[b].weight {
			best, total := math.Inf(-1), 0.0
			for j := range parts {
				s := parts[j].at(&x[b], r, wide)
				if share[j][b][r] = s; s > best {
					best = s
				}
			}
			for j := range parts {
				s := &share[j][b][r]
				if *s -= best; *s > negligible { // false for NaN
					*s = exp(*s)
					total += *s
					continue
				}
				*s = 0
			}
			total = max(total, 1) // of none if no part has a density
			scale[b][r] = w / total
			if score {
				loglik[r] += float64(w * (best + log(total)))
			}
		}
	}
}

// exp returns e^x for negligible <= x <= 0, to 1e-12: 2^k times the Taylor series of an eighth of
// the rest, |rest| <= ln2/2, to the eighth power.
func exp(x float64) float64 {
	const shift = 3 << 51 // adding it rounds to an integer, which then stands in the low bits
	k := float64(x*(1/math.Ln2)) + shift
	y := (x - float64((k-shift)*math.Ln2)) / 8
	s := 1 + float64(y*(1+float64(y*(1./2+float64(y*(1./6+float64(y*(1./24+float64(y*(1./120+float64(y*(1./720))))))))))))
	s *= s
	s *= s
	s *= s
	return s * math.Float64frombits((math.Float64bits(k)+1023)<<52)
}

// log returns the logarithm of x >= 1, to 1e-12: k ln2 and that of the rest m, 1/2 <= m^2 <= 2, by
// the series of the inverse hyperbolic tangent of (m-1)/(m+1).
func log(x float64) float64 {
	bits := math.Float64bits(x)
	k := (bits - math.Float64bits(math.Sqrt2/2)) >> 52
	m := math.Float64frombits(bits - k<<52)
	t := (m - 1) / (m + 1)
	u := t * t
	s := 1 + float64(u*(1./3+float64(u*(1./5+float64(u*(1./7+float64(u*(1./9+float64(u*(1./11+float64(u*(1./13+float64(u*(1./15))))))))))))))
	return float64(float64(k)*math.Ln2) + float64((t+t)*s)
}

// sums are those of the mass of points, of that times x - from, of that times the variances of
// leaves, and the upper triangle of x - from times itself.
type sums [1 + 2*mostCoordinates + mostCoordinates*(mostCoordinates+1)/2]float64

func (s *sums) cells() []float64 { return s[1+mostCoordinates:] }

// add adds lane r's point, with mass g.
func (s *sums) add(x *block, r int, from *vector, g float64) {
	d0, d1, d2, d3 := x.at[0][r]-from[0], x.at[1][r]-from[1], x.at[2][r]-from[2], x.at[3][r]-from[3]
	v0, v1, v2, v3 := g*d0, g*d1, g*d2, g*d3
	for c, v := range [...]float64{g, v0, v1, v2, v3, g * x.cell[0][r], g * x.cell[1][r], g * x.cell[2][r], g * x.cell[3][r],
		v0 * d0, v0 * d1, v0 * d2, v0 * d3, v1 * d1, v1 * d2, v1 * d3, v2 * d2, v2 * d3, v3 * d3} {
		s[c] += float64(v)
	}
}

// gatherGo adds the points of a panel to a component's sums, lane by lane.
func gatherGo(to *[len(sums{})]lanes, share, scale *[panel]lanes, x []block, p *part) {
	for r := range width {
		var s sums
		for c := range s {
			s[c] = to[c][r]
		}
		for b := range x {
			if g := share[b][r]; g > 0 {
				s.add(&x[b], r, &p.mean, float64(g*scale[b][r]))
			}
		}
		for c, v := range s {
			to[c][r] = v
		}
	}
}
