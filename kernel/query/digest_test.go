package query_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// digest is of the integers that TestDigest asks for, as the loops of the first complete version
// made them, row by row and without vectors.
const digest = "873d375a3235b203344a6f2db1443ab1f0c8e9980329320a696d9579ea450c2d"

// roughly draws near a normal deviate by additions that are exact on every machine.
func roughly(rng *rand.Rand) float64 {
	sum := 0.0
	for range 12 {
		sum += float64(rng.IntN(1<<20))/(1<<20) - .5
	}
	return sum
}

// digestFrame maps d columns by a triangle, or by all of them.
func digestFrame(rng *rand.Rand, d int, full bool) query.Affine {
	a := query.Affine{}
	for i := range d {
		a.Center = append(a.Center, roughly(rng))
		w := make([]float64, d)
		for j := range w {
			if full || j >= i {
				w[j] = roughly(rng) / 8
			}
		}
		w[i] = 1
		a.W = append(a.W, w)
	}
	return a
}

// digestRows draws around five centres; some rows are null, far out, or tiny.
func digestRows(rng *rand.Rand, n, d int) (rows []float64) {
	for r := range n {
		scale, shift := 1.0, float64(r%5)-2
		switch r % 41 {
		case 7:
			scale = math.NaN()
		case 8:
			scale = 0x1p600
		case 9:
			scale = 0x1p-600
		}
		for range d {
			rows = append(rows, float64(roughly(rng)*scale)+shift)
		}
	}
	return rows
}

// TestDigest: sums and leaves are what they were before anything was computed by vectors, on
// whatever machine this runs and whichever form of the loops it takes.
func TestDigest(t *testing.T) {
	all := sha256.New()
	add := func(sum []int64) {
		if err := binary.Write(all, binary.LittleEndian, sum); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []int{1, 2, 3, 4, 5, 7, 8, 10, 11, 13, 24, 50} {
		rng := rand.New(rand.NewPCG(19, uint64(d)))
		rows := digestRows(rng, 48*40+17, d)
		var components []query.Component
		for j := range 13 {
			c := query.Component{Map: digestFrame(rng, d, j%3 == 0), LogWeight: roughly(rng), Radius: math.Sqrt(float64(d)) * (1 + float64(j%4)/4), Truncate: j%5 == 4, GateOnly: j == 6}
			components = append(components, c)
		}
		some := components[1].Map
		some.Columns = make([]int, d)
		for j := range some.Columns {
			some.Columns[j] = rng.IntN(d)
		}
		components[3].Map = some
		for _, q := range []query.Sum{
			query.Directions{Map: components[0].Map, Lift: 1}, query.Directions{Map: components[1].Map, Lift: .25}, query.Directions{Map: some, Lift: 2},
			query.ClippedMoments{Form: query.FullForm, Lift: .75, Components: components[:1]},
			query.ClippedMoments{Form: query.FullForm, Lift: .75, Components: components[4:5]},
			query.ClippedMoments{Form: query.FullForm, Lift: .5, Components: components[1:4]},
			query.ClippedMoments{Form: query.FullForm, Lift: .5, Components: components},
			query.ClippedMoments{Form: query.DiagonalForm, Components: components},
			query.ClippedMoments{Form: query.SphericalForm, Components: components[2:]},
			query.Counts{Map: some, As: query.Above, Edges: [][]float64{{.5, float64(d), 4 * float64(d)}}},
			query.LogRatio{F: components[:6], G: components[3:], Bound: 9},
		} {
			sum := make([]int64, q.Size())
			m := q.Compile(d)
			for _, n := range []int{1008, 500, 0} { // pieces, the last one not of whole panels
				m.Add(sum, rows[:n*d])
			}
			m.Add(sum, rows[1508*d:])
			add(sum)
		}
		for _, p := range []query.Partition{
			{Components: components}, {Project: components[0].Map, Components: components[5:]},
			{Regions: []query.Region{{[]query.Condition{{Map: components[1].Map, Radius: math.Sqrt(float64(d))}}}, {[]query.Condition{{Map: some, Radius: 3, Outside: true}}}}},
		} {
			leaf, wide := make([]int, len(rows)/d), []int64{}
			p.Sorter(d).Sort(leaf, rows)
			for _, l := range leaf {
				wide = append(wide, int64(l))
			}
			add(wide)
		}
	}
	if got := hex.EncodeToString(all.Sum(nil)); got != digest {
		t.Errorf("the integers' digest is %s, want %s", got, digest)
	}
}
