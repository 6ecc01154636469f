package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/release"
)

const (
	// textWidth is the number of cells that a line of Text keeps to, unless one table cell needs
	// more.
	textWidth = 96
	// textRemarks is how much of a component's remarks its line shows; longer ones follow the
	// table.
	textRemarks = textWidth - 53
	// textColumns is how many columns of the model Text shows.
	textColumns = 30
	// textName is how much of a column's name Text shows.
	textName = 20
)

// Text writes a short summary of r for a terminal: weights, mean +- standard deviation of each
// column and component, and what the release cost. It fails as HTML does for a model that is not
// valid, or if w fails.
func Text(w io.Writer, r *release.Release) error {
	if err := check(r); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, heading(r))
	if r.Certificate.Simulated {
		fmt.Fprintln(b, "SIMULATED: the rows or the noise came from a seed. This release protects nobody.")
	}
	fmt.Fprintln(b)
	writeTable(b, weightsTable(r))
	for _, line := range longRemarks(r) {
		fmt.Fprintln(b, line)
	}
	if text := noisyText(r); text != "" {
		fmt.Fprintln(b, "not shown: "+text)
	}
	if text := backgroundText(r); text != "" {
		fmt.Fprintln(b, "background: "+text)
	}
	for _, block := range meansTables(r) {
		fmt.Fprintln(b)
		writeTable(b, block)
	}
	if more := r.Model.Dim() - textColumns; more > 0 {
		fmt.Fprintf(b, "… and %s more\n", plural(more, "column"))
	}
	fmt.Fprintln(b)
	fmt.Fprintln(b, budgetLine(r))
	for _, line := range diagnosticLines(r) {
		fmt.Fprintln(b, line)
	}
	return b.Flush()
}

func heading(r *release.Release) string {
	var said []string
	for _, f := range facts(r) {
		switch f.Name {
		case "model", "relation", "method":
			said = append(said, f.Value)
		case "background", "not described": // below the tables
		case "schema":
			if f.Value == release.SchemaInferred {
				said = append(said, "schema inferred from the cells")
			}
		default:
			said = append(said, f.Name+" = "+f.Value)
		}
	}
	if r.Bare() {
		said[0] = "bare model without a certificate"
	}
	return strings.Join(said, " · ")
}

// weightsTable has one line for each component.
func weightsTable(r *release.Release) [][]string {
	out := [][]string{{"component", "share", "rows", "known to", "misfit", ""}}
	any := false
	for _, c := range componentRows(r) {
		out = append(out, []string{strconv.Itoa(c.Number), c.Weight, c.Rows, c.Known, c.Misfit, shorten(c.remarks(), textRemarks)})
		any = any || c.Misfit != unknown
	}
	for i := range out {
		if !any { // nothing is known of it
			out[i] = slices.Delete(out[i], 4, 5)
		}
	}
	return out
}

// remarks are what is said of the component.
func (c componentRow) remarks() string { return strings.Join(c.Flags, "; ") }

// longRemarks are the remarks that weightsTable has to cut, whole, each with its components.
func longRemarks(r *release.Release) []string {
	said := map[string][]string{}
	var order []string
	for _, c := range componentRows(r) {
		all := c.remarks()
		if cells(all) <= textRemarks {
			continue
		}
		if said[all] == nil {
			order = append(order, all)
		}
		said[all] = append(said[all], strconv.Itoa(c.Number))
	}
	for i, all := range order {
		order[i] = strings.Join(said[all], ", ") + ": " + all
	}
	return order
}

// meansTables has one line for each column, and as many components beside each other as fit.
func meansTables(r *release.Release) [][][]string {
	d, parts := min(r.Model.Dim(), textColumns), partsOf(r)
	grid := make([][]string, d+1) // lines x (name, then components)
	grid[0] = []string{"mean ± sd"}
	for j := range d {
		grid[j+1] = []string{shorten(columnName(r.Model.Columns[j], j), textName)}
	}
	for _, q := range parts {
		grid[0] = append(grid[0], strconv.Itoa(q.index+1))
		for j := range d {
			grid[j+1] = append(grid[j+1], around(q.mean[j], q.sd[j]))
		}
	}
	widths := columnWidths(grid)
	var out [][][]string
	for from := 1; from <= len(parts); {
		to, used := from, widths[0]
		for to <= len(parts) && (to == from || used+2+widths[to] <= textWidth) {
			used += 2 + widths[to]
			to++
		}
		block := make([][]string, len(grid))
		for line := range grid {
			block[line] = append([]string{grid[line][0]}, grid[line][from:to]...)
		}
		out = append(out, block)
		from = to
	}
	return out
}

func columnWidths(table [][]string) []int {
	out := make([]int, len(table[0]))
	for _, line := range table {
		for c, s := range line {
			out[c] = max(out[c], cells(s))
		}
	}
	return out
}

// writeTable aligns the first column and empty headings to the left, the others to the right.
func writeTable(b *bufio.Writer, table [][]string) {
	widths := columnWidths(table)
	for _, line := range table {
		var text strings.Builder
		for c, s := range line {
			if c > 0 {
				text.WriteString("  ")
			}
			text.WriteString(pad(s, widths[c], c > 0 && table[0][c] != ""))
		}
		fmt.Fprintln(b, strings.TrimRight(text.String(), " "))
	}
}

func budgetLine(r *release.Release) string {
	if r.Bare() {
		return "budget: none; nothing is promised about any row"
	}
	c := r.Certificate
	measurements := 0
	for _, s := range c.Plan {
		measurements += s.Count
	}
	asked := fmt.Sprintf("ε = %s of %s, δ = %s of %s", number(c.Spent.Epsilon, 4), number(c.Epsilon, 4), number(c.Spent.Delta, 3), number(c.Delta, 3))
	if c.Epsilon == 0 && c.Rho > 0 {
		asked = fmt.Sprintf("ρ = %s of %s (ε = %s at δ = %s)", number(c.Spent.Rho, 4), number(c.Rho, 4), number(c.Spent.Epsilon, 4), number(c.Spent.Delta, 3))
	}
	mu := "μ = " + number(c.Spent.Mu, 4)
	if c.Spent.Rho == 0 && c.Spent.Mu > 0 {
		mu += " and a Rényi curve"
	}
	return fmt.Sprintf("budget: spent %s; %s; %s in %s", asked, mu, plural(measurements, "measurement"), plural(len(c.Plan), "step"))
}

func diagnosticLines(r *release.Release) []string {
	var out []string
	d := r.Diagnostics
	if len(d.Flags) > 0 {
		out = append(out, "flags: "+strings.Join(cleanAll(d.Flags), "; "))
	}
	if share, where, columns := undescribedText(r); share != "" {
		if where != "" {
			share += ": " + where
		}
		out = append(out, "rows not described: "+share)
		for _, c := range columns {
			out = append(out, "  "+c.Name+": "+c.Share+" "+c.Beyond)
		}
	}
	if len(d.ConstantColumns) > 0 {
		names := cleanAll(d.ConstantColumns)
		for j, name := range names {
			names[j] = shorten(name, nameCells)
		}
		out = append(out, "constant columns: "+strings.Join(names, ", "))
	}
	for _, u := range unresolvedRows(r) {
		out = append(out, "unresolved: along "+u.Direction+" the standard deviation is at most "+u.AtMost)
	}
	for _, s := range cleanAll(d.Notes) {
		out = append(out, "note: "+s)
	}
	return out
}
