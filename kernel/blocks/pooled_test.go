package blocks_test

import (
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/blocks/pooled"
)

func init() { blocks.Cut = pooled.Cut }
