package main

import (
	"bufio"
	"bytes"
	crand "crypto/rand"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// csvBuffer is how much CSV is written at a time.
const csvBuffer = 1 << 16

// A drawn is a model that rows are drawn from, its part of them, and what stands before its rows.
type drawn struct {
	model  *model.Mixture
	weight float64
	head   []string
	of     *release.Release
	gaps   []float64 // how likely each column's cell is left empty; nil for none
}

// writeRows draws rows of a model, or of several in their parts, and writes them as CSV with a
// header, one at a time. Every number is the shortest that reads back as the same float64.
func writeRows(e *shell.Env, from []drawn, head []string, rows int, rng *rand.Rand) error {
	samplers, heads, upTo := make([]*model.Sampler, len(from)), make([][]byte, len(from)), make([]float64, len(from))
	for i, d := range from {
		var err error
		if samplers[i], err = model.NewSampler(d.model); err != nil {
			return err
		}
		var text bytes.Buffer
		if err := writeHeader(&text, d.head); err != nil {
			return err
		}
		if heads[i], upTo[i] = bytes.TrimSpace(text.Bytes()), d.weight; len(d.head) > 0 {
			heads[i] = append(heads[i], ',')
		}
	}
	floats.CumSum(upTo, upTo)
	out := bufio.NewWriterSize(e.Stdout, csvBuffer)
	if err := writeHeader(out, slices.Concat(head, from[0].model.Header())); err != nil {
		return err
	}
	row, mixed := make([]float64, from[0].model.Dim()), make([]*mixedRow, len(from))
	for i, d := range from {
		mixed[i] = mixedOf(d.model)
	}
	var line []byte
	for range rows {
		i := 0
		if last := len(from) - 1; last > 0 {
			i = min(last, sort.SearchFloat64s(upTo, upTo[last]*rng.Float64()))
		}
		component := samplers[i].Row(row, rng)
		for j, p := range from[i].gaps {
			if rng.Float64() < p {
				row[j] = math.NaN()
			}
		}
		if line = append(line[:0], heads[i]...); mixed[i] == nil {
			line = appendRow(line, row, from[i].model.Cells)
		} else {
			samplers[i].Categories(mixed[i].values, component, rng)
			line = mixed[i].append(line, row)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
		if e.Ctx.Err() != nil {
			return e.Ctx.Err()
		}
	}
	return out.Flush()
}

// ofGroups are the models of a release of groups, in the parts that its noisy numbers of rows say,
// each with its categories before its rows if by is set.
func ofGroups(r *release.Release, by bool) (out []drawn, head []string) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Model == nil {
			continue
		}
		d := drawn{model: g.Model, weight: max(g.Rows, 1), of: r.Of(i)}
		if by {
			head, d.head = r.Certificate.By, g.Categories(r.Certificate.By)
		}
		out = append(out, d)
	}
	return out, head
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

// seeded draws the same numbers for the same seed, on every machine.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// unseeded draws numbers that nobody can foretell.
func unseeded() *rand.Rand {
	var key [32]byte
	if _, err := crand.Read(key[:]); err != nil {
		panic("the system has no randomness: " + err.Error())
	}
	return rand.New(rand.NewChaCha8(key))
}
