package mixture

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/query"
	"gonum.org/v1/gonum/mat"
)

// A space is an affine change of columns: working coordinate l is (x[columns[l]] - center[l]) / scale[l].
type space struct {
	columns       []int
	center, scale []float64
}

func (s space) dim() int { return len(s.columns) }

// frame turns a map z = w (y - mean) of working coordinates into a map of rows.
func (s space) frame(mean []float64, w *mat.Dense) query.Affine {
	r, d := w.Dims()
	a := query.Affine{Columns: s.columns, Center: make([]float64, d), W: make([][]float64, r)}
	for l := range d {
		a.Center[l] = s.center[l] + s.scale[l]*mean[l]
	}
	for i := range r {
		a.W[i] = make([]float64, d)
		for l := range d {
			a.W[i][l] = w.At(i, l) / s.scale[l]
		}
	}
	return a
}

// gauss is one component in working coordinates.
type gauss struct {
	w    float64
	mean []float64
	cov  *mat.SymDense
	// rows is the released count behind it; sigma the noise of an entry of its second moment divided by rows.
	rows, sigma float64
	doubt       doubt
}

// mostJitter bounds what factor adds to a diagonal, relative to its entries.
const mostJitter = 1.0

// factor returns L with cov = L L^T, adding to the diagonal until the factorisation succeeds, L^-1 and log det cov. Where adding
// mostJitter is not enough, as for entries that are not numbers, it takes the diagonal alone, with 1 for what is not positive: so it
// ends on any matrix.
func factor(cov *mat.SymDense) (l, inv *mat.Dense, logDet float64) {
	d := cov.SymmetricDim()
	s := mat.NewSymDense(d, nil)
	s.CopySym(cov)
	var ch mat.Cholesky
	for jitter := 0.0; !(ch.Factorize(s) && finite(ch.LogDet())); jitter = math.Max(1e-12, 10*jitter) {
		if jitter > mostJitter {
			s = positiveDiagonal(cov)
			continue
		}
		for i := range d {
			s.SetSym(i, i, cov.At(i, i)+jitter*(1+math.Abs(cov.At(i, i))))
		}
	}
	var t, ti mat.TriDense
	ch.LTo(&t)
	_ = ti.InverseTri(&t)
	l, inv = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for i := range d {
		for j := 0; j <= i; j++ {
			l.Set(i, j, t.At(i, j))
			inv.Set(i, j, ti.At(i, j))
		}
	}
	return l, inv, ch.LogDet()
}

func finite(v float64) bool { return v-v == 0 }

// positiveDiagonal is the diagonal of cov, with 1 in place of entries that are not positive numbers.
func positiveDiagonal(cov *mat.SymDense) *mat.SymDense {
	s := identity(cov.SymmetricDim())
	for i := range s.SymmetricDim() {
		if v := cov.At(i, i); v > 0 && !math.IsInf(v, 1) {
			s.SetSym(i, i, v)
		}
	}
	return s
}

// congruence returns a s a^T.
func congruence(a *mat.Dense, s mat.Symmetric) *mat.SymDense {
	var t, u mat.Dense
	t.Mul(a, s)
	u.Mul(&t, a.T())
	return symmetrise(&u)
}

func symmetrise(m *mat.Dense) *mat.SymDense {
	d, _ := m.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

// floored returns s with eigenvalues below low raised to low and above high cut to high; the identity if s has no eigenvalues.
func floored(s *mat.SymDense, low, high float64) *mat.SymDense {
	var e mat.EigenSym
	d := s.SymmetricDim()
	if !finite(frobenius2(s)) || !e.Factorize(s, true) { // Factorize panics on what is not a number
		return identity(d)
	}
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	diag := mat.NewSymDense(d, nil)
	for i, x := range values {
		diag.SetSym(i, i, math.Min(math.Max(x, low), high))
	}
	return congruence(&v, diag)
}

func identity(d int) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for i := range d {
		s.SetSym(i, i, 1)
	}
	return s
}

func trace(s *mat.SymDense) float64 {
	t := 0.0
	for i := range s.SymmetricDim() {
		t += s.At(i, i)
	}
	return t
}

// frobenius2 is the squared Frobenius norm.
func frobenius2(s *mat.SymDense) float64 {
	t := 0.0
	d := s.SymmetricDim()
	for i := range d {
		for j := range d {
			t += s.At(i, j) * s.At(i, j)
		}
	}
	return t
}
