package scale

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parallel"
)

// Of the tables whose releases are compared. None was chosen on any result: a gap of 12 is what the
// other pages of this study call apart.
const (
	drawnColumns = 4
	drawnGap     = 12.0 // of the means in the first column, in the wider component's standard deviations there
	drawnUnits   = 3.0  // powers of ten, up and down, of a column's unit
	drawnPlace   = 100.0
	drawnDigits  = 12 // of a number in a file: so many that hardly two rows have one number
)

// drawn draws the mixture of a kind that a table is of: *one* Gaussian, or *two*, with
// correlations, or two *across* with none. Columns have units from 1/1000 to 1000, log-uniform, and
// lie a hundred of them from 0; a component's standard deviations are half to one and a half of the
// column's unit. Two components are apart in the first column, up to three units from each other in
// the others, and the smaller has a fifth to two fifths of the rows.
func drawn(kind string, seed uint64) (*model.Mixture, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	components := 2
	if kind == "one" {
		components = 1
	}
	units, places := make([]float64, drawnColumns), make([]float64, drawnColumns)
	for j := range units {
		units[j] = math.Pow(10, drawnUnits*(2*rng.Float64()-1))
		places[j] = drawnPlace * rng.NormFloat64()
	}
	var gs []model.Gaussian
	wide := 0.
	for range components {
		factor, sds := drawnFactor(rng, kind != "across")
		wide = max(wide, sds[0])
		mean := make([]float64, drawnColumns)
		for j := range mean {
			mean[j] = places[j] + 3*rng.Float64()
			for i := range drawnColumns {
				factor.Set(j, i, units[j]*factor.At(j, i))
			}
		}
		cov, err := model.FullFromFactor(factor)
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: mean, Cov: cov})
	}
	for c, g := range gs {
		g.Mean[0] = places[0] + drawnGap*wide*float64(c)
		for j := range g.Mean {
			g.Mean[j] *= units[j]
		}
	}
	weights := []float64{1}
	if components == 2 {
		least := .2 + .2*rng.Float64()
		weights = []float64{least, 1 - least}
	}
	return model.New(nil, weights, gs)
}

// drawnFactor is the factor of a covariance whose columns have the standard deviations sds.
func drawnFactor(rng *rand.Rand, correlated bool) (factor *mat.Dense, sds []float64) {
	factor, sds = mat.NewDense(drawnColumns, drawnColumns, nil), make([]float64, drawnColumns)
	for j := range sds {
		row := factor.RawRowView(j)
		row[j] = 1
		if correlated {
			for i := range j {
				row[i] = rng.NormFloat64()
			}
		}
		sds[j] = .5 + rng.Float64()
		length := mat.Norm(factor.RowView(j), 2)
		for i := range row {
			row[i] *= sds[j] / length
		}
	}
	return factor, sds
}

// first is a mixture's first column.
func first(m *model.Mixture) (*model.Mixture, error) {
	var gs []model.Gaussian
	for _, g := range m.Components {
		cov, err := model.NewFull(mat.NewSymDense(1, []float64{g.Cov.At(0, 0)}))
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: g.Mean[:1], Cov: cov})
	}
	return model.New(nil, m.Weights, gs)
}

// writeDrawn writes files of rows of a mixture, and returns their pattern.
func writeDrawn(ctx context.Context, folder string, truth *model.Mixture, rows int, seed uint64) (pattern string, err error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	sampler, err := model.NewSampler(truth)
	if err != nil {
		return "", err
	}
	failed := make([]error, files)
	err = parallel.Each(ctx, files, func(i int) {
		own := rows/files + min(1, max(0, rows%files-i))
		failed[i] = writeSampled(filepath.Join(folder, fmt.Sprintf("%02d.csv", i)), sampler, truth.Dim(), own, rand.New(rand.NewPCG(seed, uint64(i+1))))
	})
	return filepath.Join(folder, "*.csv"), errors.Join(append(failed, err)...)
}

func writeSampled(name string, sampler *model.Sampler, width, rows int, rng *rand.Rand) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	fmt.Fprintln(out, strings.Join(model.DefaultColumns(width), ","))
	row, line := make([]float64, width), []byte(nil)
	for range rows {
		sampler.Row(row, rng)
		line = line[:0]
		for _, x := range row {
			line = append(strconv.AppendFloat(line, x, 'g', drawnDigits, 64), ',')
		}
		line[len(line)-1] = '\n'
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
