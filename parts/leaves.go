package parts

import (
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// AskLeaves asks one query of the rows of each leaf, at the price of one, and returns their
// answers.
//
// Source: [KSSU19] Section A.3 of the restatement.
func AskLeaves[Q query.Sum](a *kernel.SubBudget, step string, p query.Partition, queries []Q, mu float64) ([]kernel.Answer, error) {
	parts := query.Parts{Partition: p}
	for _, q := range queries {
		parts.Queries = append(parts.Queries, q)
	}
	ans, err := a.Sum(step, parts, mu)
	if err != nil {
		return nil, err
	}
	values, sigmas := parts.Split(ans.Values, ans.Sigma)
	out := make([]kernel.Answer, len(values))
	for i := range values {
		out[i] = kernel.Answer{Values: values[i], Sigma: sigmas[i]}
	}
	return out, nil
}
