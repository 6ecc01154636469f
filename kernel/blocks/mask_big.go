package blocks

import "math/big"

// A matrix holds its rows. All numbers are big.Floats of maskBits, rounded to nearest; no function
// changes its arguments.
type matrix [][]*big.Float

const (
	maskBits = 1024
	// enough for two float64, and products of a few, to add up without rounding, whatever their
	// exponents
	placeBits   = 4096
	roundedBits = 40
)

func blank() *big.Float { return new(big.Float).SetPrec(maskBits) }

func exact(x float64) *big.Float { return blank().SetFloat64(x) }

// scaled returns eta times a draw, exactly, for draws of up to 900 digits.
func scaled(eta float64, z func() *big.Float) *big.Float {
	x := exact(eta)
	return x.Mul(x, z())
}

func zeros(rows, columns int) matrix {
	m := make(matrix, rows)
	for i := range m {
		m[i] = make([]*big.Float, columns)
		for j := range m[i] {
			m[i][j] = blank()
		}
	}
	return m
}

// entries returns the square matrix with the row-major entries a.
func entries(a []float64, n int) matrix {
	m := zeros(n, n)
	for i, x := range a {
		m[i/n][i%n].SetFloat64(x)
	}
	return m
}

// scattered returns (I + eta G)', without rounding: its rows, the columns, are drawn one after
// another.
func scattered(n int, eta float64, z func() *big.Float) matrix {
	m := zeros(n, n)
	for i, row := range m {
		row[i].SetInt64(1)
		for _, x := range row {
			x.Add(x, scaled(eta, z))
		}
	}
	return m
}

// bigDot returns the inner product of a with the beginning of b.
func bigDot(a, b []*big.Float) *big.Float {
	sum, term := blank(), blank()
	for i, x := range a {
		sum.Add(sum, term.Mul(x, b[i]))
	}
	return sum
}

// times returns a b'.
func times(a, b matrix) matrix {
	m := zeros(len(a), len(b))
	for i := range a {
		for j := range b {
			m[i][j] = bigDot(a[i], b[j])
		}
	}
	return m
}

// lower returns the lower triangular root of s (Cholesky), of which it reads the lower triangle.
// Where a pivot is not positive, its column is zero.
func lower(s matrix) matrix {
	l := zeros(len(s), len(s))
	for i := range s {
		for j := 0; j <= i; j++ {
			left := blank().Sub(s[i][j], bigDot(l[i][:j], l[j]))
			switch {
			case i == j && left.Sign() > 0:
				l[i][i].Sqrt(left)
			case i > j && l[j][j].Sign() > 0:
				l[i][j].Quo(left, l[j][j])
			}
		}
	}
	return l
}

// rounded returns the component of weight w, mean place + shift (a column) and covariance root
// root', rounded as Masked says.
func rounded(w *big.Float, place []float64, shift, root matrix) Component {
	d := len(place)
	c := Component{Weight: cut(w, w.MantExp(nil)-roundedBits), Mean: make([]float64, d), Root: make([]float64, d*d)}
	for i, row := range lower(times(root, root)) {
		unit := row[i].MantExp(nil) - roundedBits
		mean := new(big.Float).SetPrec(placeBits).SetFloat64(place[i])
		c.Mean[i] = cut(mean.Add(mean, shift[i][0]), unit)
		for j, x := range row[:i+1] {
			c.Root[i*d+j] = cut(x, unit)
		}
	}
	return c
}

// cut returns the float64 nearest to x cut towards zero to a multiple of 2^unit.
func cut(x *big.Float, unit int) float64 {
	n, _ := new(big.Float).SetMantExp(x, -unit).Int(nil)
	y := new(big.Float).SetInt(n)
	f, _ := y.SetMantExp(y, unit).Float64()
	return f
}
