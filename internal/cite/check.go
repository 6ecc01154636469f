package cite

import "fmt"

// Sources are the keys of the sources that this project restates: each has a page in papers/, and
// may have no tag yet.
var Sources = []string{"KSSU19", "AAL21", "AMN24", "PPE", "TALK", "KMSSU22", "KM21", "KSU20", "BDKU20", "KV18"}

// Check returns what does not fit between citations and references: a key that is not a reference,
// and a reference that is neither cited nor one of [Sources].
func Check(c Citations, refs []Reference) []error {
	var faults []error
	known, used := map[string]bool{}, map[string]bool{}
	for _, r := range refs {
		known[r.Key] = true
	}
	for key, places := range c.Mentions {
		used[key] = true
		if !known[key] {
			faults = append(faults, fmt.Errorf("%s: the key [%s] is not in papers/refs.bib", places[0], key))
		}
	}
	for _, t := range c.Tags {
		used[t.Key] = true
		if !known[t.Key] {
			faults = append(faults, fmt.Errorf("%s: %s: the key [%s] is not in papers/refs.bib", t.File, t.Symbol, t.Key))
		}
	}
	for _, key := range Sources {
		used[key] = true
		if !known[key] {
			faults = append(faults, fmt.Errorf("papers/refs.bib: wanted an entry %s", key))
		}
	}
	for _, r := range refs {
		if !used[r.Key] {
			faults = append(faults, fmt.Errorf("papers/refs.bib: nothing cites %s: remove the entry, or tag what it is the source of", r.Key))
		}
	}
	return faults
}
