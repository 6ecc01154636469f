package ledger

import (
	"slices"
	"testing"
)

// TestFits: the fits of the story are listed with how they ended, those of one data set apart from
// those of another, and a data set that is not there is an error.
func TestFits(t *testing.T) {
	l, _, _ := opened(t)
	story(t, l)
	for _, c := range []struct {
		dataset string
		want    []string
	}{
		{"visits", []string{"released", "no-release", "interrupted", "not ended"}},
		{"other", []string{"returned"}},
		{"", []string{"released", "no-release", "interrupted", "not ended", "returned"}},
	} {
		fits, err := l.Fits(t.Context(), c.dataset)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range fits {
			got = append(got, f.Outcome)
			if (f.Ended == "") != (f.Outcome == "not ended") || f.Number == 0 || f.Time == "" || f.Relation == "" {
				t.Errorf("%q: %+v", c.dataset, f)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.dataset, got, c.want)
		}
	}
	if _, err := l.Fits(t.Context(), "nowhere"); err == nil {
		t.Error("a data set that is not there has fits")
	}
}
