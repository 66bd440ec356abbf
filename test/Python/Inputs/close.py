"""usage: close.py A.npy B.npy LIMIT: checks that the shapes agree and max|a-b| / max|a| <= LIMIT."""

import sys

import numpy as np

a, b = (np.load(path) for path in sys.argv[1:3])
difference = np.abs(a - b).max() / np.abs(a).max() if a.shape == b.shape else np.inf
if not difference <= float(sys.argv[3]):
    sys.exit(f"{a.shape} and {b.shape} differ by {difference}")
