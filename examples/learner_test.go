package examples_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
)

// kMeans is a learner without privacy: nearest centres, then weight, mean and covariance of each
// group.
type kMeans struct{ rounds int }

func (m kMeans) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	var out []learner.Component
	for _, group := range m.groups(rows, k) {
		mean, root, ok := moments(group)
		if !ok {
			return nil, errors.New("a group has too few rows")
		}
		out = append(out, learner.Component{Weight: float64(len(group)) / float64(len(rows)), Mean: mean, Root: root})
	}
	return out, nil
}

func fit(ctx context.Context, table *kernel.Table) (*gauze.Result, error) {
	return gauze.Fit(ctx, table, gauze.Request{
		Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Columns: gauze.Named("x", "y"),
		Method: "black-box", Components: 2, Own: kMeans{rounds: 20},
	})
}

// groups splits the rows by the nearest of k centres. The centres start at rows far from each
// other: a function of the rows alone.
func (m kMeans) groups(rows [][]float64, k int) [][][]float64 {
	if len(rows) < k {
		return make([][][]float64, k)
	}
	centres := [][]float64{rows[0]}
	for len(centres) < k {
		far, most := 0, -1.0
		for i, x := range rows {
			if _, d := nearest(x, centres); d > most {
				far, most = i, d
			}
		}
		centres = append(centres, rows[far])
	}
	var groups [][][]float64
	for range m.rounds {
		groups = make([][][]float64, k)
		for _, x := range rows {
			j, _ := nearest(x, centres)
			groups[j] = append(groups[j], x)
		}
		for j, group := range groups {
			if mean, _, ok := moments(group); ok {
				centres[j] = mean
			}
		}
	}
	return groups
}

// nearest is the centre nearest to x, and the square of its distance.
func nearest(x []float64, centres [][]float64) (at int, least float64) {
	least = math.Inf(1)
	for j, c := range centres {
		sum := 0.0
		for i := range x {
			sum += (x[i] - c[i]) * (x[i] - c[i])
		}
		if sum < least {
			at, least = j, sum
		}
	}
	return at, least
}

// moments are the mean of some rows and the Cholesky factor of their covariance; ok is false if
// that is singular.
func moments(rows [][]float64) (mean []float64, root [][]float64, ok bool) {
	if len(rows) == 0 {
		return nil, nil, false
	}
	n, d := float64(len(rows)), len(rows[0])
	mean = make([]float64, d)
	for _, x := range rows {
		for i := range x {
			mean[i] += x[i] / n
		}
	}
	root = make([][]float64, d)
	for i := range root {
		root[i] = make([]float64, d)
		for j := range i + 1 {
			for _, x := range rows {
				root[i][j] += (x[i] - mean[i]) * (x[j] - mean[j]) / n
			}
			for l := range j {
				root[i][j] -= root[i][l] * root[j][l]
			}
			if i == j {
				root[i][i] = math.Sqrt(root[i][i])
			} else {
				root[i][j] /= root[j][j]
			}
		}
		if !(root[i][i] > 0) {
			return nil, nil, false
		}
	}
	return mean, root, true
}

// twoGroups is a table of n rows about (0, 0) and (20, 0).
func twoGroups(n int) *kernel.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	b := kernel.NewBuilder(2)
	for range n {
		b.Append([]float64{float64(20*rng.IntN(2)) + rng.NormFloat64(), 3 * rng.NormFloat64()})
	}
	return b.Protect(privacy.ReplaceOne)
}

// A learner of one's own goes into the field Own of a request; the certificate says that it was
// one.
func Example_ownLearner() {
	result, err := fit(context.Background(), twoGroups(60000))
	if err != nil {
		fmt.Println(err)
		return
	}
	if result.NoRelease != nil {
		fmt.Println(result.NoRelease.Reason)
		return
	}
	fmt.Println(result.Release.Model.K(), "components, learner:", result.Release.Certificate.Learner.Name)
	// Output: 2 components, learner: own
}

// The page on learners shows code that compiles: every line of its first block stands in this file.
func TestLearnersPage(t *testing.T) {
	page, err := os.ReadFile("../docs/LEARNERS.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("learner_test.go")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(string(page))
	if block == nil {
		t.Fatal("the page shows no code")
	}
	if lines := strings.Count(block[1], "\n"); lines > 22 {
		t.Errorf("the page shows %d lines, about twenty are wanted", lines)
	}
	for part := range strings.SplitSeq(block[1], "\n\n") {
		if !strings.Contains(string(here), strings.TrimSpace(part)) {
			t.Errorf("the page shows code that does not stand in learner_test.go:\n%s", part)
		}
	}
}
