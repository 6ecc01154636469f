package estimate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
)

func TestLeavesOut(t *testing.T) {
	open := [2]float64{-math.MaxFloat64, 70}
	for _, c := range []struct {
		what  string
		of    estimate.Undescribed
		flags []string // parts of each
	}{
		{"clear of the noise", estimate.Undescribed{Share: .061, Noise: .002, Where: "in no component"}, []string{"about 6.1% (give or take 0.2%) of the rows are not described by the model: in no component"}},
		{"nearly all", estimate.Undescribed{Share: .996, Noise: .12}, []string{"about 100% (give or take 10%)"}},
		{"within four noise sds", estimate.Undescribed{Share: .061, Noise: .02}, []string{"about 6.1% (give or take 2%)"}},
		{"within the noise, and few", estimate.Undescribed{Share: .01, Noise: .01}, nil},
		{"hidden by the noise", estimate.Undescribed{Share: .03, Noise: .05, Where: "far"}, []string{"far; up to about 18% of the rows may lie there unseen"}},
		{"too few to matter", estimate.Undescribed{Share: .004, Noise: .0001}, nil},
		{"one column", estimate.Undescribed{Noise: .01, Columns: []estimate.UndescribedColumn{{Column: 2, Share: .03, Noise: .001, Beyond: open}, {Share: .03, Noise: .01}}},
			[]string{"column 3: the model leaves out about 3% (give or take 0.1%) of the rows, which lie far out (above 70)"}},
		{"few, and far", estimate.Undescribed{Columns: []estimate.UndescribedColumn{{Share: .001, Noise: .0001, Pull: .4}}}, []string{"move its mean or sd by about 0.4 of its sd"}},
		{"few, anywhere", estimate.Undescribed{Share: .001, Noise: .0003, Anywhere: true}, []string{"about 0.1% (give or take 0.03%) of the rows are not described"}},
		{"unseen", estimate.Undescribed{Share: .001, Noise: .0004, Anywhere: true}, nil},
	} {
		var d estimate.Diagnostics
		d.LeavesOut(c.of)
		if len(d.Flags) != len(c.flags) || d.Undescribed == nil {
			t.Errorf("%s: flags %q, want %d of them, and the record", c.what, d.Flags, len(c.flags))
			continue
		}
		for i, part := range c.flags {
			if !strings.Contains(d.Flags[i].Text, part) {
				t.Errorf("%s: flag %q, want one with %q", c.what, d.Flags[i], part)
			}
		}
	}
	var d estimate.Diagnostics
	if d.LeavesOut(estimate.Undescribed{Noise: .14, Where: "out"}); d.Undescribed.Where != "out; up to about 42% of the rows may lie there unseen, at any distance" {
		t.Errorf("more than a tenth: %q", d.Undescribed.Where)
	}
	if d.LeavesOut(estimate.Undescribed{Noise: .0004, Where: "far out", Anywhere: true}); d.Undescribed.Where != "far out; up to about 0.12% of the rows may lie there unseen, at any distance" {
		t.Errorf("it is said of rows far out: %q", d.Undescribed.Where)
	}
	if d.LeavesOut(estimate.Undescribed{Share: -.01, Noise: .01}); d.Undescribed.Share != 0 {
		t.Errorf("share %g of a negative count, want 0", d.Undescribed.Share)
	}
}
