"""Fits scikit-learn's GaussianMixture to a file of float64 rows and prints the model and the seconds of the fit as JSON."""

import json
import os
import sys
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy starts its threads

import numpy as np
from sklearn.mixture import GaussianMixture

name, d, k, start, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
rows = np.fromfile(name, dtype="<f8").reshape(-1, d)
em = GaussianMixture(k, covariance_type="full", n_init=1, max_iter=200, init_params=start, random_state=seed)
warnings.simplefilter("ignore")  # "did not converge"
began = time.perf_counter()
em.fit(rows)
seconds = time.perf_counter() - began
print(
    json.dumps(
        {
            "seconds": seconds,
            "weights": em.weights_.tolist(),
            "means": em.means_.tolist(),
            "covariances": em.covariances_.tolist(),
        }
    )
)
