package speed

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// plainCovariance is the yardstick: the sum and the upper triangle of the second moment of all rows
// in float64, in the most natural loop, rows shared out in pieces among the workers as the kernel
// does.
func plainCovariance(t table, workers int) ([]float64, [][]float64) {
	const grain = 1024
	d := t.d
	center := t.flat[:d] // any point near the rows: here the first one
	sums, seconds := make([][]float64, workers), make([][][]float64, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			sum, second := make([]float64, d), make([][]float64, d)
			for i := range second {
				second[i] = make([]float64, d)
			}
			diff := make([]float64, d)
			for from := int(next.Add(grain)-grain) * d; from < len(t.flat); from = int(next.Add(grain)-grain) * d {
				for rows := t.flat[from:min(from+grain*d, len(t.flat))]; len(rows) >= d; rows = rows[d:] {
					addRow(sum, second, diff, rows[:d], center)
				}
			}
			sums[w], seconds[w] = sum, second
		})
	}
	wg.Wait()
	for w := 1; w < workers; w++ {
		for i := range d {
			sums[0][i] += sums[w][i]
			for j := range d {
				seconds[0][i][j] += seconds[w][i][j]
			}
		}
	}
	return sums[0], seconds[0]
}

func addRow(sum []float64, second [][]float64, diff, row, center []float64) {
	for j, c := range center {
		diff[j] = row[j] - c
		sum[j] += diff[j]
	}
	for j, a := range diff {
		out := second[j]
		for k := j; k < len(diff); k++ {
			out[k] += a * diff[k]
		}
	}
}

// yardsticks are ways to write the yardstick in Go for one worker: the natural loop, gonum's
// symmetric update of pieces of rows, and a loop that keeps six sums of a panel of rows in
// registers. The cheapest is the yardstick of the single Gaussian.
var yardsticks = []struct {
	name string
	pass func(t table) ([]float64, [][]float64)
}{
	{"plain-loop", func(t table) ([]float64, [][]float64) { return plainCovariance(t, 1) }},
	{"plain-syrk", syrkCovariance},
	{"plain-panels", panelCovariance},
}

// syrkCovariance hands centred pieces of rows to blas64.Syrk.
func syrkCovariance(t table) ([]float64, [][]float64) {
	const grain = 1024
	d, center := t.d, t.flat[:t.d]
	sum, piece := make([]float64, d), make([]float64, grain*d)
	c := blas64.Symmetric{N: d, Stride: d, Data: make([]float64, d*d), Uplo: blas.Upper}
	for rows := t.flat; len(rows) > 0; {
		n := min(grain, len(rows)/d)
		for r := range n {
			out := piece[r*d : (r+1)*d]
			for j, v := range rows[r*d : (r+1)*d] {
				out[j] = v - center[j]
				sum[j] += out[j]
			}
		}
		rows = rows[n*d:]
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: n, Cols: d, Stride: d, Data: piece}, 1, c)
	}
	second := make([][]float64, d)
	for i := range second {
		second[i] = c.Data[i*d : (i+1)*d]
	}
	return sum, second
}

// panel is one centred column of some rows.
type panel [72]float64

// panelCovariance takes panels of rows, stored by column, through loops over tiles of three columns
// by two.
func panelCovariance(t table) ([]float64, [][]float64) {
	d, center := t.d, t.flat[:t.d]
	sum, x := make([]float64, d), make([]panel, d+2) // zeros beyond d
	tiles := make([][][6]float64, (d+2)/3)
	for i := range tiles {
		tiles[i] = make([][6]float64, (d-3*i+1)/2)
	}
	for rows := t.flat; len(rows) > 0; {
		n := min(len(x[0]), len(rows)/d)
		loadPanel(x[:d], sum, rows[:n*d], center)
		rows = rows[n*d:]
		for i, row := range tiles {
			for k := range row {
				addTile(&row[k], x[3*i:], x[3*i+2*k:])
			}
		}
	}
	second := make([][]float64, d)
	for i := range second {
		second[i] = make([]float64, d)
	}
	for i, row := range tiles {
		for k, tile := range row {
			for l, v := range tile {
				if a, b := 3*i+l/2, 3*i+2*k+l%2; a <= b && b < d {
					second[a][b] = v
				}
			}
		}
	}
	return sum, second
}

// loadPanel stores rows less center by column, four rows at a time, and zeros after the last, and
// adds them to sum.
func loadPanel(x []panel, sum, rows, center []float64) {
	d := len(x)
	sum = sum[:len(center)]
	r := 0
	for ; len(rows) >= 4*d; rows, r = rows[4*d:], r+4 {
		a, b, c, e := rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d]
		for j, m := range center {
			out := (*[4]float64)(x[j][r : r+4])
			p, q, s, t := a[j]-m, b[j]-m, c[j]-m, e[j]-m
			out[0], out[1], out[2], out[3] = p, q, s, t
			sum[j] += (p + q) + (s + t)
		}
	}
	for ; len(rows) >= d; rows, r = rows[d:], r+1 {
		for j, m := range center {
			x[j][r] = rows[j] - m
			sum[j] += x[j][r]
		}
	}
	for j := range x {
		clear(x[j][r:])
	}
}

// addTile adds the products of columns 0, 1 and 2 of x with columns 0 and 1 of y.
func addTile(s *[6]float64, x, y []panel) {
	x, y = x[:3], y[:2]
	a, b, c, u, v := &x[0], &x[1], &x[2], &y[0], &y[1]
	var s0, s1, s2, s3, s4, s5 float64
	_, _, _, _, _ = a[0], b[0], c[0], u[0], v[0] // checks for nil leave the loop
	for r := range a {
		x, y := u[r], v[r]
		p := a[r]
		s0 += p * x
		s1 += p * y
		p = b[r]
		s2 += p * x
		s3 += p * y
		p = c[r]
		s4 += p * x
		s5 += p * y
	}
	s[0] += s0
	s[1] += s1
	s[2] += s2
	s[3] += s3
	s[4] += s4
	s[5] += s5
}

// TestYardsticks: all ways to write the yardstick compute the same, for widths and lengths that
// fill no tile and no panel.
func TestYardsticks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, d := range []int{1, 2, 3, 4, 5, 6, 10} {
		for _, n := range []int{1, 3, 72, 1100} {
			rows := table{d: d, flat: make([]float64, n*d)}
			for i := range rows.flat {
				rows.flat[i] = rng.NormFloat64()
			}
			wantSum, want := yardsticks[0].pass(rows)
			for _, p := range yardsticks[1:] {
				sum, second := p.pass(rows)
				for i := range d {
					worst := math.Abs(sum[i] - wantSum[i])
					for j := i; j < d; j++ {
						worst = max(worst, math.Abs(second[i][j]-want[i][j]))
					}
					if !(worst < 1e-8) {
						t.Fatalf("%s, d = %d, n = %d: column %d is off by %v", p.name, d, n, i, worst)
					}
				}
			}
		}
	}
}
