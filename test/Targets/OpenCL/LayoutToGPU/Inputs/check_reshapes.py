"""Compares the results of run-reshapes.mlir with numpy and prints a line per case."""

import sys

import numpy as np

stem = sys.argv[1]
for k in range(5):
    x = np.load(f"{stem}.{k}.npy")
    n, m, _ = x.shape
    rows = (x + x).reshape(n * m, 6)
    want = [rows * rows, (rows * rows).reshape(n, m, 3, 2), np.pad(rows.ravel(), (1, 2), constant_values=1),
            100 // rows.reshape(n * m, 1, 2, 3)]
    print(*(np.array_equal(np.load(f"{stem}.{k}.{r}.npy"), w) for r, w in enumerate(want)))
