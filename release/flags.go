package release

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gauze-dp/gauze/model/flags"
)

// flags checks that flags have a code of the list, a text, shares and noise in their ranges, and
// columns among the given ones, which are nil if not known.
func (v *verifier) flags(field string, of []Flag, columns []string) {
	for i, f := range of {
		field := fmt.Sprintf("%s[%d].", field, i)
		v.fault(!f.Code.Known(), field+"code", fmt.Sprintf("one of %v", flags.Codes()), strconv.Quote(string(f.Code)))
		v.fault(f.Text == "", field+"text", "a sentence", "none")
		v.amount(field+"share", f.Share, 1)
		v.amount(field+"noise", f.Noise, math.MaxFloat64)
		for _, name := range f.Columns {
			v.fault(columns != nil && !slices.Contains(columns, name), field+"columns", fmt.Sprintf("columns of the model, %q", columns), strconv.Quote(name))
		}
	}
}
