package separated

import (
	"context"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// Names of peers, which learn without privacy and are given the number of components.
const (
	fromTruth    = "em:truth"
	skKMeans     = "sklearn:kmeans"
	skKMeansPlus = "sklearn:k-means++"
)

var peers = map[string]func(context.Context, *madeup.Instance, uint64) (engine.Fitted, error){
	fromTruth: fitFromTruth, skKMeans: scikit("kmeans"), skKMeansPlus: scikit("k-means++"),
}

// withPeers are the usual methods and the peers that this machine can run.
func withPeers() ([]string, string) {
	methods := append(usual[:len(usual):len(usual)], fromTruth)
	note := "Peers without privacy: `em:truth` is EM started at the truth, the best that the rows allow; "
	if !engine.HasScikit() {
		return methods, note + "scikit-learn is left out, because python3 cannot import it here."
	}
	return append(methods, skKMeans, skKMeansPlus),
		note + "`sklearn:` is scikit-learn's GaussianMixture, one start of the kind named, full covariances, at most 200 steps, in a process of its own on one thread."
}

func fitFromTruth(_ context.Context, in *madeup.Instance, _ uint64) (engine.Fitted, error) {
	start := time.Now()
	m, err := in.Reference(referenceSteps)
	return engine.Fitted{Foreground: m, Seconds: engine.Since(start)}, err
}

// scikit fits by a child process.
func scikit(start string) func(context.Context, *madeup.Instance, uint64) (engine.Fitted, error) {
	return func(ctx context.Context, in *madeup.Instance, seed uint64) (engine.Fitted, error) {
		return engine.Scikit(ctx, in.Rows, in.Truth.K(), start, seed)
	}
}
