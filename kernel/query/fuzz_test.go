package query_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/query"
)

// floats reads any bytes as float64 values.
func floats(b []byte) (v []float64) {
	for ; len(b) >= 8; b = b[8:] {
		v = append(v, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return v
}

// FuzzRowMaps: no row makes any map panic, write outside its answer, or break its norm.
func FuzzRowMaps(f *testing.F) {
	for _, row := range poolRows(0) {
		var b []byte
		for _, v := range row {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b)
	}
	cases, pairs := sumCases(), pairCases()
	f.Fuzz(func(t *testing.T, b []byte) {
		var batch [][]float64
		for v := floats(b); len(v) >= dims && len(batch) < 70; v = v[dims:] {
			batch = append(batch, nullIfBad(v[:dims]))
		}
		for _, c := range cases {
			sumOf(c.q, batch...)
		}
		for i := 1; i < len(batch); i++ {
			for _, c := range pairs {
				pairSum(c.q, difference(batch[i-1], batch[i]))
			}
		}
	})
}

// FuzzFrames: no frame, radius, lift or row breaks |h|^2 <= 2^(2B) or, for LogRatio, 2^30, and a
// refused query is the only failure.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), 1.0, 1.0)
	f.Add(make([]byte, 96), 1e-300, 1e300)
	f.Fuzz(func(t *testing.T, b []byte, lift, radius float64) {
		v := floats(b)
		if len(v) < 8 {
			return
		}
		frame := query.Affine{Center: v[:2], W: [][]float64{v[2:4], v[4:6]}}
		row := nullIfBad(v[6:8])
		for _, q := range []query.Sum{
			query.Directions{Map: frame, Lift: lift},
			query.ClippedMoments{Form: query.FullForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: radius}}},
			query.ClippedMoments{Form: query.ColumnForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: radius}}},
			query.ClippedMoments{Form: query.CompletedForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: radius}}},
			query.ClippedMoments{Form: query.FullForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: radius}, {Map: identity(2, 1), Radius: 1}}},
			query.ClippedMoments{Form: query.CompletedForm, Lift: lift, Components: []query.Component{{Map: frame, Radius: radius}, {Map: identity(2, 1), Radius: 1}}},
		} {
			if q.Validate(2) != nil {
				continue
			}
			sum := make([]int64, q.Size())
			q.Compile(2).Add(sum, row)
			trace := int64(0)
			for i, s := range sum {
				if q.Weight(i) == 1 {
					trace += s
				}
			}
			if trace < 0 || trace > 1<<(2*rowkernels.GramBits) {
				t.Errorf("%+v: row %v: |h|^2 = %d", q, row, trace)
			}
		}
		q := query.LogRatio{F: []query.Component{{Map: frame, LogWeight: lift}}, G: []query.Component{{Map: identity(2, 1)}, {Map: frame}}, Bound: radius}
		if q.Validate(2) != nil {
			return
		}
		sum := []int64{0}
		if q.Compile(2).Add(sum, row); sum[0] > query.RatioUnits || sum[0] < -query.RatioUnits {
			t.Errorf("%+v: row %v adds %d", q, row, sum[0])
		}
	})
}
