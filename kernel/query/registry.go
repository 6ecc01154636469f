package query

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// kinds lists all that can be measured: every kind that a plan or a certificate can name, with its
// type, as the type's folder below kernel and its name. The compiler refuses a kind that stands
// here twice, so whatever a certificate's reader knows of a kind holds for one type.
//
// Whoever adds a line adds the proof, the search over neighbours, the slow twin, and the line of
// release/check: a test of internal/archtest asks for each.
var kinds = map[string]string{
	"count":                       "query.Count",
	Histogram:                     "query.Counts",
	ColumnCounts:                  "query.Counts",
	DistanceCounts:                "query.Counts",
	TailCounts:                    "query.Counts",
	"clipped moments":             "query.ClippedMoments",
	"directions":                  "query.Directions",
	KindCategoryCounts:            "query.CategoryCounts",
	KindCategoryValues:            "query.CategoryValues",
	"log ratio":                   "query.LogRatio",
	"cell counts":                 "query.GridCounts",
	"gaps":                        "query.SpacingMasses",
	"pair octaves":                "query.PairOctaves",
	"pair distances":              "query/papers.PairDistances",
	"pair moments":                "query/papers.PairMoments",
	"pair spread":                 "query/papers.PairSpread",
	"stability histogram":         "query.BoxKeys",
	"gap buckets":                 "query/papers.SpacingBuckets",
	"ball counts":                 "query/papers.BallCounts",
	"good radius":                 "query/papers.GoodRadius",
	"terrific radius":             "query/papers.TerrificRadius",
	"terrific centers":            "query/papers.TerrificCenters",
	"max box count":               "query/papers.MaxBoxCount",
	"multiset overlap":            "query/papers.MultisetOverlap",
	"minimum distance":            "query/papers.MinimumDistance",
	"tournament":                  "query/papers.Tournament",
	"cell deficits":               "query/papers.CellDeficits",
	"line deficits":               "query/papers.LineDeficits",
	"of blocks: stable mean":      "blocks.Stability",
	"of blocks: popular estimate": "pure.Popularity",
	"of blocks: popular number":   "pure.Line",

	"of blocks: popular estimate in its author's space": "pure.StatedSpace",
}

// wrappers are the types that ask other queries: of partial rows, of leaves or of pairs, or as the
// scores of a selection. Their kind is the kind of the inner query, with at most one of these
// before it.
var (
	wrappers = []string{"query.Partial", "query.Parts", "query.Pairs", "query/papers.Selection"}
	before   = []string{Cells.Of(""), Filled.Of(""), Presence.Of(""), "in parts: ", "select: "}
)

// Registry returns copies of the list of kinds with their types, and of the list of wrapping types.
func Registry() (types map[string]string, wrapping []string) {
	return maps.Clone(kinds), slices.Clone(wrappers)
}

// Registered returns nil if the list gives q's kind the type of q, and the same holds for all
// queries inside q; else an error. The core measures nothing else: a type that is not on the list
// could claim the kind and the sensitivity of one that is.
func Registered(q interface{ Kind() string }) error {
	name, kind := nameOf(q), bare(q.Kind())
	var inside []any
	if err := held(reflect.ValueOf(q), &inside); err != nil {
		return err
	}
	if slices.Contains(wrappers, name) && len(inside) > 0 {
		for _, in := range inside {
			asked, ok := in.(interface{ Kind() string })
			if !ok || bare(asked.Kind()) != kind {
				return fmt.Errorf("query: want a %s of queries of the kind %q, got a %T inside", name, kind, in)
			}
			if err := Registered(asked); err != nil {
				return err
			}
		}
		return nil
	}
	if name == "" || kinds[kind] != name || len(inside) > 0 {
		return fmt.Errorf("query: want the one type that is registered for the kind %q (%s), got a %T", q.Kind(), kinds[kind], q)
	}
	return nil
}

// nameOf returns the folder below kernel and the name of a struct type, "" for anything else. A
// name within a package belongs to one type; a test refuses types within functions.
func nameOf(q any) string {
	t := reflect.TypeOf(q)
	if t == nil || t.Kind() != reflect.Struct || strings.Contains(t.Name(), "[") {
		return ""
	}
	folder, ok := strings.CutPrefix(t.PkgPath(), strings.TrimSuffix(reflect.TypeFor[Count]().PkgPath(), "query"))
	if !ok {
		return ""
	}
	return folder + "." + t.Name()
}

// bare returns a kind without the prefixes of wrappers.
func bare(kind string) string {
	for _, b := range before {
		if rest, ok := strings.CutPrefix(kind, b); ok {
			return bare(rest)
		}
	}
	return kind
}

// held appends the values in the interfaces of v to inside, and refuses types that could hide one.
func held(v reflect.Value, inside *[]any) (err error) {
	switch k := v.Kind(); k {
	case reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			err = held(v.Field(i), inside)
		}
	case reflect.Slice, reflect.Array:
		if e := v.Type().Elem().Kind(); e >= reflect.Bool && e <= reflect.Float64 {
			return nil
		}
		for i := 0; i < v.Len() && err == nil; i++ {
			err = held(v.Index(i), inside)
		}
	case reflect.Interface:
		if v.IsNil() || !v.CanInterface() {
			return fmt.Errorf("query: want a query in every interface of a %v, got none", v.Type())
		}
		*inside = append(*inside, v.Interface())
	default:
		if k < reflect.Bool || k > reflect.Float64 {
			return fmt.Errorf("query: want structs of numbers, got a %v", k)
		}
	}
	return err
}
