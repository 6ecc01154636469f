package main

import (
	"fmt"
	"io"
	"runtime"
)

// writeBeside writes what fits of separated components take beside scikit-learn.
func writeBeside(w io.Writer, s settings, r *results, sklearn bool) {
	fmt.Fprintf(w, "## n = %d, d = %d, k = %d\n\nMedians of %d rounds on %d cores; ε = %g, δ = %g, replace-one, C = %g. The method's time and what it "+
		"measures differ between fits of one table: noise decides where it looks again.\n\n",
		s.n, s.d, s.k, s.rounds, runtime.GOMAXPROCS(0), s.budget.Epsilon, s.budget.Delta, s.separation)
	head, line := "| program | scans | CPU s | least, most | wall s | fastest wall s |", "|---|---|---|---|---|---|"
	names := append([]string{"plain"}, fits...)
	if sklearn {
		head, line, names = head+" CPU / scikit-learn |", line+"---|", append(names, "sklearn")
	}
	fmt.Fprintf(w, "%s\n%s\n", head, line)
	for _, name := range names {
		scans := "1"
		if n, ok := r.scans[name]; ok {
			scans = fmt.Sprint(n)
		} else if name == "sklearn" {
			scans = ""
		}
		low, high := r.extremes(name)
		fmt.Fprintf(w, "| %s | %s | %.2f | %.2f, %.2f | %.2f | %.2f |", name, scans, r.median(name, cpu), low, high, r.median(name, wall), r.fastest(name))
		if sklearn {
			fmt.Fprintf(w, " %.3f |", r.ratio(name, "sklearn", cpu))
		}
		fmt.Fprintln(w)
	}
}

// write writes all figures as Markdown.
func write(w io.Writer, s settings, r *results, sklearn bool, peaks []peak) {
	fmt.Fprintf(w, "# What a fit costs\n\nMade by `go run ./experiments/speed` on %d cores: a table of n = %d rows, d = %d columns, "+
		"a mixture of %d; ε = %g, δ = %g, replace-one. Medians of %d rounds in which all programs take turns; CPU is user and system time.\n\n",
		runtime.GOMAXPROCS(0), s.n, s.d, s.k, s.budget.Epsilon, s.budget.Delta, s.rounds)
	fmt.Fprintf(w, "Programs: `plain` is one plain float64 covariance pass over the rows, in the same program; `gaussian` a Gaussian fit; "+
		"`mixture` a mixture of %d; `auto` a mixture of a number of components that the fit finds.\n\n", s.k)
	fmt.Fprint(w, "| program | scans | CPU s | CPU s, one core | wall s | wall s, one core | speed-up | CPU / (scans × plain), one core |\n|---|---|---|---|---|---|---|---|\n")
	for _, name := range append([]string{"plain"}, fits...) {
		scans := max(1, r.scans[name])
		fmt.Fprintf(w, "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.2f | %.2f |\n", name, scans, r.median(name, cpu), r.median("1 "+name, cpu),
			r.median(name, wall), r.median("1 "+name, wall), r.fastest("1 "+name)/r.fastest(name), r.ratio("1 "+name, "1 plain", cpu)/float64(scans))
	}
	fmt.Fprintf(w, "\nA scan is a measurement; each reads every row once. The speed-up is the wall time of the fastest round on one core over that on %d: a wall clock counts what else the machine does.\n", runtime.GOMAXPROCS(0))
	if sklearn {
		fmt.Fprintf(w, "\nTen iterations of scikit-learn's `GaussianMixture` (full, %d components, same rows, cheapest start): %.2f s CPU, %.2f s wall. "+
			"`mixture` takes %.2f of its CPU, `auto` %.2f.\n", s.k, r.median("sklearn", cpu), r.median("sklearn", wall),
			r.ratio("mixture", "sklearn", cpu), r.ratio("auto", "sklearn", cpu))
	}
	if peaks == nil {
		return
	}
	size := 8 * float64(s.n) * float64(s.d)
	fmt.Fprintf(w, "\n## Memory\n\nThe whole command `gauze fit` on a CSV file of such a table, which is %.0f MB as float64.\n\n"+
		"| fit | peak MB (largest of %d runs) | of the table | CPU s | wall s |\n|---|---|---|---|---|\n", size/1e6, s.rounds)
	for _, name := range fits {
		most := 0.0
		var cpus, walls []float64
		for _, p := range peaks {
			if p.what == name {
				most = max(most, p.bytes)
				cpus, walls = append(cpus, p.cost.cpu), append(walls, p.cost.wall)
			}
		}
		fmt.Fprintf(w, "| %s | %.0f | %.2f | %.2f | %.2f |\n", name, most/1e6, most/size, median(cpus), median(walls))
	}
}
