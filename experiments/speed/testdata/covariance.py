"""numpy's mean and covariance of a file of float64 rows, pass by pass: prints the seconds of the passes as JSON.

Pieces of 1024 rows are centred and multiplied, as the plain passes in Go do; one thread (set by the caller).
"""

import json
import sys
import time

import numpy as np

rows = np.fromfile(sys.argv[1], dtype="<f8").reshape(-1, int(sys.argv[2]))
passes = int(sys.argv[3])
cpu, wall = time.process_time(), time.perf_counter()
for _ in range(passes):
    second = np.zeros((rows.shape[1], rows.shape[1]))
    total = np.zeros(rows.shape[1])
    for start in range(0, len(rows), 1024):
        piece = rows[start : start + 1024] - rows[0]
        total += piece.sum(axis=0)
        second += piece.T @ piece
print(json.dumps({"CPU": time.process_time() - cpu, "Wall": time.perf_counter() - wall}))
