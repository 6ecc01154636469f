package roots

import "math"

// A Cluster is a run of leaves without a hole, with its mean and standard deviation.
type Cluster struct {
	Low, High, Mass, Mean, SD float64
	Leaves                    []Leaf
}

// Utility constants of clusters.
const (
	holeWidths = 2.5 // a hole is so many times as wide as the wider leaf beside it
	// A part whose density is so many times that of the leaves on both sides is a cluster by itself, if those hold at least this part of its mass.
	nestedDensity = 20
	nestedMass    = .15
)

// Clusters are the runs of leaves between holes, in order. A narrow cluster inside a wide one is one by itself, before the wide one, which
// keeps the leaves on both sides: its interval contains the narrow one.
func Clusters(leaves []Leaf) (out []Cluster) {
	for from := 0; from < len(leaves); {
		to := from + 1
		for to < len(leaves) && !hole(leaves[to-1], leaves[to]) {
			to++
		}
		out = append(out, nested(leaves[from:to])...)
		from = to
	}
	return out
}

func hole(a, b Leaf) bool {
	return b.Low-a.High > holeWidths*math.Max(a.High-a.Low, b.High-b.Low)
}

func (l Leaf) density() float64 { return l.Mass / (l.High - l.Low) }

// nested splits a run of leaves without a hole into its dense parts and the rest, if the rest is worth a cluster.
func nested(leaves []Leaf) (out []Cluster) {
	var rest []Leaf
	var dense [][]Leaf
	for from := 0; from < len(leaves); {
		to := from + 1
		for to < len(leaves) && ratio(leaves[to-1], leaves[to]) < nestedDensity {
			to++
		}
		// Towards a hole's edge a part is as good as beside a sparse leaf; but not on both sides.
		up := from == 0 || leaves[from].density() > leaves[from-1].density()
		down := to == len(leaves) || leaves[to-1].density() > leaves[to].density()
		if up && down && to-from < len(leaves) {
			dense = append(dense, leaves[from:to])
		} else {
			rest = append(rest, leaves[from:to]...)
		}
		from = to
	}
	if dense == nil || massOf(rest) < nestedMass*heaviest(dense) {
		return []Cluster{clusterOf(leaves)}
	}
	for _, d := range dense {
		out = append(out, clusterOf(d))
	}
	return append(out, nested(rest)...)
}

// ratio is how many times as dense the denser leaf is.
func ratio(a, b Leaf) float64 {
	x, y := a.density(), b.density()
	return math.Max(x, y) / math.Min(x, y)
}

func massOf(leaves []Leaf) (mass float64) {
	for _, l := range leaves {
		mass += l.Mass
	}
	return mass
}

func heaviest(parts [][]Leaf) (mass float64) {
	for _, p := range parts {
		mass = math.Max(mass, massOf(p))
	}
	return mass
}

// clusterOf is the cluster of leaves, rows spread evenly in each. It is centred, for leaves far from zero.
func clusterOf(leaves []Leaf) Cluster {
	c := Cluster{Low: leaves[0].Low, High: leaves[len(leaves)-1].High, Mass: massOf(leaves), Leaves: leaves}
	first, second := 0.0, 0.0
	for _, l := range leaves {
		mid, width := (l.Low-c.Low)/2+(l.High-c.Low)/2, l.High-l.Low
		first += l.Mass / c.Mass * mid
		second += l.Mass / c.Mass * (mid*mid + width*width/12)
	}
	c.Mean, c.SD = c.Low+first, math.Sqrt(math.Max(0, second-first*first))
	return c
}
