package recursive

// A Without says which mechanisms of a Finder are left out, to see what each is worth: none of them
// in a fit that people ask for.
type Without struct {
	Levels     bool // what lies inside the nodes of the first tree
	Refinement bool // histograms close in on nodes of unknown scale
	Lonely     bool // leaves far from all others that hold few rows are dropped
}
