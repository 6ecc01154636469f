"""Ten iterations of scikit-learn's EM on a CSV file: prints the seconds of the fit alone as JSON.

The cheapest start is taken (rows of the table as means), so that the time is that of the iterations.
"""

import json
import sys
import time
import warnings

import numpy as np
import polars as pl
from sklearn.mixture import GaussianMixture

rows = np.ascontiguousarray(pl.read_csv(sys.argv[1]).to_numpy())
assert rows.shape[1] == int(sys.argv[2])
em = GaussianMixture(
    int(sys.argv[3]), covariance_type="full", max_iter=10, tol=0, init_params="random_from_data", random_state=0
)
warnings.simplefilter("ignore")  # "did not converge": it is not meant to
cpu, wall = time.process_time(), time.perf_counter()
em.fit(rows)
print(json.dumps({"CPU": time.process_time() - cpu, "Wall": time.perf_counter() - wall}))
assert em.n_iter_ == 10
