package gauze

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// A moved row: the rows of two groups, on two neighbouring tables of which the first has the far
// row in the first group, and the second has it in the second, or nowhere.
type movedRow struct {
	relation privacy.Relation
	groups   [2][2][][]float64 // by table and by group
}

func moved(r privacy.Relation, seed uint64) (m movedRow) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m.relation = r
	for g := range 2 {
		var rows [][]float64
		for range 600 {
			rows = append(rows, []float64{rng.NormFloat64()})
		}
		with := append(rows[:len(rows):len(rows)], []float64{1e6})
		m.groups[0][g], m.groups[1][g] = rows, rows
		if g == 0 {
			m.groups[0][g] = with
		} else if r == privacy.ReplaceOne {
			m.groups[1][g] = with
		}
	}
	return m
}

// fit fits the groups of one of the tables: as FitGroups does, or with the fault that every group
// has the whole budget. What is heard of each group is in the scripts.
func (m movedRow) fit(t *testing.T, table int, scripts [2]*kerneltest.Script, b privacy.Budget, faulty bool) release.Certificate {
	t.Helper()
	g := Groups{by: []string{"side"}, names: [][]string{{"a"}, {"b"}}, rows: 1201}
	for i, script := range scripts {
		g.tables = append(g.tables, kerneltest.Observed(m.groups[table][i], 1, privacy.AddRemoveOne, script))
	}
	r := Request{Relation: m.relation, Budget: b, Method: "gaussian", Components: 1, Columns: Named("x"), Force: true}
	if faulty {
		r.Relation = privacy.AddRemoveOne // whose groups each have the whole
	}
	result, err := FitGroups(t.Context(), g, r)
	if err != nil {
		t.Fatal(err)
	}
	return result.Certificate
}

// attack fits one of the tables with real noise, and replays the answers on both. The loss is the
// sum of the squares of what the exact answers differ by, in standard deviations of the noise, and
// the score is the log-likelihood ratio of the two tables.
func (m movedRow) attack(t *testing.T, table int, seed uint64, b privacy.Budget, faulty bool) (score, loss float64) {
	t.Helper()
	own := [2]*kerneltest.Script{{}, {}}
	certificate := m.fit(t, table, own, b, faulty)
	var again [2][2]*kerneltest.Script
	for i := range again {
		for g := range 2 {
			again[i][g] = &kerneltest.Script{Replayed: true, Answers: own[g].Heard, Seed: seed}
		}
		m.fit(t, i, again[i], b, faulty)
	}
	var at [2]int
	for _, line := range certificate.Plan {
		for range line.Count {
			g := line.Group - 1
			k := at[g]
			at[g]++
			if again[0][g].Beyond || again[1][g].Beyond || len(again[0][g].Heard) != len(own[g].Heard) || len(again[1][g].Heard) != len(own[g].Heard) {
				t.Fatal("the same answers led to other measurements")
			}
			h, first, second := own[g].Heard[k], again[0][g].Heard[k].Exact, again[1][g].Heard[k].Exact
			q := h.Query.(interface {
				Weight(int) float64
				Unit() float64
			})
			for i, y := range h.Values {
				sigma := line.Noise / q.Unit() * q.Weight(i)
				apart := float64(first[i]-second[i]) / sigma
				score += ((y/q.Unit() - float64(second[i])) / sigma * apart) - apart*apart/2
				loss += apart * apart
			}
		}
	}
	return score, loss
}

// TestGroupsAudit: a row that changes its group, or comes to one, is told from what all groups
// release no more easily than the certificate of all of them says: the loss on every path is within
// (epsilon, delta), and so is the bound that right guesses prove. With the whole budget for every
// group under replace-one, which forgets that a row is in two, a path loses more.
//
// False-alarm rate: 1e-8 for each of the two.
func TestGroupsAudit(t *testing.T) {
	runs := 6
	if os.Getenv("GAUZE_LONG") != "" {
		runs = 3000
	}
	b := privacy.Budget{Epsilon: 3, Delta: .01}
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, c := range []struct {
		relation privacy.Relation
		faulty   bool
	}{{privacy.ReplaceOne, false}, {privacy.AddRemoveOne, false}, {privacy.ReplaceOne, true}} {
		m, right, most := moved(c.relation, seed), 0, 0.
		for range runs {
			table := rng.IntN(2)
			score, loss := m.attack(t, table, rng.Uint64(), b, c.faulty)
			if (score > 0) == (table == 0) {
				right++
			}
			most = max(most, loss)
		}
		low, _ := stattest.ProportionBounds(t, right, runs, 2e-8)
		// guesses of what is mu-GDP are right with probability Phi(mu/2) at most
		proved := 2 * math.Sqrt2 * math.Erfinv(max(0, 2*low-1))
		t.Logf("%v, faulty %v: %d of %d right, mu >= %.3f; the largest loss is that of mu %.3f", c.relation, c.faulty, right, runs, proved, math.Sqrt(most))
		if over := privacy.DeltaOfMu(b.Epsilon, math.Sqrt(most)) > b.Delta*(1+1e-9); over != c.faulty {
			t.Errorf("%v, faulty %v: a path loses mu %v, delta %v at epsilon %v", c.relation, c.faulty, math.Sqrt(most), privacy.DeltaOfMu(b.Epsilon, math.Sqrt(most)), b.Epsilon)
		}
		if over := privacy.DeltaOfMu(b.Epsilon, proved) > b.Delta; over && !c.faulty || !over && c.faulty && runs >= 3000 {
			t.Errorf("%v, faulty %v: a mu of %v is proved", c.relation, c.faulty, proved)
		}
	}
}
