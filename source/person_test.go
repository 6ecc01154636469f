package source

import (
	"math/big"
	"strings"
	"testing"
)

func TestExactDecimal(t *testing.T) {
	for want, labels := range map[string][]string{
		"7":                {"7", "7.0", "07", "7e0", "+7", "7.", "0.7e1", "70e-1", "7E+00", "+007.000e-0"},
		"-7":               {"-7", "-07.0"},
		"0":                {"0", "-0", "+0.00", "0e5", ".0", "0e99999999999999999999"[:12]},
		"15e-1":            {"1.5", "01.50", "15e-1", ".15e1"},
		"7e2":              {"700", "7e2", "7.00e+2", "7e00000000000000000000002"},
		"9007199254740993": {"9007199254740993", "9007199254740993.0"},
		"9007199254740992": {"9007199254740992"},
		"1e-400":           {"1e-400", "0.1e-399"},
	} {
		for _, label := range labels {
			if got, ok := exactDecimal(label); !ok || got != want {
				t.Errorf("%q: got %q, %v, want %q", label, got, ok, want)
			}
		}
		if again, ok := exactDecimal(want); !ok || again != want {
			t.Errorf("the key %q is no key of itself: %q", want, again)
		}
	}
	for _, label := range []string{"", "a", "+", ".", "e5", "1e", "1e+", "1e+-5", "--1", "1 000", "1,5", "0x7", "1_0", "7a", "1.2.3", "1e1.5", "\u0667", "1e999999999999999999"} {
		if got, ok := exactDecimal(label); ok {
			t.Errorf("%q is taken for the number %s", label, got)
		}
	}
}

// What a dialect says of numbers parts or joins no persons whose labels are text.
func TestPersonsOfDialects(t *testing.T) {
	for _, c := range []struct {
		dialect, a, b string
		same          bool
	}{
		{"decimal=,", "7,5", "7,50", true},
		{"decimal=, thousands=.", "1.234", "1234,0", true},
		{"strip=€", "7 €", "7", true},
		{"thousands=space", "12 345", "12345", true},
		{"decimal=,", "a,b", "a.b", false},
		{"decimal=,", "7,5", "7.5", false}, // the second is no number there
		{"strip=$", "$a", "a", false},
		{"strip=st", "stone", "one", false},
		{"thousands=space", "- a", "-a", false},
	} {
		d, err := ParseDialect(c.dialect)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := d.personOf(c.a), d.personOf(c.b); (a == b) != c.same {
			t.Errorf("%s: %q and %q have the keys %q and %q", c.dialect, c.a, c.b, a, b)
		}
	}
}

// Two labels have one key exactly if they are the same rational number, or the same text.
func FuzzPersons(f *testing.F) {
	for _, s := range []string{"7,7.0", "1e3,1000", "-0,0", "9007199254740993,9007199254740992", " a,a", "1e-3,.001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pair string) {
		a, b, _ := strings.Cut(pair, ",")
		a, b = strings.TrimSpace(a), strings.TrimSpace(b)
		if len(a) > 12 || len(b) > 12 || personOf(a) == "" || personOf(b) == "" {
			return
		}
		x, isX := rational(a)
		y, isY := rational(b)
		same := a == b
		if isX && isY {
			same = x.Cmp(y) == 0
		}
		if (personOf(a) == personOf(b)) != same {
			t.Errorf("%q and %q: keys %q and %q", a, b, personOf(a), personOf(b))
		}
	})
}

// rational reads a decimal number of a small power of ten independently of exactDecimal.
func rational(s string) (*big.Rat, bool) {
	if !decimal(s) {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(strings.Trim(s[i+1:], "+-0")) > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}
