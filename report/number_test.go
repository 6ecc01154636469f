package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// TestPercent: a share is written with as many digits as its neighbours, also just below a step.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.0002: "< 0.1 %", 0.0931: "9.3 %", 0.0998: "10 %", 0.1: "10 %", 1: "100 %"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v): wanted %q, got %q", share, want, got)
		}
	}
}

// TestDates: figures of a column of dates are dates, in tables and on axes, and their errors days;
// what is too far for a date stays a number. Yes and no are words in table one, too.
func TestDates(t *testing.T) {
	r := certified(mixture(t, []string{"seen", "x"}, []float64{1}, gaussian(t, []float64{20269, 1}, []float64{111 * 111, 1})))
	r.Columns = []release.Column{{Name: "seen", Kind: release.KindDate}, {Name: "x"}, {Name: "ill", Kind: release.KindYesNo}}
	r.Model.Cells = []model.Cell{{Date: true, Unit: 1, Least: math.Inf(-1), Most: math.Inf(1)}, {Least: math.Inf(-1), Most: math.Inf(1)}}
	r.Profile = []release.ColumnProfile{{Name: "seen", Cells: 1, Mean: &release.Noisy{Value: 20300, Noise: 3}},
		{Name: "ill", Cells: 1, Values: []release.ValueShare{{Value: "0", Share: .75}, {Value: "1", Share: .25}}}}
	var page, text bytes.Buffer
	if err := errors.Join(HTML(&page, r, Options{}), Text(&text, r)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"seen (date; ± in days)", `2025-06-30 <span class="sd">(111)`, "2024-12-29", ">2025-04-22</text>", "2025-07-31", "no (75 %"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if want := "2025-06-30 (111)"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	if far := written(r.Columns[0], 1e9, 4); far != "1000000000" && far != "1e9" {
		t.Errorf("a billion days are %q", far)
	}
}
