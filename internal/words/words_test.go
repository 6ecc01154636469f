package words

import "testing"

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Digits(0): "0", Digits(999): "999", Digits(1000): "1,000", Digits(1234567): "1,234,567", Digits(-123): "-123", Digits(-1234): "-1,234",
		Plural(1, "row"): "1 row", Plural(0, "row"): "0 rows", Plural(10000, "row"): "10,000 rows",
		Quoted("age=12"): "age=12", Quoted("Körpergröße"): "Körpergröße", Quoted("body mass=12"): "'body mass=12'", Quoted("it's"): `'it'\''s'`, Quoted("$(rm)"): "'$(rm)'", Quoted(""): "''",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
