package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/experiments/harness/problem"
	"github.com/gauze-dp/gauze/model"
)

// A peer learns without privacy, and is given the number of components.
type peer struct {
	name string
	fit  func(context.Context, *problem.Instance, uint64) (harness.Fitted, error)
}

// Names of peers.
const (
	fromTruth    = "em:truth"
	skKMeans     = "sklearn:kmeans"
	skKMeansPlus = "sklearn:k-means++"
)

var peers = []peer{
	{fromTruth, fitFromTruth},
	{skKMeans, scikit("kmeans")},
	{skKMeansPlus, scikit("k-means++")},
}

func peerNamed(name string) (peer, bool) {
	i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
	if i < 0 {
		return peer{}, false
	}
	return peers[i], true
}

// withPeers adds the peers that this machine can run.
func withPeers(methods []string) ([]string, string) {
	methods = append(slices.Clone(methods), fromTruth)
	note := "Peers without privacy: `em:truth` is EM started at the truth, the best that the rows allow; "
	if !hasScikit() {
		return methods, note + "scikit-learn is left out, because python3 cannot import it here."
	}
	return append(methods, skKMeans, skKMeansPlus),
		note + "`sklearn:` is scikit-learn's GaussianMixture, one start of the kind named, full covariances, at most 200 steps, in a process of its own on one thread."
}

func fitFromTruth(_ context.Context, in *problem.Instance, _ uint64) (harness.Fitted, error) {
	start := time.Now()
	m, err := in.Reference(referenceSteps)
	return harness.Fitted{Foreground: m, Seconds: time.Since(start).Round(100 * time.Microsecond).Seconds()}, err
}

//go:embed peers.py
var scikitScript string

var hasScikit = sync.OnceValue(func() bool { return exec.Command("python3", "-c", "import sklearn.mixture").Run() == nil })

// scikit fits by a child process.
func scikit(start string) func(context.Context, *problem.Instance, uint64) (harness.Fitted, error) {
	return func(ctx context.Context, in *problem.Instance, seed uint64) (harness.Fitted, error) {
		folder, err := os.MkdirTemp("", "gauze-peers")
		if err != nil {
			return harness.Fitted{}, err
		}
		defer os.RemoveAll(folder)
		name := filepath.Join(folder, "rows.f64")
		if err := writeRows(name, in.Rows); err != nil {
			return harness.Fitted{}, err
		}
		cmd := exec.CommandContext(ctx, "python3", "-c", scikitScript, name, fmt.Sprint(in.Truth.Dim()), fmt.Sprint(in.Truth.K()), start, fmt.Sprint(seed))
		cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return harness.Fitted{}, fmt.Errorf("scikit-learn: %w", err)
		}
		return readScikit(out)
	}
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

func readScikit(text []byte) (harness.Fitted, error) {
	var in struct {
		Seconds     float64
		Weights     []float64
		Means       [][]float64
		Covariances [][][]float64
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return harness.Fitted{}, fmt.Errorf("scikit-learn: %w", err)
	}
	gs := make([]model.Gaussian, len(in.Means))
	for i, mean := range in.Means {
		cov := mat.NewDense(len(mean), len(mean), nil)
		for a, row := range in.Covariances[i] {
			cov.SetRow(a, row)
		}
		full, err := model.NewFull(cov)
		if err != nil {
			return harness.Fitted{}, fmt.Errorf("scikit-learn: component %d: %w", i, err)
		}
		gs[i] = model.Gaussian{Mean: mean, Cov: full}
	}
	floats.Scale(1/floats.Sum(in.Weights), in.Weights)
	m, err := model.New(nil, in.Weights, gs)
	return harness.Fitted{Foreground: m, Seconds: in.Seconds}, err
}
