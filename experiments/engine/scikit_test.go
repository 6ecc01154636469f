package engine

import "testing"

func TestReadScikit(t *testing.T) {
	f, err := readScikit([]byte(`{"seconds": 0.5, "weights": [0.25, 0.75], "means": [[1, 2], [3, 4]], "covariances": [[[2, 1], [1, 2]], [[1, 0], [0, 1]]]}`))
	if err != nil || f.Seconds != .5 || f.Foreground.Weights[1] != .75 || f.Foreground.Components[0].Cov.At(0, 1) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := readScikit([]byte("Traceback")); err == nil {
		t.Error("no error for what is not JSON")
	}
}
