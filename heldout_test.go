package gauze

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// TestHeldOutFollowsPlan: a fit of which a profile holds columns out takes no step but those that
// were planned for all columns, also where fewer columns alone would be fitted in another way: as
// few columns of one spread or of no correlation are, a table with enough rows for several
// components, and one with a deeper tree of counts.
func TestHeldOutFollowsPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct {
		r              Request
		columns, empty int
		rows           int
	}{
		{Request{Method: "gaussian", Components: 1, Covariance: estimate.Spherical}, 5, 1, 4000},
		{Request{Method: "gaussian", Components: 1, Covariance: estimate.Diagonal}, 25, 1, 6000},
		{Request{Method: "heavy-tailed", Components: 1, Covariance: estimate.Diagonal}, 25, 1, 6000},
		{Request{Method: "general"}, 7, 5, 2000},
		{Request{Method: "general", Components: 2}, 5, 4, 30000},
		{Request{Method: "separated", Components: 2}, 6, 4, 8000},
	} {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			t.Run(fmt.Sprint(c.r.Method, c.columns, relation), func(t *testing.T) {
				var text bytes.Buffer
				schema := &source.Schema{Unit: source.NoUnit}
				for j := range c.columns {
					fmt.Fprintf(&text, "%sx%d", strings.Repeat(",", min(j, 1)), j)
					schema.Columns = append(schema.Columns, source.Column{Name: fmt.Sprintf("x%d", j)})
				}
				for range c.rows {
					at := 4 * float64(rng.IntN(2))
					for j := range c.columns {
						text.WriteByte("\n,"[min(j, 1)])
						if j >= c.empty || rng.IntN(100) == 0 {
							fmt.Fprintf(&text, "%g", at+rng.NormFloat64())
						}
					}
				}
				r := c.r
				r.Relation, r.Budget = relation, privacy.Budget{Epsilon: 1, Delta: 1e-6}
				result := fitMixed(t, text.String(), schema, r, nil)
				if result.Release == nil {
					t.Log(result.NoRelease)
					return
				}
				if v := Verify(reread(t, result.Release)); v.Faults != nil || !v.Replanned {
					t.Error(v.Faults)
				}
				if n := len(result.Release.Model.Columns); n != c.columns-c.empty {
					t.Errorf("%d columns in the model", n)
				}
			})
		}
	}
}
