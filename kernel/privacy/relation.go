package privacy

import "fmt"

// Relation says which two data sets are neighbours, that is, what one person may change. The zero
// value is invalid: a relation is chosen, never assumed.
type Relation int

const (
	// ReplaceOne : the data sets differ in the values of one row; the number of rows n is public.
	ReplaceOne Relation = 1 + iota
	// AddRemoveOne : one data set has one row more; n is private.
	AddRemoveOne
)

var relationWords = map[Relation]string{ReplaceOne: "replace-one", AddRemoveOne: "add-remove-one"}

// Valid reports whether r is one of the two relations.
func (r Relation) Valid() bool { return relationWords[r] != "" }

// String returns "replace-one" or "add-remove-one", the words that [ParseRelation] reads.
func (r Relation) String() string {
	if !r.Valid() {
		return fmt.Sprintf("Relation(%d)", int(r))
	}
	return relationWords[r]
}

// ParseRelation reads "replace-one" or "add-remove-one" and nothing else.
func ParseRelation(s string) (Relation, error) {
	for r, word := range relationWords {
		if s == word {
			return r, nil
		}
	}
	return 0, &FieldError{"relation", "replace-one or add-remove-one", fmt.Sprintf("%q", s),
		"replace-one keeps the number of rows public, add-remove-one hides it"}
}

// MarshalText is String; an invalid relation is an error.
func (r Relation) MarshalText() ([]byte, error) {
	_, err := ParseRelation(r.String())
	return []byte(r.String()), err
}

// UnmarshalText is [ParseRelation].
func (r *Relation) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRelation(string(text))
	return err
}
