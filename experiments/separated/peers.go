package main

import (
	"context"
	"slices"
	"time"

	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
)

// A peer learns without privacy, and is given the number of components.
type peer struct {
	name string
	fit  func(context.Context, *problems.Instance, uint64) (harness.Fitted, error)
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
	if !harness.HasScikit() {
		return methods, note + "scikit-learn is left out, because python3 cannot import it here."
	}
	return append(methods, skKMeans, skKMeansPlus),
		note + "`sklearn:` is scikit-learn's GaussianMixture, one start of the kind named, full covariances, at most 200 steps, in a process of its own on one thread."
}

func fitFromTruth(_ context.Context, in *problems.Instance, _ uint64) (harness.Fitted, error) {
	start := time.Now()
	m, err := in.Reference(referenceSteps)
	return harness.Fitted{Foreground: m, Seconds: time.Since(start).Round(100 * time.Microsecond).Seconds()}, err
}

// scikit fits by a child process.
func scikit(start string) func(context.Context, *problems.Instance, uint64) (harness.Fitted, error) {
	return func(ctx context.Context, in *problems.Instance, seed uint64) (harness.Fitted, error) {
		return harness.Scikit(ctx, in.Rows, in.Truth.K(), start, seed)
	}
}
