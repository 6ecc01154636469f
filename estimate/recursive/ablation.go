package recursive

// A Without says which mechanisms of a Finder are left out, to see what each is worth: none of them
// in a fit that people ask for.
type Without struct {
	Levels     bool // what lies inside the nodes of the first tree
	Refinement bool // histograms close in on nodes of unknown scale
	Across     bool // single directions, and columns, where trees in several show one node
	Lead       bool // .. of these, the leading direction
	Slices     bool // .. and Fisher's
	Lonely     bool // leaves far from all others that hold few rows are dropped
	Clumps     bool // connected leaves are starts of EM
}
