package privateem

// A Without says which mechanisms of Rounds are left out, to see what each is worth: none of them
// in a fit that people ask for.
type Without struct {
	Merge      bool // Merge
	Indistinct bool // MergeIndistinct
	Apart      bool // components far apart are never joined by these
	Fisher     bool // Fisher's direction among Lines
	OwnAxis    bool // .. and a component's widest axis
	Misfit     bool // components that are not bell-shaped are clipped as such
	Ghosts     bool // MergeTo leaves out light ones whose shapes are noise
	Prune      bool // Count drops what holds no rows
}
