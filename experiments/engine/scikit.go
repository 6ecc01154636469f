package engine

import (
	"bufio"
	"context"
	_ "embed" // the script
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

//go:embed scikit.py
var scikitScript string

// HasScikit says whether python3 can import scikit-learn.
var HasScikit = sync.OnceValue(func() bool { return exec.Command("python3", "-c", "import sklearn.mixture").Run() == nil })

// Scikit fits scikit-learn's GaussianMixture of k full covariances without privacy, from one start
// of the kind named, in a process of its own on one thread.
func Scikit(ctx context.Context, rows *mat.Dense, k int, start string, seed uint64) (Fitted, error) {
	return scikit(ctx, rows, k, k, start, seed)
}

// ScikitByBIC fits one to most components to rows in their columns' standard deviations, as its
// regularisation wants them, each number from one start of k-means, and takes the number with the
// least BIC.
func ScikitByBIC(ctx context.Context, rows *mat.Dense, most int, seed uint64) (Fitted, error) {
	own, scale, shift := Standardised(rows)
	out, err := scikit(ctx, own, 1, most, "kmeans", seed)
	if err != nil {
		return out, err
	}
	out.Foreground, err = madeup.Affine(out.Foreground, scale, shift)
	return out, err
}

// Standardised are rows in their columns' means and standard deviations.
func Standardised(rows *mat.Dense) (own *mat.Dense, scale, shift []float64) {
	n, d := rows.Dims()
	own = mat.NewDense(n, d, nil)
	scale, shift = make([]float64, d), make([]float64, d)
	for j := range d {
		column := mat.Col(nil, j, rows)
		shift[j], scale[j] = stat.MeanStdDev(column, nil)
		for i, x := range column {
			own.Set(i, j, (x-shift[j])/scale[j])
		}
	}
	return own, scale, shift
}

func scikit(ctx context.Context, rows *mat.Dense, least, most int, start string, seed uint64) (Fitted, error) {
	folder, err := os.MkdirTemp("", "gauze-scikit")
	if err != nil {
		return Fitted{}, err
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "rows.f64")
	if err := writeRows(name, rows); err != nil {
		return Fitted{}, err
	}
	_, d := rows.Dims()
	cmd := exec.CommandContext(ctx, "python3", "-c", scikitScript, name, fmt.Sprint(d), fmt.Sprint(least), fmt.Sprint(most), start, fmt.Sprint(seed))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return Fitted{}, fmt.Errorf("scikit-learn: %w: %s", err, exit.Stderr)
	}
	if err != nil {
		return Fitted{}, fmt.Errorf("scikit-learn: %w", err)
	}
	return readScikit(out)
}

// writeRows writes the rows as little-endian float64, one after another.
func writeRows(name string, rows *mat.Dense) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	n, _ := rows.Dims()
	var b [8]byte
	for i := range n {
		for _, v := range rows.RawRowView(i) {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			_, _ = w.Write(b[:]) // Flush returns the first error
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func readScikit(text []byte) (Fitted, error) {
	var in struct {
		Seconds     float64
		Weights     []float64
		Means       [][]float64
		Covariances [][][]float64
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return Fitted{}, fmt.Errorf("scikit-learn: %w", err)
	}
	gs := make([]model.Gaussian, len(in.Means))
	for i, mean := range in.Means {
		cov := mat.NewDense(len(mean), len(mean), nil)
		for a, row := range in.Covariances[i] {
			cov.SetRow(a, row)
		}
		full, err := model.NewFull(cov)
		if err != nil {
			return Fitted{}, fmt.Errorf("scikit-learn: component %d: %w", i, err)
		}
		gs[i] = model.Gaussian{Mean: mean, Cov: full}
	}
	floats.Scale(1/floats.Sum(in.Weights), in.Weights)
	m, err := model.New(nil, in.Weights, gs)
	return Fitted{Foreground: m, Seconds: in.Seconds}, err
}
