package blocks

import (
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// Select is that of the package pure, which imports this one.
var Select func(a *core.SubBudget, step string, q papers.Selection, epsilon float64) ([]int, error)
