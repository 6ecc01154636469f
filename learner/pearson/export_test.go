package pearson

import "github.com/gauze-dp/gauze/learner"

func raw(rows [][]float64, m []learner.Component) (table, []gauss) {
	t := table{len(rows), len(rows[0]), nil}
	for _, r := range rows {
		t.x = append(t.x, r...)
	}
	var out []gauss
	for _, c := range m {
		out = append(out, gauss{c.Weight, c.Mean, triangular(c.Root)})
	}
	return t, out
}

// Value is the rows' mean log-density, less its constant.
func Value(rows [][]float64, m []learner.Component) float64 {
	t, g := raw(rows, m)
	return likelihood(t, g)
}

// FromTruth is the most likely mixture near a start, without a prior.
func FromTruth(rows [][]float64, m []learner.Component) []learner.Component {
	t, g := raw(rows, m)
	g, _ = climb(t, g, 60, prior{})
	f := frame{make([]float64, t.d), make([]float64, t.d*t.d)}
	for i := range t.d {
		f.mixed[i*t.d+i] = 1
	}
	return f.components(g)
}
