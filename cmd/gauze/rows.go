package main

import (
	"bufio"
	crand "crypto/rand"
	"encoding/csv"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/gauze-dp/gauze/model"
)

// csvBuffer is how much CSV is written at a time.
const csvBuffer = 1 << 16

// writeRows draws rows of m and writes them as CSV with a header, one at a time. Every number is
// the shortest that reads back as the same float64.
func writeRows(e *env, m *model.Mixture, rows int, rng *rand.Rand) error {
	sampler, err := model.NewSampler(m)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(e.stdout, csvBuffer)
	if err := writeHeader(out, m.Columns); err != nil {
		return err
	}
	row := make([]float64, m.Dim())
	var line []byte
	for range rows {
		sampler.Row(row, rng)
		line = appendRow(line[:0], row)
		if _, err := out.Write(line); err != nil {
			return err
		}
		if e.ctx.Err() != nil {
			return e.ctx.Err()
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

func appendRow(line []byte, row []float64) []byte {
	for j, v := range row {
		if j > 0 {
			line = append(line, ',')
		}
		line = appendNumber(line, v)
	}
	return append(line, '\n')
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
