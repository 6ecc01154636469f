package query

import (
	"fmt"
	"reflect"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Parts asks one query per leaf of a partition, all at once, each of the rows in its leaf alone: by
// parallel composition the cost is that of one leaf.
//
// Answer: the answers of the leaves one after another, in integers (see Split for their units).
//
// Privacy. A row is in at most one leaf, so its vector is that of the leaf's query in the leaf's
// place and zero elsewhere. Validate makes sure that all queries are of one kind and have the same
// sensitivities A (add-or-remove-one) and B (replace-one); after division by the weights:
//   - add-or-remove-one: the vector of one row, of norm at most A;
//   - replace-one, both rows in one leaf, or one of them in none: at most max(A, B);
//   - replace-one, the rows in two leaves, if there are two: the vectors stand in different places,
//     so at most sqrt(A^2 + A^2) = sqrt2 A.
//
// Hence S = A, and max(B, sqrt2 A), or max(B, A) for one leaf. The query of each leaf is public or
// released. Caller must ensure: nothing.
//
// Source: [KSSU19] Section A.3 of the restatement.
type Parts struct {
	Partition Partition
	Queries   []Sum // one per leaf; by value, and never Parts (nest the partition instead)
}

// Kind returns the kind of the queries, with "in parts: " before it.
func (q Parts) Kind() string { return PartsOf(q.first().Kind()) }

// PartsOf returns the kind of Parts whose queries have the given kind.
func PartsOf(kind string) string { return "in parts: " + kind }

func (q Parts) first() Sum {
	if len(q.Queries) == 0 || q.Queries[0] == nil {
		return Count{}
	}
	return q.Queries[0]
}

// Validate returns an error if the partition or the queries cannot be used, or if the queries
// differ in kind or sensitivity.
func (q Parts) Validate(d int) error {
	if err := q.Partition.Validate(d); err != nil {
		return err
	}
	for i, part := range q.Queries {
		if _, nested := part.(Parts); nested {
			return fmt.Errorf("query: Parts.Queries: leaf %d asks Parts: nest the partition instead", i)
		}
	}
	return validateParts("Parts", q.Queries, q.Partition.Leaves(), d, func(p Sum) [2]float64 {
		return [2]float64{p.Sensitivity(privacy.ReplaceOne), p.Sensitivity(privacy.AddRemoveOne)}
	})
}

// Size returns the length of all answers together.
func (q Parts) Size() int { return sizeOf(q.Queries) }

// Sensitivity returns the S of the type's comment, rounded up.
func (q Parts) Sensitivity(r privacy.Relation) float64 {
	a := q.first().Sensitivity(privacy.AddRemoveOne)
	if r == privacy.AddRemoveOne {
		return a
	}
	if len(q.Queries) > 1 {
		// sqrt2 is irrational and ReplaceFactor above it: for queries with B = ReplaceFactor A this
		// is B itself.
		a = privacy.MulUp(ReplaceFactor(r), a)
	}
	return max(a, q.first().Sensitivity(r))
}

// Weight returns the weight of the leaf's query.
func (q Parts) Weight(i int) float64 { return weightOf(q.Queries, i) }

// Unit returns 1: the leaves' units may differ.
func (Parts) Unit() float64 { return 1 }

// Split cuts an answer with noise sigma into the answers of the leaves, each in its query's own
// unit, and returns for each the noise sd of a coordinate of weight 1.
func (q Parts) Split(values []float64, sigma float64) (answers [][]float64, sigmas []float64) {
	return splitParts(q.Queries, values, sigma)
}

// validateParts returns an error unless there is one query per leaf, each fits a table of d
// columns, and all have the same kind and sensitivity.
func validateParts[Q Vector](name string, queries []Q, leaves, d int, sensitivity func(Q) [2]float64) error {
	if len(queries) != leaves {
		return fmt.Errorf("query: %s.Queries: want one query per leaf (%d), got %d", name, leaves, len(queries))
	}
	for i, q := range queries {
		if any(q) == nil {
			return fmt.Errorf("query: %s.Queries: want a query for every leaf, got none for leaf %d", name, i)
		}
		if err := q.Validate(d); err != nil {
			return err
		}
		if reflect.TypeOf(q) != reflect.TypeOf(queries[0]) || q.Kind() != queries[0].Kind() {
			return fmt.Errorf("query: %s.Queries: want one kind of query, got %q and %q", name, queries[0].Kind(), q.Kind())
		}
		if a, b := sensitivity(queries[0]), sensitivity(q); a != b {
			return fmt.Errorf("query: %s.Queries: want equal sensitivities, got %v and %v", name, a, b)
		}
	}
	if size := sizeOf(queries); size > MaxCells {
		return fmt.Errorf("query: %s: want at most %d numbers in one answer, got %d", name, MaxCells, size)
	}
	return nil
}

func sizeOf[Q Vector](queries []Q) (n int) {
	for _, q := range queries {
		n += q.Size()
	}
	return n
}

func weightOf[Q Vector](queries []Q, i int) float64 {
	for _, q := range queries {
		n := q.Size()
		if i < n {
			return q.Weight(i)
		}
		i -= n
	}
	panic("query: Weight: index beyond Size")
}

func splitParts[Q Vector](queries []Q, values []float64, sigma float64) (answers [][]float64, sigmas []float64) {
	for _, q := range queries {
		unit := q.Unit()
		own := make([]float64, q.Size())
		for i := range own {
			own[i] = values[i] * unit
		}
		values = values[len(own):]
		answers, sigmas = append(answers, own), append(sigmas, sigma*unit)
	}
	return answers, sigmas
}

// Cut returns the key under which a table remembers p: nil for one leaf with all good rows, else p.
func (p Partition) Cut() any {
	if reflect.DeepEqual(p.OrWhole(), Partition{}.OrWhole()) {
		return nil
	}
	return p
}

// Cut returns the partition's key and the column, if all queries are histograms of that column
// alone.
func (q Parts) Cut() (cut any, column int, one bool) {
	for i, part := range q.Queries {
		counts, is := part.(Counts)
		_, own, alone := counts.Cut()
		if !is || !alone || i > 0 && own != column {
			return nil, 0, false
		}
		column = own
	}
	return q.Partition.Cut(), column, true
}

// OfSorted returns the answer, given the column's values in order in every leaf.
func (q Parts) OfSorted(sorted [][]float64) (counts []int64) {
	for leaf, part := range q.Queries {
		counts = append(counts, part.(Counts).OfSorted(sorted[leaf:])...)
	}
	return counts
}

// Compile returns the row map.
func (q Parts) Compile(d int) RowMap {
	m := &partsMap{Grouper: q.Partition.Grouper(d)}
	for _, part := range q.Queries {
		m.maps, m.sizes = append(m.maps, part.Compile(d)), append(m.sizes, part.Size())
	}
	return m
}

type partsMap struct {
	*Grouper
	maps  []RowMap
	sizes []int
}

// Add sorts the rows into leaves and maps each leaf's rows by its query.
func (m *partsMap) Add(sum []int64, rows []float64) {
	for j, own := range m.Group(rows) {
		if len(own) > 0 {
			m.maps[j].Add(sum[:m.sizes[j]], own)
		}
		sum = sum[m.sizes[j]:]
	}
}
