package harness

import "regexp"

// Reasons is an empty table of why runs ended without a model; AddReasons fills it.
func Reasons() Table {
	return Table{Head: []string{"cell", "method", "n", "runs", "no model because"}}
}

// AddReasons adds a line for every reason of a series' runs, by their number of rows, with how many
// runs ended so. What matches number is a released number, which differs between runs, and is
// written as instead.
func (t *Table) AddReasons(cell, method string, s *Series, number *regexp.Regexp, instead string) {
	for _, n := range s.Rows() {
		count := map[string]int{}
		var order []string
		for _, run := range s.Runs[n] {
			if run.Why == "" {
				continue
			}
			why := number.ReplaceAllString(run.Why, instead)
			if count[why] == 0 {
				order = append(order, why)
			}
			count[why]++
		}
		for _, why := range order {
			t.Add(cell, method, Rows(n), count[why], why)
		}
	}
}
