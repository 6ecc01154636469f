package query

import (
	"errors"
	"net/url"
	"reflect"
	"testing"
	"time"
)

type (
	plain          struct{ A float64 }
	nested         struct{ B [2]plain }
	shape          interface{ is() }
	holder         struct{ In []shape }
	lists          struct{ V [][]float64 }
	secret         struct{ v []float64 }
	secrets        struct{ v int }
	generic[T any] struct{ V T }
	bounded        struct{ Below []bounded }
)

func (plain) is()  {}
func (holder) is() {}

func (b bounded) Bounded() error {
	if len(b.Below) > 0 {
		return errors.New("too deep")
	}
	return nil
}

// mixed has strings and a pointer.
type mixed struct{ url.URL }

// TestCopy: what is taken, what is refused, and whether the fault lies inside.
func TestCopy(t *testing.T) {
	folder := reflect.TypeFor[plain]().PkgPath()
	endless := bounded{Below: make([]bounded, 1)}
	endless.Below[0] = endless
	for name, c := range map[string]struct {
		v    any
		good bool
	}{
		"numbers":              {plain{1}, true},
		"arrays and structs":   {nested{}, true},
		"slices":               {lists{[][]float64{{1}, nil}}, true},
		"held":                 {holder{[]shape{plain{2}, plain{3}}}, true},
		"unexported number":    {secrets{3}, true},
		"nil":                  {nil, false},
		"a number":             {3., false},
		"a pointer":            {&plain{}, false},
		"of another package":   {time.Time{}, false},
		"a string in it":       {mixed{}, false},
		"generic":              {generic[int]{}, false},
		"a function":           {struct{ F func() }{}, false},
		"unexported slice":     {secret{[]float64{1}}, false},
		"nothing held":         {holder{[]shape{nil}}, false},
		"a pointer held":       {holder{[]shape{&plain{}}}, false},
		"held in what is held": {holder{[]shape{holder{[]shape{plain{}}}}}, false},
		"endless":              {endless, false},
	} {
		copied, err := CopyOf(c.v, folder, func(any, bool) error { return errors.New("refused") })
		if (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
		if c.good && !reflect.DeepEqual(copied, c.v) {
			t.Errorf("%s: %v became %v", name, c.v, copied)
		}
	}
	own := lists{[][]float64{{1}}}
	copied, _ := CopyOf(own, folder, nil)
	own.V[0][0] = 2
	if copied.V[0][0] != 1 {
		t.Error("the copy shares memory")
	}
	if _, err := CopyOf(plain{}, folder[:len(folder)-1], func(any, bool) error { return errors.New("") }); err == nil {
		t.Error("a folder whose name is the beginning of ours")
	}
}
