"""Fits scikit-learn's GaussianMixture to a file of float64 rows and prints the model and the seconds of the fit as JSON.

Of several numbers of components it takes the one with the least BIC."""

import json
import os
import sys
import time
import warnings

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy starts its threads

import numpy as np
from sklearn.mixture import GaussianMixture

name, d, least, most, start, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], int(sys.argv[6])
rows = np.fromfile(name, dtype="<f8").reshape(-1, d)
warnings.simplefilter("ignore")  # "did not converge"
began = time.perf_counter()
fits = []
for k in range(least, most + 1):
    em = GaussianMixture(k, covariance_type="full", n_init=1, max_iter=200, init_params=start, random_state=seed)
    fits.append(em.fit(rows))
em = fits[0] if least == most else min(fits, key=lambda fit: fit.bic(rows))
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
