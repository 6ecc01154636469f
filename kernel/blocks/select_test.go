package blocks_test

import (
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/pure"
)

func init() { blocks.Select = pure.Select }
