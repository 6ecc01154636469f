package blocks

import "github.com/gauze-dp/gauze/kernel/internal/core"

// Cut is that of the package pooled, which imports this one.
var Cut func(a *core.Allotment, b Blocks) (*core.Allotment, error)
