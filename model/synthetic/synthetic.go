// Package synthetic draws rows of a model and writes them as CSV.
package synthetic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/model"
)

// csvBuffer is how much CSV is written at a time.
const csvBuffer = 1 << 16

// A Part is a model that rows are drawn from, its weight among others, and what stands before its
// rows.
type Part struct {
	Model   *model.Mixture
	Weight  float64
	Head    []string
	Missing [][]float64 // in each component, how likely each column's cell is left empty; nil for none
}

// Write draws rows of a model, or of several by their weights, and writes them as CSV with a
// header, one at a time; head are names before those of the columns. Every number is the shortest
// that reads back as the same float64. The error is that of w, of ctx or of a model that is not
// valid.
func Write(ctx context.Context, w io.Writer, from []Part, head []string, rows int, rng *rand.Rand) error {
	samplers, heads, upTo := make([]*model.Sampler, len(from)), make([][]byte, len(from)), make([]float64, len(from))
	for i, d := range from {
		var err error
		if samplers[i], err = model.NewSampler(d.Model); err != nil {
			return err
		}
		var text bytes.Buffer
		if err := writeHeader(&text, d.Head); err != nil {
			return err
		}
		if heads[i], upTo[i] = bytes.TrimSpace(text.Bytes()), d.Weight; len(d.Head) > 0 {
			heads[i] = append(heads[i], ',')
		}
	}
	floats.CumSum(upTo, upTo)
	out := bufio.NewWriterSize(w, csvBuffer)
	if err := writeHeader(out, slices.Concat(head, from[0].Model.Header())); err != nil {
		return err
	}
	row, mixed := make([]float64, from[0].Model.Dim()), make([]*mixedRow, len(from))
	for i, d := range from {
		mixed[i] = mixedOf(d.Model)
	}
	var line []byte
	for range rows {
		i := 0
		if last := len(from) - 1; last > 0 {
			i = min(last, sort.SearchFloat64s(upTo, upTo[last]*rng.Float64()))
		}
		component := samplers[i].Row(row, rng)
		if from[i].Missing != nil {
			for j, p := range from[i].Missing[component] {
				if rng.Float64() < p {
					row[j] = math.NaN()
				}
			}
		}
		if line = append(line[:0], heads[i]...); mixed[i] == nil {
			line = appendRow(line, row, from[i].Model.Cells)
		} else {
			samplers[i].Categories(mixed[i].values, component, rng)
			line = mixed[i].append(line, row)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return out.Flush()
}

func writeHeader(w io.Writer, columns []string) error {
	header := csv.NewWriter(w)
	if err := header.Write(columns); err != nil {
		return err
	}
	header.Flush()
	return header.Error()
}

func appendRow(line []byte, row []float64, cells []model.Cell) []byte {
	for j, v := range row {
		if j > 0 {
			line = append(line, ',')
		}
		line = appendValue(line, v, j < len(cells) && cells[j].Date)
	}
	return append(line, '\n')
}

// appendValue writes a number, or the date of a day that has one of four digits for its year, and
// nothing for NaN.
func appendValue(line []byte, v float64, date bool) []byte {
	const secondsOfDay, first, last = 24 * 60 * 60, -719162, 2932896 // 0001-01-01 to 9999-12-31
	if math.IsNaN(v) {
		return line
	}
	if !date || !(v >= first && v <= last) {
		return appendNumber(line, v)
	}
	return time.Unix(int64(v)*secondsOfDay, 0).UTC().AppendFormat(line, time.DateOnly)
}

// appendNumber writes no exponent where a person would not.
func appendNumber(line []byte, v float64) []byte {
	const small, large = 1e-6, 1e15
	if a := math.Abs(v); a == 0 || a >= small && a < large {
		return strconv.AppendFloat(line, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(line, v, 'e', -1, 64)
}
