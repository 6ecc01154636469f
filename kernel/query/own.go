package query

import (
	"fmt"
	"reflect"
)

// Own returns a deep copy of q. It returns an error unless q's type is one of this package's own
// structs, and so are the queries of Parts and Pairs and the scores of a Selection.
//
// This closes the interfaces Sum, PairSum and Score. Their methods receive raw rows and state their
// own sensitivity, so a type that implements them elsewhere, or one that embeds a query of this
// package and overrides a method, could keep the rows or understate the noise. The copy is
// validated, priced and run: changing a slice of q afterwards changes nothing.
func Own[Q any](q Q) (own Q, err error) {
	return CopyOf(q, reflect.TypeFor[Count]().PkgPath(), func(got any, inside bool) error {
		if inside {
			return fmt.Errorf("query: in Parts, Pairs and Selection: want structs of package query, by value, and none inside another, got a %T", got)
		}
		return fmt.Errorf("query: want one of the structs of package query, by value, got a %T", got)
	})
}
